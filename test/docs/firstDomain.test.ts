import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { commandWords } from '../../src/authoring/domains/commandWords.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalIn } from '../support/terminal.ts';

const page = readFileSync(inRoot('docs/first-domain.md'), 'utf8');

/** The code blocks of the page in order: files by name, and lines for a terminal. */
const blocks = [...page.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', file, text = '']) => ({ language, file, text }),
);

test('a reader who writes the files and runs the commands of the page has a sound domain', async () => {
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
  expect(all).toContain('loans.L11.due: "2026-03-06" -> "2026-03-27"');
  expect(all).toContain('no findings');
  expect(all).toContain('Shall I renew The Winter Harbour?');
  expect(all).toMatch(/^reward +reward 1 /m);
  expect(all).toContain('4 scored of 4, mean reward 1.000');
});
