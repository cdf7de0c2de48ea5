import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { countsOf, replacedIn } from '../../bench/maskingCounts.ts';
import { labelledSentences } from '../../bench/maskingSentences.ts';
import { measuredRecall } from '../../src/engine/core/text/maskingMark.ts';

test('the recall that the question and the documentation name is the one that is measured', () => {
  const sentences = labelledSentences();
  const counts = countsOf(
    sentences,
    sentences.map(({ text }) => replacedIn(text)),
  );
  const recall = (100 * counts.right) / counts.labelled;
  const documents = ['docs/authoring.md', 'docs/decisions/personal-names.md'].map((path) => readFileSync(path, 'utf8'));
  for (const document of documents) {
    expect(document).toMatch(new RegExp(`\\| all +\\| ${recall.toFixed(1)} %`));
    expect(document).toContain(`${sentences.length} sentences`);
    expect(document).toContain(`${new Set(sentences.map(({ text }) => text)).size} of them`);
  }
  expect(Math.round(recall)).toBe(measuredRecall);
});
