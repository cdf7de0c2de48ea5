import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { flawOf } from '../../../../src/engine/core/simulator/guard.ts';
import { understood } from '../../../../src/engine/core/simulator/stop.ts';
import { viewAfter } from './view.ts';

type Labelled = { readonly text: string; readonly language: string; readonly leaks: boolean };

const read = (file: string): Labelled[] =>
  JSON.parse(readFileSync(new URL(`../dialogue/${file}.json`, import.meta.url), 'utf8')).utterances;

const view = viewAfter(['Please paint chair A1 red.', 'Which colour do you want?']);

/** Reports whether the guard does not accept a text as a customer's message. */
function isRefused({ text }: Labelled): boolean {
  const code = flawOf(view, understood(text, view).reply)?.code;
  return code === 'leaked-instructions' || code === 'role-flip';
}

/** The rules were tuned on `leaks`; `leaksHeldOut` only measures. Precision matters more than recall. */
describe.each([
  { file: 'leaks', leaks: 110, ordinary: 113, recall: 0.7, precision: 1 },
  { file: 'leaksHeldOut', leaks: 31, ordinary: 34, recall: 0.5, precision: 0.88 },
])('messages that speak about instructions, in $file', ({ file, leaks, ordinary, recall, precision }) => {
  // Misses in the held-out set are counted but not shown.
  const isSeen = file === 'leaks';
  const all = read(file);
  const leaked = all.filter((each) => each.leaks);
  const refused = all.filter(isRefused);
  const found = refused.filter((each) => each.leaks);

  test('the set has both kinds in five languages', () => {
    expect([leaked.length, all.length - leaked.length]).toEqual([leaks, ordinary]);
    expect(new Set(leaked.map(({ language }) => language)).size).toBeGreaterThanOrEqual(5);
  });

  test(`at least ${100 * recall} % of the leaks are refused`, () => {
    const missed = leaked.filter((each) => !refused.includes(each)).map(({ text }) => text);
    expect(found.length / leaked.length, isSeen ? missed.join('\n') : undefined).toBeGreaterThanOrEqual(recall);
  });

  test(`at least ${100 * precision} % of the refused messages are leaks`, () => {
    const wrong = refused.filter((each) => !each.leaks).map(({ text }) => text);
    expect(found.length / refused.length, isSeen ? wrong.join('\n') : undefined).toBeGreaterThanOrEqual(precision);
  });
});
