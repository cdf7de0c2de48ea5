import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { approveAgent } from '../support/approval.ts';
import { commandLine } from '../support/commandLine.ts';
import { modelServer } from '../support/modelServer.ts';
import { calling, type ModelRequest } from '../support/scriptedModel.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const desk = 'domains/parcel-desk';
const fresh = () => temporaryFolder('shadow');
const run = join(fresh(), 'run');

type Json = {
  readonly agreement: {
    readonly turns: number;
    readonly share: number | null;
    readonly agreeing: number;
    readonly sameWords: number;
    readonly kinds: Readonly<Record<string, number>>;
    readonly writes: object;
  };
  readonly rollouts: readonly {
    readonly name: string;
    readonly turns: readonly {
      readonly turn: number;
      readonly place: number;
      readonly kind: string;
      readonly reads: number;
      readonly proposed: object | null;
      readonly problem?: string;
    }[];
    readonly divergence: { readonly turn: number; readonly kind: string } | null;
  }[];
  readonly problems: readonly string[];
};

beforeAll(async () => {
  const { code } = await rehearsal(
    'eval',
    desk,
    '--agent',
    'gold',
    '--tasks',
    'reschedule-P46,vague-*',
    '--split',
    'test',
    '--out',
    run,
  );
  expect(code).toBe(0);
});

async function shadowed(...argv: readonly string[]): Promise<Json & { readonly code: number; readonly err: string }> {
  const { code, out, err } = await rehearsal('shadow', desk, ...argv, '--json');
  return { ...(JSON.parse(out) as Json), code, err };
}
const recording = join(run, 'reschedule-P46.0.traj.jsonl');
const kindsOf = ({ rollouts }: Json) => rollouts[0]?.turns.map(({ kind }) => kind);

test('the gold seat agrees with its own recordings in every turn, and the files stay as they were', async () => {
  const before = readdirSync(run).map((name) => readFileSync(join(run, name), 'utf8'));
  const { agreement, rollouts, problems, code } = await shadowed(run, '--agent', 'gold', '--gate', '1');
  expect(rollouts.length).toBeGreaterThan(2);
  const turns = before.join('').match(/"type":"agentReplied"/g)?.length;
  expect({ code, problems, share: agreement.share, turns: agreement.turns }).toEqual({
    code: 0,
    problems: [],
    share: 1,
    turns,
  });
  expect(agreement.sameWords).toBe(agreement.kinds['bothSpeak']);
  expect(agreement.agreeing).toBe((agreement.kinds['bothSpeak'] ?? 0) + (agreement.kinds['sameCall'] ?? 0));
  expect(rollouts.every(({ divergence }) => divergence === null)).toBe(true);
  expect(readdirSync(run).map((name) => readFileSync(join(run, name), 'utf8'))).toEqual(before);
});

test('each kind of proposal is distinguished, and the first divergence named', async () => {
  const proposals = [
    calling(['find_parcel', { parcel: 'P50' }]),
    calling(['reschedule', { day: 'Tuesday', parcel: 'P46' }]),
    'Are you sure?',
    'Bye.',
  ];
  const { url, requests } = await modelServer((_, nth) => proposals[nth - 1] ?? null);
  const found = await shadowed(recording, '--agent', `openai:m@${url}`, '--concurrency', '1', '--gate', '0.5');
  expect(kindsOf(found)).toEqual(['sameTool', 'callsInstead', 'speaksInstead', 'bothSpeak']);
  expect(found.rollouts[0]?.divergence).toMatchObject({ turn: 1, place: 3, kind: 'sameTool' });
  expect(found.agreement).toMatchObject({ share: 0.25, sameWords: 0, writes: { made: 1, alike: 0, others: 1 } });
  expect({ code: found.code, err: found.err }).toEqual({
    code: 1,
    err: 'gate missed: the agent agrees in 25.0 % of the turns, the gate requires 50.0 %\n',
  });
  expect(requests.map(({ messages }) => messages.length)).toEqual([2, 4, 6, 8]);
});

inFullSuite('what is proposed is not executed; with --reads an agent may look first', async () => {
  const look = calling(['find_parcel', { parcel: 'P50' }]);
  const write = calling(['reschedule', { parcel: 'P46', day: 'Tuesday' }]);
  const answer = ({ messages }: ModelRequest) => {
    const last = messages.at(-1);
    if (last?.role === 'user' && messages.length > 4) return look;
    return last?.content?.includes('P50') || last?.content?.includes('status') ? write : look;
  };
  const { url, requests } = await modelServer(answer);
  const [agent, once] = [`openai:m@${url}`, '1'];
  const without = await shadowed(recording, '--agent', agent, '--concurrency', once);
  expect(without.rollouts[0]?.turns[2]).toMatchObject({ kind: 'otherTool', reads: 0 });
  expect(requests).toHaveLength(4);
  const withReads = await shadowed(recording, '--agent', agent, '--concurrency', once, '--reads');
  expect(withReads.rollouts[0]?.turns[2]).toMatchObject({ kind: 'sameCall', reads: 1 });
  const afterRead = requests.slice(4).find(({ messages }) => messages.length === 8 && messages.at(-1)?.role === 'tool');
  expect(afterRead?.messages.at(-1)?.content).toMatch(/"status"/);
});

inFullSuite('a custom agent is put into each turn with the conversation so far', async () => {
  const folder = fresh();
  const agent = join(folder, 'odd.agent.yaml');
  const file = join(process.cwd(), 'test/engine/shell/fixtures/agent.mjs');
  writeFileSync(agent, `command: ${process.execPath}\nargs: [${file}, echo]\n`);
  const found = await shadowed(recording, '--agent', `agent:${approveAgent(agent)}`);
  expect(kindsOf(found)).toEqual(['speaksInstead', 'bothSpeak', 'speaksInstead', 'bothSpeak']);
  expect(found.rollouts[0]?.turns[2]?.proposed).toMatchObject({ content: 'You said: Yes.' });
  writeFileSync(agent, `command: ${process.execPath}\nargs: [${file}, dies]\n`);
  const dead = await shadowed(recording, '--agent', `agent:${approveAgent(agent)}`);
  expect(kindsOf(dead)).toEqual(['failed', 'failed', 'failed', 'failed']);
  expect(dead.rollouts[0]?.turns[0]?.problem).toMatch(/ended with code 3/);
  expect(dead.agreement.share).toBe(0);
});

inFullSuite('turns without an answer say nothing about the agent', async () => {
  const found = await shadowed(recording, '--agent', 'openai:m@http://127.0.0.1:9/v1');
  expect(found.agreement).toMatchObject({ share: null, kinds: { unanswered: 4 } });
  expect(found.code).toBe(2);
  expect(found.err).toMatch(/^4 turns not answered: \S+ can't be reached\..*\nno turn could be compared\n$/);
});

test('reads are executed where that is asked for, writes never', async () => {
  const tool = (name: string, effect: 'read' | 'write') => ({
    effect,
    run: `console.log('${name} ran'); return 'ok';`,
  });
  const script = '[[{ tool: paint, arguments: {} }], Done.]';
  const folder = smallDomain(
    { look: tool('look', 'read'), paint: tool('paint', 'write') },
    `id: one\npersona: plain\nuser: { goal: Paint it. }\nactions: []\nagent: scripted\nscript: ${script}\n`,
  );
  const out = join(folder, 'out');
  expect((await rehearsal('run', folder, 'one', '--out', out)).err).toBe('paint ran\n');
  const { url } = await modelServer(({ messages }) =>
    calling([messages.at(-1)?.role === 'tool' ? 'paint' : 'look', {}]),
  );
  const shadowing = async (...more: string[]) =>
    rehearsal('shadow', folder, out, '--agent', `openai:m@${url}`, '--json', ...more);
  expect((await shadowing()).err).toBe('');
  const reading = await shadowing('--reads', '--concurrency', '1');
  expect(reading.err).toMatch(/^(?:look ran\n)+$/);
  expect(kindsOf(JSON.parse(reading.out) as Json)?.[0]).toBe('sameCall');
});

const chat = {
  id: 'call-17',
  messages: [
    { role: 'system', content: 'You are brief.' },
    { role: 'assistant', content: 'Hello! How can I help?' },
    { role: 'user', content: [{ type: 'text', text: 'Where are P46 and P50?' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'find_parcel', arguments: '{"parcel":"P46"}' } },
        { id: 'b', type: 'function', function: { name: 'find_parcel', arguments: '{"parcel":"P50"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'b', content: 'in the depot' },
    { role: 'tool', tool_call_id: 'a', content: 'on the way' },
    { role: 'assistant', content: 'P46 is on the way, P50 in the depot.' },
    { role: 'user', content: 'Thanks.' },
    { role: 'assistant', content: 'Bye.' },
  ],
};

test('chats of production traffic, in OpenAI’s format', async () => {
  const path = join(fresh(), 'traffic.jsonl');
  writeFileSync(
    path,
    `${JSON.stringify(chat)}\n\n${JSON.stringify({ ...chat, id: undefined, messages: chat.messages.slice(0, 4) })}\n`,
  );
  const both = calling(['find_parcel', { parcel: 'P50' }], ['find_parcel', { parcel: 'P46' }]);
  const { url, requests } = await modelServer(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'P46 is on the way, P50 in the depot.' : both,
  );
  const found = await shadowed(path, '--agent', `openai:m@${url}`, '--concurrency', '1', '--reads');
  expect(found.rollouts.map(({ name }) => name)).toEqual(['call-17', `${path}:3`]);
  expect(kindsOf(found)).toEqual(['sameCall', 'bothSpeak', 'callsInstead']);
  expect(found.rollouts[0]?.turns.map(({ place }) => place)).toEqual([4, 7, 9]);
  expect(found.rollouts[1]?.turns.map(({ kind }) => kind)).toEqual(['sameCall']);
  expect(requests[1]?.messages.map(({ role }) => role)).toEqual([
    'system',
    'assistant',
    'user',
    'assistant',
    'tool',
    'tool',
  ]);
  expect(requests[0]?.messages[0]?.content).toBe('You are brief.');
  expect(found.agreement.sameWords).toBe(1);
});

const broken: readonly { readonly line: string; readonly said: RegExp }[] = [
  { line: '{', said: /traffic\.jsonl:1: is not JSON/ },
  { line: '{"messages": []}', said: /:2: messages: / },
  { line: '{"messages": [{"role": "robot", "content": "x"}]}', said: /:3: messages\.0: role: / },
  {
    line: '{"task": "none", "messages": [{"role": "user", "content": "x"}]}',
    said: /:4: the domain has no task "none"/,
  },
];

test('lines of traffic that are wrong are left out with their places', async () => {
  const path = join(fresh(), 'traffic.jsonl');
  writeFileSync(path, broken.map(({ line }) => `${line}\n`).join(''));
  const { code, problems, err } = await shadowed(path, '--agent', 'gold');
  expect(code).toBe(2);
  expect(problems.toSorted()).toEqual(broken.map(({ said }) => expect.stringMatching(said)));
  expect(err).toMatch(/^(?:left out: .*\n){4}no turn could be compared\n$/);
});

test('a recording of another domain or another database is left out', async () => {
  const path = join(fresh(), 'x.traj.jsonl');
  writeFileSync(path, readFileSync(recording));
  const { out } = await rehearsal('shadow', 'domains/order-desk', path, '--agent', 'gold', '--json');
  expect((JSON.parse(out) as Json).problems[0]).toMatch(
    /:1: was recorded in the domain "parcel-desk", and this one is "order-desk"/,
  );
});

inFullSuite('a person who is gone ends it', () => {
  const argv = [commandLine, 'shadow', desk, recording, '--agent', 'human'];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    input: '',
    encoding: 'utf8',
    timeout: 240_000,
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).not.toContain('agent> ');
  expect(stderr).toMatch(
    /^rehearsal shadow: the input ended before the turn was typed; start it in a terminal, .*\n$/m,
  );
});

test('for a person it is a table', async () => {
  const { url } = await modelServer(() => 'Are you sure?');
  const { code, out } = await rehearsal('shadow', desk, recording, '--agent', `openai:m@${url}`);
  expect(code).toBe(0);
  await expect(out.replaceAll(run, 'RUN')).toMatchFileSnapshot('golden/shadow.txt');
});

test('a folder of chats is read in the format that is named, and what is left out has its place', async () => {
  const folder = fresh();
  const shareGpt = [
    {
      conversations: [
        { from: 'human', value: 'Hello' },
        { from: 'gpt', value: 'Bye.' },
      ],
    },
    chat,
  ];
  writeFileSync(join(folder, 'log.jsonl'), shareGpt.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const { url } = await modelServer(() => 'Bye.');
  const found = await shadowed(folder, '--format', 'sharegpt', '--agent', `openai:m@${url}`);
  expect(found.agreement).toMatchObject({ turns: 1, sameWords: 1 });
  expect(found.problems).toMatchObject([expect.stringMatching(/log\.jsonl:2: is not of the format ShareGPT/)]);
});
