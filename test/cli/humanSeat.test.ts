import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { lineReader } from '../../src/cli/terminal/lineReader.ts';
import { commandLine } from '../support/commandLine.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalTyped } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const root = temporaryFolder('rehearsal-human');
let runs = 0;
const argv = (seat: string) =>
  ['run', 'domains/parcel-desk', 'reschedule-P46', `--${seat}`, 'human', '--out', join(root, String(++runs))] as const;

test('what is printed after Ctrl+C begins a new line', async () => {
  let written = '';
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  output.on('data', (chunk) => {
    written += String(chunk);
  });
  const abort = new AbortController();
  const line = lineReader(input as never, output as never)('agent> ', abort.signal);
  await until('the prompt', () => written.includes('agent> '));
  abort.abort();
  await expect(line).rejects.toThrow();
  expect(written).toMatch(/agent> .*\n$/);
});

test('every line of a pipe is a turn, and commands are not said to the user', async () => {
  const input = [
    'Hello, how can I help?',
    '/help',
    '',
    '/call find_parcel {"parcel": "P46"}',
    '/refund',
    '/say I see it.',
    'One moment.',
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, [commandLine, ...argv('agent')], {
    input: input.join('\n'),
    encoding: 'utf8',
    timeout: 240_000,
  });
  expect(status).toBe(2);
  await expect(stdout.replaceAll(relative(process.cwd(), root), 'ROOT')).toMatchFileSnapshot('golden/humanSeat.txt');
  expect(stderr).not.toContain('agent> ');
  expect(stderr).toContain('/help       this text');
  expect(stderr).toContain('tools that you can call:\n  find_parcel(parcel)  Where a parcel is.\n');
  expect(stderr).toContain('there is no command /refund');
});

/** Returns the replies to typed lines, up to the end of the input. */
async function repliesTo(seat: 'agent' | 'user', ...lines: string[]) {
  return (await rehearsalTyped(lines, ...argv(seat))).err;
}

test.each([
  ['agent', '/call', 'name the tool, and its arguments as JSON'],
  ['agent', '/call find_parcel P46', 'the arguments of find_parcel are not a JSON object'],
  ['agent', '/say', 'type the message: /say TEXT'],
  ['agent', '/call find_parcl {}', 'the agent has no tool "find_parcl". Did you mean "find_parcel"?'],
  ['agent', '/call xyz {}', 'the agent has no tool "xyz". /help lists the tools'],
  ['agent', '/stop', 'only a user that you play can end the conversation'],
  ['agent', '/why', 'that command works in the Debug Console only'],
  ['user', '/call find_parcel {"parcel": "P46"}', 'the user makes no calls: type what the user says'],
] as const)('the %s types %s and is asked again', async (seat, line, reply) => {
  expect(await repliesTo(seat, line)).toContain(reply);
});

test('a call of an unknown tool is not recorded', async () => {
  const { out } = await rehearsalTyped(['/call find_parcl {}', 'Hello.'], ...argv('agent'));
  expect(out).not.toContain('find_parcl');
});

test('the first prompt names the commands, and the goal of a user', async () => {
  const agent = await repliesTo('agent', 'Hello.');
  expect(agent).toContain('type what the agent says; /help lists the commands, and /quit leaves\n');
  expect(agent.match(/\/quit/g)).toHaveLength(1);
  const user = await repliesTo('user', 'Hello.');
  expect(user).toMatch(/^you play the user, with this goal: [\s\S]*\ntype what the user says;/m);
});

test('/quit leaves the rollout unfinished, and the same folder continues it', async () => {
  const flags = argv('agent');
  const { code, out, err } = await rehearsalTyped(['Hello, how can I help?', '/quit'], ...flags);
  expect(code).toBe(2);
  expect(out).toContain('you left with /quit, so the rollout is unfinished; what was recorded is kept');
  expect(err).toContain(`to continue, run the same command with --out ${relative(process.cwd(), flags.at(-1) ?? '')}`);
  const again = await rehearsalTyped(['One moment.'], ...flags);
  expect(again.out).toMatch(/agent {5}Hello, how can I help\?\nuser .*\nagent {5}One moment\./);
});
