import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { inRoot } from '../../scripts/repository.ts';
import { commandWords } from '../../src/authoring/domains/commandWords.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalIn } from '../support/terminal.ts';

const page = readFileSync(inRoot('docs/first-domain.md'), 'utf8');

/** The code blocks of the page in order: files by name, and lines for a terminal. */
const blocks = [...page.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', file, text = '']) => ({ language, file, text }),
);

inFullSuite('a reader who writes the files and runs the commands of the page has a sound domain', async () => {
  const cwd = temporaryFolder('first-domain');
  const printed: string[] = [];
  for (const { language, file, text } of blocks) {
    if (file) {
      mkdirSync(dirname(join(cwd, 'my-library', file)), { recursive: true });
      writeFileSync(join(cwd, 'my-library', file), text);
    }
    if (language !== 'sh') continue;
    for (const line of text.trim().split('\n')) {
      const [program, ...words] = commandWords(line);
      if (program === 'rm') for (const word of words) rmSync(join(cwd, word));
      else {
        const { code, out, err } = await rehearsalIn(cwd, ...words);
        expect(`${line}: ${code} ${code === 0 ? '' : out + err}`).toBe(`${line}: 0 `);
        printed.push(out);
      }
    }
  }
  const all = printed.join('\n');
  expect(all).toContain('loans.L17.due: "2026-03-16" -> "2026-04-06"');
  expect(all).toContain('no findings');
  expect(all).toContain('Shall I renew Small Boats?');
  expect(all).toMatch(/^reward +reward 1, /m);
  expect(all).toContain('4 scored of 4, mean reward 1.000');
  expect(all).toContain('24 scored of 24, mean reward 1.000');
});

type Rule = { readonly rule: string; readonly check: string; readonly gate?: boolean };
type Task = { readonly id: string };
type Rows = Readonly<Record<string, Readonly<Record<string, object>>>>;
type Desk = {
  readonly tools: readonly string[];
  readonly rules: readonly Rule[];
  readonly tasks: readonly Task[];
  readonly rows: Rows;
};

const deskOf = (files: readonly { readonly file: string | undefined; readonly text: string }[]): Desk => {
  const all = (name: string) => files.flatMap(({ file, text }) => (file?.endsWith(name) ? [text] : []));
  return {
    tools: all('tools.ts').flatMap((text) =>
      [...text.matchAll(/^export const (\w+) = tool/gm)].map(([, name = '']) => name),
    ),
    rules: all('rules.yaml').flatMap((text) => parse(text) as readonly Rule[]),
    tasks: all('.task.yaml').flatMap((text) => parse(text) as readonly Task[]),
    rows: JSON.parse(all('database.json')[0] ?? '{}'),
  };
};

const inSample = ['tools.ts', 'rules.yaml', 'tasks/train.task.yaml', 'tasks/test.task.yaml', 'database.json'];
const sample = deskOf(
  inSample.map((file) => ({ file, text: readFileSync(inRoot('domains/library-desk', file), 'utf8') })),
);
const built = deskOf(blocks);

test('the desk of the page is a part of the sample', () => {
  expect(sample.tools).toEqual(expect.arrayContaining([...built.tools]));
  const checksOf = ({ rules }: Desk) => rules.map(({ rule, check, gate = false }) => ({ rule, check, gate }));
  expect(checksOf(sample)).toEqual(expect.arrayContaining(checksOf(built)));
  expect(sample.tasks).toEqual(expect.arrayContaining([...built.tasks]));
  expect(sample.rows).toMatchObject(built.rows);
});

test('the page lists everything else that the sample has', () => {
  const cells = [...page.matchAll(/^\|([^|]+)\|([^|]+)\|([^|]+)\|([^|]+)\|$/gm)].slice(2);
  const listed = (column: number) =>
    cells.flatMap((row) => [...(row[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toSorted();
  const added = (of: (desk: Desk) => readonly string[]) => {
    const own = new Set(of(built));
    return [...new Set(of(sample))].filter((name) => !own.has(name)).toSorted();
  };
  expect(listed(2)).toEqual(added(({ tools }) => tools));
  expect(listed(3)).toEqual(added(({ rules }) => rules.map(({ rule }) => rule)));
  expect(listed(4)).toEqual(added(({ tasks }) => tasks.map(({ id }) => id)));
});
