import { expect, test } from 'vitest';
import { appended, emptyTrajectory } from '../../../src/webview/models/entries.ts';
import { shownCard } from '../../../src/webview/models/reportCard.ts';

const verdict = (rule: string, is: string, reason: string) => ({ rule, verdict: is, reason, evidence: [] });
const item = (name: string, is: string, line?: number) => ({
  name,
  verdict: is,
  reason: 'recorded',
  evidence: [],
  ...(line === undefined ? {} : { line }),
});

test('a rule of which one check could not be evaluated is unknown, and a violation stays', () => {
  const checked = [
    verdict('no-guessing', 'held', 'all amounts are known'),
    verdict('no-guessing', 'unknown', 'this rule needs a judge'),
    verdict('be-brief', 'held', 'short'),
    verdict('confirm', 'unknown', 'open'),
  ];
  const items = [item('no-guessing', 'held', 20), item('be-brief', 'held', 3), item('confirm', 'violated', 16)];
  const trajectory = appended(emptyTrajectory, [
    { n: 0, event: { type: 'rulesChecked', callId: null, verdicts: checked } },
    {
      n: 1,
      event: { type: 'rewarded', reward: 0, reason: '', card: [{ layer: 'policy', verdict: 'violated', items }] },
    },
  ] as never);
  const [layer] = shownCard(trajectory);
  expect(layer?.items.map(({ name, verdict: is, reason }) => [name, is, reason])).toEqual([
    ['no-guessing', 'unknown', 'this rule needs a judge'],
    ['be-brief', 'held', 'recorded'],
    ['confirm', 'violated', 'recorded'],
  ]);
});
