import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { isConfirmation } from '../../../../src/engine/core/dialogue/dialogue.ts';

type Row = { readonly agent: string; readonly yes?: readonly string[]; readonly no?: readonly string[] };

/** Answers that are read differently than a person reads them. */
const misread = [
  'Kill it with fire 🔥 that bill last month was 400',
  'Tuesday at twenty to eleven suits me very well, dear. Put it in.',
  'Well, 29 is more than I hoped for, but my kids watch videos all day, so switch it.',
  'its a yes bro i get 20 calls a day i cant even',
  'now its correct yes, sorry, my fingers are too fat for this phone',
];

it('reads 460 answers to proposals as a person does, except these', () => {
  const rows = parse(readFileSync(join(import.meta.dirname, 'answers.yaml'), 'utf8')) as readonly Row[];
  const said = rows.flatMap(({ agent, yes = [], no = [] }) => [
    ...yes.map((user) => ({ agent, user, label: true })),
    ...no.map((user) => ({ agent, user, label: false })),
  ]);
  expect([said.length, said.filter(({ label }) => label).length]).toEqual([460, 290]);
  const wrong = said.filter(({ agent, user, label }) => isConfirmation(user, agent) !== label);
  expect(wrong.map(({ user }) => user).sort()).toEqual(misread);
});
