import { expect, test } from 'vitest';
import { editorWords } from '../../../src/extension/commandLine/editorWords.ts';

test.each([
  [
    'Find the error in the domain with: npx rehearsal check ../../tmp/bike-desk --audit',
    'Find the error in the domain with "Rehearsal: Audit Domain"',
  ],
  ["`npx rehearsal check 'my desk' --audit` finds such tasks", '"Rehearsal: Audit Domain" finds such tasks'],
  [
    'a1: evaluations leave out drafts. Accept it with: npx rehearsal draft accept /desk a1',
    'a1: evaluations leave out drafts. Accept it with "Rehearsal: Accept Draft"',
  ],
  [
    'no variant of a1 is sound: there are no other rows. Draft its variants with a model (--model), or by hand',
    'no variant of a1 is sound: there are no other rows. Draft its variants with a model, or by hand',
  ],
  ['Run it again with --out /runs/a --retry-unscored 1', 'Run it again'],
  [
    'cancelled: 25 of 60 rollouts are finished. Resume with: npx rehearsal eval /desk --out /runs/a',
    'cancelled: 25 of 60 rollouts are finished. See them in Runs, or run the tests again',
  ],
  [
    'cancelled: 0 of 60 rollouts are finished. Run the command again',
    'cancelled: 0 of 60 rollouts are finished. Run the tests again',
  ],
  ['Run them again with --out /runs/a --retry-unscored 1', 'Run them again'],
  ['Correct the task and run what is left with --out /runs/a', 'Correct the task and run it again'],
  [
    'Correct the domain and run again with another --out: this run has rollouts of the domain as it was',
    'Correct the domain and run it again',
  ],
  ['1/2 a1', '1/2 a1'],
])('a command that the editor has is named as it is there: %s', (line, shown) => {
  expect(editorWords(line)).toBe(shown);
});
