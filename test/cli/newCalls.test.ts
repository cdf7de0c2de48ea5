import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalApproved } from '../support/terminal.ts';

const scratch = temporaryFolder('new-calls');
const add = `add_note ${JSON.stringify({ body: 'example body', title: 'example title' })}`;
const otherTitle = `add_note ${JSON.stringify({ body: 'example body', title: 'example title 2' })}`;
const otherBody = `add_note ${JSON.stringify({ body: 'example body 2', title: 'example title' })}`;
const withReader = { [add]: 12, [otherTitle]: 1, [otherBody]: 1 };

const text = { type: 'string' };
const addNote = {
  name: 'add_note',
  annotations: { readOnlyHint: false },
  inputSchema: { type: 'object', properties: { body: text, title: text }, required: ['body', 'title'] },
};
const tool = (name: string, annotations?: object) => ({ name, annotations, inputSchema: { type: 'object' } });
const readNotes = tool('read_notes', { readOnlyHint: true });
const getNextJob = tool('get_next_job');

type Trial = {
  readonly server: string;
  readonly tools: readonly object[];
  /** The number of calls of `add_note` after which it fails. */
  readonly works?: number;
  readonly flags?: readonly string[];
  readonly approved: Readonly<Record<string, number>>;
  /** The number of calls that are the first of them. */
  readonly made: number;
};

const trials: readonly Trial[] = [
  { server: 'with a reader', tools: [addNote, readNotes], approved: withReader, made: 8 },
  { server: 'that fails for a while', tools: [addNote, readNotes], works: 4, approved: withReader, made: 12 },
  { server: 'without reads', tools: [addNote], approved: { [add]: 6 }, made: 2 },
  { server: 'with a read that is not certain', tools: [getNextJob, addNote], approved: { [add]: 6 }, made: 2 },
  { server: 'with both reads', tools: [getNextJob, addNote, readNotes], approved: withReader, made: 8 },
  { server: 'with a read by name alone', tools: [getNextJob], approved: { 'get_next_job {}': 6 }, made: 2 },
  {
    server: 'whose reads a person declared',
    tools: [getNextJob, addNote],
    flags: ['--writes', 'add_note'],
    approved: withReader,
    made: 8,
  },
];

test.each(sampled(trials, 4))(
  'each call that may change something is approved first: a server $server',
  async ({ server, tools, works = Number.MAX_SAFE_INTEGER, flags = [], approved, made }) => {
    const named = server.replaceAll(' ', '-');
    const log = join(scratch, `${named}.log`);
    const program = join(scratch, `${named}.mjs`);
    writeFileSync(log, '');
    writeFileSync(program, loggingServer(tools, log, works));
    const argv = ['new', join(scratch, named), '--mcp', `"${process.execPath}" "${program}"`, ...flags];
    const { err } = await rehearsalApproved(...argv);

    const lines = err.matchAll(/is called (?:at most once|up to (\d+) times): (.*)/g);
    const listed = [...lines].map(([, most = 1, call]) => [call, Number(most)]);
    expect(Object.fromEntries(listed)).toEqual(approved);
    const calls = readFileSync(log, 'utf8').split('\n').filter(Boolean);
    const certain = flags.length > 0 ? /^get_next_job/ : /^read_notes/;
    const counts = new Map<string, number>();
    for (const call of calls) if (!certain.test(call)) counts.set(call, (counts.get(call) ?? 0) + 1);
    for (const [call, count] of counts) expect(count, call).toBeLessThanOrEqual(approved[call] ?? 0);
    expect(counts.get(Object.keys(approved)[0] ?? '')).toBe(made);
  },
);

test('a read that is not certain is named, with the flag that declares it', async () => {
  const program = join(scratch, 'named.mjs');
  writeFileSync(program, loggingServer([getNextJob, addNote], join(scratch, 'named.log'), 9));
  const argv = ['new', join(scratch, 'named'), '--mcp', `"${process.execPath}" "${program}"`];
  const { err } = await rehearsalApproved(...argv);
  expect(err).toContain('not tried as the tool that shows the state: get_next_job.');
  expect(err).toContain('--writes');
  expect((await rehearsal(...argv, '--no-play')).err).not.toContain('not tried');
});

/** A server that logs its calls. Each instance has its own notes; reads return their titles. */
function loggingServer(tools: readonly object[], log: string, works: number): string {
  return `import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const titles = [];
const sorted = (args) => JSON.stringify(Object.fromEntries(Object.entries(args ?? {}).sort()));
const made = () => readFileSync(${JSON.stringify(log)}, 'utf8').split('add_note').length - 1;
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'log', version: '1' } }),
  'tools/list': () => ({ tools: ${JSON.stringify(tools)} }),
  'tools/call': ({ name, arguments: args }) => {
    appendFileSync(${JSON.stringify(log)}, name + ' ' + sorted(args) + '\\n');
    if (name !== 'add_note') return { content: [{ type: 'text', text: JSON.stringify({ titles }) }] };
    if (made() > ${works}) return { content: [{ type: 'text', text: 'busy, try again later' }], isError: true };
    titles.push(args.title);
    return { content: [{ type: 'text', text: 'added' }] };
  },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params ?? {}) ?? {} }) + '\\n');
});
`;
}
