import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { main } from '../../src/cli/main.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Types the commands of docs/tutorial.md in order, in an empty folder, and compares their output with the page. */
const cwd = temporaryFolder('rehearsal-tutorial');
type Typed = { readonly prompt: string; readonly text: string; readonly shown: string[] };

/** The commands of the shell, each with the input that is typed into it. */
const page = readFileSync(inRoot('docs', 'tutorial.md'), 'utf8');
const commands: (Typed & { readonly lines: Typed[] })[] = [];
for (const [, block = ''] of page.matchAll(/```console\n(.*?)```/gs))
  for (const line of block.trimEnd().split('\n')) {
    const [, prompt, text = ''] = /^(\$|debug>|user>) (.*)$/.exec(line) ?? [];
    const typed = { prompt: `${prompt} `, text, shown: [] };
    if (prompt === '$') commands.push({ ...typed, lines: [] });
    else if (prompt) commands.at(-1)?.lines.push(typed);
    else (commands.at(-1)?.lines.at(-1) ?? commands.at(-1))?.shown.push(line);
  }

/** Runs a command and types its lines. Returns the output after the command and after each line. */
async function printedBy({ text, lines }: (typeof commands)[number]) {
  const outs = [''];
  const prompts: string[] = [];
  let err = '';
  const [program, name, ...argv] = text.split(' ');
  const code = await main(argv, {
    out: (more) => {
      outs.push(`${outs.pop()}${more}`);
    },
    err: (more) => {
      err += more;
    },
    terminal: false,
    interactive: true,
    cwd,
    environment: {},
    signal: new AbortController().signal,
    readLine: async (prompt) => {
      prompts.push(prompt);
      outs.push('');
      return lines[prompts.length - 1]?.text ?? 'quit';
    },
  });
  return { command: `${program} ${name}`, code, outs, prompts, err };
}

test('every step of the tutorial has its commands', () => {
  const steps = page.split(/^## \d/m).slice(1);
  expect(steps).toHaveLength(7);
  for (const step of steps) expect(step).toContain('```console\n');
});

for (const command of commands)
  test(`what the tutorial types at the terminal is true: ${command.text}`, async () => {
    const printed = await printedBy(command);
    expect(printed).toMatchObject({ command: 'npx rehearsal', code: 0 });
    expect(printed.prompts).toEqual(command.lines.map(({ prompt }) => prompt));
    expect(printed.err).not.toMatch(/there is no|rehearsal debug:/);
    for (const [at, { shown }] of [command, ...command.lines].entries())
      for (const line of shown) expect(printed.outs[at]?.split('\n')).toContain(line);
  });
