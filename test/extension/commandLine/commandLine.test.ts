import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { answerOf, checkAnswer, runOrTell, runQuietly } from '../../../src/extension/commandLine/commandLine.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const editor = vi.hoisted(() => ({ said: [] as string[], isCancelled: false }));

vi.mock('vscode', () => {
  const token = () => ({
    isCancellationRequested: editor.isCancelled,
    onCancellationRequested: () => ({ dispose: () => {} }),
  });
  return {
    CancellationTokenSource: class {
      readonly token = token();
    },
    EventEmitter: class {},
    ProgressLocation: {},
    window: {
      showErrorMessage: async (...words: readonly string[]) => void editor.said.push(words.join(' | ')),
      withProgress: (_options: object, run: (progress: object, given: object) => unknown) =>
        run({ report: () => {} }, token()),
    },
  };
});

beforeEach(() => {
  editor.said.length = 0;
  editor.isCancelled = false;
});

/** A command line that prints its arguments and the text that it is given, and exits with a code. */
const cli = join(temporaryFolder('command-line'), 'cli.mjs');
writeFileSync(
  cli,
  `const [code, words, ...rest] = process.argv.slice(2);
  if (words) console.error(words);
  console.log(JSON.stringify({ rest }));
  process.exitCode = Number(code);`,
);
const context = { cli, environment: async () => ({}), log: { info: () => {} } } as never;

test('a check that did not run the code of the domain has an answer, and one that could not begin has none', () => {
  const end = { code: 2, answer: { diagnostics: [] }, message: undefined, isStopped: false, isCancelled: false };
  expect(checkAnswer(end)).toEqual({ diagnostics: [] });
  expect(() => checkAnswer({ ...end, answer: {}, message: 'there is no domain here' })).toThrow('no domain here');
});

test('what a command that runs with progress has answered is given', async () => {
  const end = await runOrTell(context, 'Rehearsal: looking', ['1', 'one finding']);
  expect(end).toMatchObject({ code: 1, answer: { rest: ['--json'] }, message: 'one finding' });
  expect(editor.said).toEqual([]);
});

test.each([
  ['there is no such task', 'there is no such task | Show Log'],
  ['', 'Rehearsal: looking exited without output. See the log for details. | Show Log'],
])('an error is shown with a button for the log: "%s"', async (words, said) => {
  expect(await runOrTell(context, 'Rehearsal: looking', ['2', words])).toBeUndefined();
  expect(editor.said).toEqual([said]);
});

test.each([
  ['no other rows are there', 'Nothing was drafted, because no other rows are there | Show Log'],
  [
    'A rule has an error (policy.md, line 3)',
    'Nothing was drafted, because of an error: A rule has an error (policy.md, line 3) | Show Log',
  ],
])('an error is shown with what did not happen: "%s"', async (words, said) => {
  await runOrTell(context, 'Rehearsal: drafting', ['2', words], 'Nothing was drafted');
  expect(editor.said).toEqual([said]);
});

test('nothing is shown for a cancelled command', async () => {
  editor.isCancelled = true;
  expect(await runOrTell(context, 'Rehearsal: looking', ['2', 'stopped'])).toBeUndefined();
  expect(editor.said).toEqual([]);
});

test('an answer comes with the exit codes that are good for it', async () => {
  const lines: string[] = [];
  const end = await runQuietly(context, ['2', ''], { onLine: (line) => lines.push(line) });
  expect(lines).toEqual(['{"rest":[]}']);
  expect(answerOf(end, 'the check', [0, 2])).toEqual({ rest: [] });
  expect(() => answerOf(end, 'the check')).toThrow('the check exited without output. See the log for details.');
});

test.each([
  ['report', [], undefined],
  ['check', ['--static'], undefined],
  ['check', [], 'sk-stored-key'],
])('a key goes to the commands that may ask a model: %s', async (command, more, key) => {
  const printing = join(temporaryFolder('command-line'), 'cli.mjs');
  writeFileSync(printing, 'console.log(JSON.stringify({ environment: process.env }));');
  const environment = async () => ({ OPENAI_API_KEY: 'sk-stored-key', ELECTRON_RUN_AS_NODE: '1' });
  const given = { cli: printing, environment, log: { info: () => {} } } as never;
  const { answer } = await runQuietly(given, [command, 'domain', ...more]);
  const found = answer['environment'] as NodeJS.ProcessEnv;
  expect(found).toMatchObject({ ELECTRON_RUN_AS_NODE: '1' });
  expect(found['OPENAI_API_KEY']).toBe(key);
});
