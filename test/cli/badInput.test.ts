import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import { readRecording } from '../../src/engine/shell/records/recording.ts';
import { approveDomain } from '../support/approval.ts';
import { commandLine } from '../support/commandLine.ts';
import { completion, endpoint } from '../support/endpoint.ts';
import { inFullSuite, isFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalWith } from '../support/terminal.ts';

/** Any bad input is one clear message, with file and line if it has them. Earlier records are kept and verify. */
const root = temporaryFolder('rehearsal-bad');
let folders = 0;
const fresh = () => join(root, String(++folders));
const source = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const script = (...calls: readonly string[]) =>
  `[${calls.map((tool) => `[{ tool: ${tool}, arguments: {} }]`).join(', ')}, Done.]`;
const good: Readonly<Record<string, string>> = {
  'domain.yaml': 'name: chairs\nturnCap: 12\ntoolErrorCap: 3\n',
  'database.json': '{\n  "chairs": { "A1": { "colour": "blue" } }\n}\n',
  'policy.md': '- Look first.\n',
  'personas/plain.persona.yaml': 'id: plain\ndescription: Plain.\n',
  'tasks/looks.task.yaml': `id: looks\npersona: plain\nuser: { goal: Look. }\nactions: []\nscript: ${script('look')}\n`,
  'tools.ts': `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { chairs: Record<string, { colour: string }> } }>();
const input = z.object({});
export const look = tool({ description: 'Look.', effect: 'read', input, run: (_, { db }) => db.chairs });
`,
};

/** Writes a domain to the disk: a valid one with some files changed, or removed if the text is null. */
function domain(changes: Readonly<Record<string, string | null>> = {}): string {
  const folder = fresh();
  for (const [name, text] of Object.entries({ ...good, ...changes })) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return approveDomain(folder);
}

const eventsOf = (run: string): readonly RolloutEvent[] => {
  const { lines, problems } = readRecording(join(run, 'looks.0.traj.jsonl'));
  expect(problems).toEqual([]);
  return lines.map(({ event }) => event);
};
const resultsOf = (run: string) =>
  eventsOf(run).flatMap((event) => (event.type === 'toolReturned' ? [event.content] : []));

/** Expects the record of a rollout that could not be scored: complete, signed, without a reward. */
async function expectKept(run: string): Promise<void> {
  expect(eventsOf(run).find(({ type }) => type === 'rewarded')).toMatchObject({ reward: null });
  expect(await rehearsal('verify', run)).toMatchObject({ code: 0 });
}

describe('a file of the domain', () => {
  const tools = String(good['tools.ts']);
  const cases: readonly [string, Readonly<Record<string, string | null>>, RegExp][] = [
    ['no domain.yaml', { 'domain.yaml': null }, /: there is no domain here \(a folder with domain\.yaml\)/],
    [
      'no policy',
      { 'policy.md': null },
      /\/domain\.yaml:1:1 error policy\/file-missing The file policy\.md does not exist\. Create it/,
    ],
    [
      'no database',
      { 'database.json': null, 'domain.yaml': 'name: x\ndatabase: data.json\n' },
      /domain\.yaml:2:11 error /,
    ],
    [
      'no tools, which the tasks call',
      {
        'tools.ts': null,
        'tasks/looks.task.yaml': String(good['tasks/looks.task.yaml']).replace('[]', '[{ tool: look, arguments: {} }]'),
      },
      /^[^\n]*domain\.yaml:1:1 error tool\/file-missing The file tools\.ts does not exist, and tasks call tools\. Create it[^\n]*\n?[^\n]*$/,
    ],
    [
      'an equals sign in the place of an arrow',
      { 'tools.ts': `${tools}export const a = [(b) = {\n  const total = 1;\n  return total;\n}];\n` },
      /\/tools\.ts:6:\d+: .*Unexpected `=`\. Write `=> \{`/,
    ],
    [
      'a token that the parser does not expect',
      { 'tools.ts': `${tools}const a = { const total: 1 };\n` },
      /\/tools\.ts:6:\d+: .*Unexpected `total`\.?$/m,
    ],
    [
      'code that writes a file at load',
      { 'tools.ts': `import { writeFileSync } from 'node:fs';\n${tools}writeFileSync('/x', '');\n` },
      /\/tools\.ts:7:\d+: (?:\S+ )*access denied: a domain's code can only read its own folder: it cannot read other files, write files or start processes/,
    ],
    ['malformed YAML', { 'domain.yaml': 'name: chairs\nturnCap: [1\n' }, /\/domain\.yaml:\d+:\d+ error /],
    ['malformed JSON', { 'database.json': '{\n  "chairs": {,\n}\n' }, /\/database\.json:2:\d+ error /],
    [
      'an unknown tool in a task',
      { 'tasks/looks.task.yaml': String(good['tasks/looks.task.yaml']).replace('tool: look', 'tool: loook') },
      /\/looks\.task\.yaml:5:\d+ error task\/unknown-tool There is no tool loook\. Did you mean "look"\?/,
    ],
    ['a syntax error in code', { 'tools.ts': `${tools}const = 1;\n` }, /\/tools\.ts:6:\d+: /],
    [
      'a key twice in the database',
      { 'database.json': '{\n  "chairs": { "A1": {}, "A1": {} }\n}\n' },
      /\/database\.json:2:25 error database\/duplicate-key The key A1 appears here a second time/,
    ],
    [
      'a tool that its description shows to be wrong',
      {
        'tools.ts': `${tools}export const press = tool({ description: 'Press.', effect: 'read', owner: 'user', handsOff: true, input, run: () => 'ok' });\n`,
      },
      /\/tools\.ts:6:14 error tool\/user-hands-off press belongs to the user and hands off/,
    ],
    [
      'a database without a bottom',
      { 'database.json': `{"chairs": ${'['.repeat(20_000)}${']'.repeat(20_000)}}` },
      /\/database\.json:1:1 error database\/too-deep The database is nested deeper than 200 levels\./,
    ],
    [
      'code that throws at load',
      { 'tools.ts': `${tools}throw new Error('no luck');\n` },
      /\/tools\.ts:6:\d+: .*no luck/,
    ],
  ];
  test.each(cases)('%s', async (_name, changes, message) => {
    const { code, out, err } = await rehearsal('run', domain(changes), 'looks', '--out', fresh());
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toMatch(/\n\s+at /);
  });
});

describe('a model', () => {
  const call = (name: string, text: string) =>
    completion({ tool_calls: [{ id: 'c1', type: 'function', function: { name, arguments: text } }] });
  const asked = async (answer: Parameters<typeof endpoint>[0], ...more: readonly string[]) => {
    const [run, url] = [fresh(), await endpoint(answer)];
    const agent = ['--agent', `openai:m@${url}`, '--out', run, ...more];
    return {
      run,
      url,
      ...(await rehearsalWith(
        { OPENAI_API_KEY: 'sk-secret', OPENAI_BASE_URL: url },
        'run',
        domain(),
        'looks',
        ...agent,
      )),
    };
  };

  test('with a bad key', async () => {
    const { run, url, code, out } = await asked((n) => (n === 0 ? call('look', '{}') : { status: 401, body: '{}' }));
    expect(code).toBe(2);
    expect(out).toContain(`ended: the infrastructure failed: ${url} refused the key in OPENAI_API_KEY (401)`);
    expect(resultsOf(run)).toHaveLength(1);
    await expectKept(run);
    const kept = readdirSync(run).map((name) => readFileSync(join(run, name), 'utf8'));
    expect([out, ...kept].filter((text) => text.includes('sk-secret'))).toEqual([]);
  });

  test('that answers with broken JSON', async () => {
    const { run, code, out } = await asked((n) =>
      n === 0 ? call('look', '{}') : { status: 200, body: '{"choices": [{' },
    );
    expect(code).toBe(2);
    expect(out).toMatch(/ended: the infrastructure failed: m at .* \(the agent's seat\): the answer is not JSON/);
    expect(resultsOf(run)).toHaveLength(1);
    await expectKept(run);
  });

  test('that calls a tool with broken JSON, or a missing one, gets an error and can continue', async () => {
    const answers = [call('look', '{"at": '), call('fly', '{}'), completion({ content: 'I can not do that.' })];
    const { run, code } = await asked((n) => answers[n] ?? completion({ content: 'Goodbye.' }));
    expect(code).toBe(0);
    expect(resultsOf(run)).toEqual([
      'Error: the arguments of look are not a JSON object: {"at": ',
      'Error: there is no tool named "fly"',
    ]);
  });

  test('that never answers is waited for as long as --timeout says, and asked once more', async () => {
    const { run, url, code, out } = await asked((n) => (n === 0 ? call('look', '{}') : null), '--timeout', '0.3');
    expect(code).toBe(2);
    expect(out).toContain(
      `ended: the infrastructure failed: ${url} did not answer within 0.3 s, also when it was asked again. Is the server overloaded`,
    );
    expect(resultsOf(run)).toHaveLength(1);
    await expectKept(run);
  });
});

describe('an MCP server', () => {
  // The time limit only matters for a server that never answers.
  const limitsMs: Readonly<Record<string, number>> = { mute: 500, rubbish: 3000 };
  const fixture = source('test/engine/shell/fixtures/mcpServer.mjs');
  // Without imports it prints long before its limit, even on a busy machine.
  const rubbish = ['-e', "setInterval(() => console.log('Listening on port 3000!'), 20)"];
  const server = (mode: string, command = process.execPath) =>
    domain({
      'tools.ts': null,
      'domain.yaml': `name: chairs
turnCap: 12
mcpServers:
  fixture:
    command: ${JSON.stringify(command)}
    args: ${JSON.stringify(mode === 'rubbish' ? rubbish : [fixture, mode])}
    timeoutMs: ${limitsMs[mode] ?? 120_000}
`,
      'tasks/looks.task.yaml': `id: looks\npersona: plain\nuser: { goal: Look. }\nactions: []\nscript: ${script('state', 'die')}\n`,
    });

  test('that dies in a call', async () => {
    const [folder, run] = [server('good'), fresh()];
    const { code, out } = await rehearsal('run', folder, 'looks', '--agent', 'scripted', '--out', run);
    expect(code).toBe(2);
    expect(out).toMatch(
      /ended: the infrastructure failed: MCP server "fixture" .*: the server closed the connection before it answered the call of die[^;]*; see \S*\/domain\.yaml:\d\. Its last output: fatal: out of cheese/,
    );
    expect(resultsOf(run)).toEqual(['{"count":0}']);
    await expectKept(run);
  });

  test.each([
    ['prints rubbish', 'rubbish', process.execPath, /It writes lines to standard output that are not MCP messages/],
    [
      'never answers',
      'mute',
      process.execPath,
      /could not be started \(it did not answer within .* s\)\. Check the command/,
    ],
    ['does not exist', 'good', 'no-such-program', /could not be started \(spawn no-such-program ENOENT\)/],
  ])('that %s', async (_name, mode, command, message) => {
    const { code, out, err } = await rehearsal('run', server(mode, command), 'looks', '--out', fresh());
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^rehearsal run: .*\/domain\.yaml:[45]: MCP server "fixture"/);
    expect(err).toMatch(message);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test('whose tool has a name that no model can be offered', async () => {
    const { code, out } = await rehearsal('check', server('misnamed'));
    expect(code).toBe(0);
    expect(out).toMatch(/domain\.yaml:\d+:\d+ info tool\/renamed The tool "look up" is called look_up/);
  });
});

test('an endless loop in a tool', async () => {
  const code = `export const loop = tool({ description: 'Never ends.', effect: 'read', timeoutMs: 300, input, run: () => { for (;;) {} } });\n`;
  const looping = String(good['tasks/looks.task.yaml']).replace(script('look'), script('look', 'loop'));
  const folder = domain({ 'tools.ts': `${good['tools.ts']}${code}`, 'tasks/looks.task.yaml': looping });
  const run = fresh();
  const printed = await rehearsal('run', folder, 'looks', '--agent', 'scripted', '--out', run);
  expect(printed.code).toBe(2);
  expect(printed.out).toMatch(
    /ended: the environment failed: the tool loop did not return within 300 ms and was stopped; .*; see .*\/tools\.ts:6/,
  );
  expect(resultsOf(run)).toHaveLength(1);
  await expectKept(run);
});

describe.skipIf(process.platform === 'win32')('a full disk', () => {
  /** Runs the command line in a separate process, through a command that limits it. */
  function limited(before: readonly string[], run: string) {
    const args = [commandLine, 'run', source('domains/order-desk'), 'lamp-variant', '--out', run];
    const [command = '', ...rest] = [...before, process.execPath, ...args];
    const env = { ...process.env, REHEARSAL_HOME: join(root, 'home') };
    const { status, stderr } = spawnSync(command, rest, { env, encoding: 'utf8' });
    return { code: status, err: stderr };
  }
  const recording = (run: string) => join(run, 'lamp-variant.0.traj.jsonl');
  const bytesOf = (run: string) => {
    expect(limited([], run).code).toBe(0);
    return statSync(recording(run)).size;
  };

  /** Expects a valid recording of complete events that replays without a difference. */
  async function expectWhole(run: string): Promise<void> {
    const { lines, problems } = readRecording(recording(run));
    expect([lines.length > 3, problems]).toEqual([true, []]);
    expect(await rehearsal('replay', recording(run), '--quiet')).toMatchObject({
      out: expect.stringMatching(
        new RegExp(`^${lines.length} steps replayed, every state, verdict and reward as recorded`),
      ),
    });
  }

  inFullSuite('where files can no longer grow', async () => {
    const [whole, run] = [bytesOf(fresh()), fresh()];
    const blocks = Math.floor((0.8 * whole) / 512);
    const { code, err } = limited(['/bin/sh', '-c', `ulimit -f ${blocks}; exec "$0" "$@"`], run);
    expect(code).toBe(2);
    expect(err).toMatch(
      /^rehearsal run: \S+\.jsonl: can't be written \(EFBIG.*\); what was recorded before is kept\n$/,
    );
    await expectWhole(run);
    expect(limited([], run).code).toBe(0);
  });

  const unshare = ['unshare', '--user', '--map-root-user', '--mount', '/bin/sh', '-c'];
  const mayMount = () => {
    const probe = 'mount -t tmpfs none "$0"';
    return spawnSync(unshare[0] ?? '', [...unshare.slice(1), probe, tmpdir()]).status === 0;
  };
  test.skipIf(!isFullSuite || !mayMount())('where there is no room left', async () => {
    const [whole, disk, run] = [bytesOf(fresh()), fresh(), fresh()];
    mkdirSync(disk);
    const pages = 2 + Math.ceil((0.8 * whole) / 4096);
    const body = `mount -t tmpfs -o size=${4 * pages}k none ${disk}; "$0" "$@"; code=$?; cp -r ${disk} ${run}; exit $code`;
    const { code, err } = limited([...unshare, body], disk);
    expect(code).toBe(2);
    expect(err).toMatch(/^rehearsal run: \S+\.jsonl: the disk is full; what was recorded before is kept\. Free space/);
    expect(err.trim().split('\n')).toHaveLength(1);
    await expectWhole(run);
  });
});

test('no Python at all', async () => {
  const { PATH } = process.env;
  onTestFinished(() => {
    process.env['PATH'] = PATH;
  });
  process.env['PATH'] = fresh();
  const printed = await rehearsal('train', 'sft', 'domains/parcel-desk', '--out', fresh(), '--json');
  expect(printed.code).toBe(2);
  expect(JSON.parse(printed.out)).toMatchObject({
    error: {
      code: 'python/missing',
      message: expect.stringMatching(
        /^python3 was not found: Rehearsal needs Python 3\.11 or newer\. Install it, or name it with --python/,
      ),
    },
  });
});
