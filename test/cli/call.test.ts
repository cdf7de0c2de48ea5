import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { approveDomain } from '../support/approval.ts';
import { mcpDomain } from '../support/mcpDomain.ts';
import { modelServer } from '../support/modelServer.ts';
import { rawMcpServer, resultBody } from '../support/rawMcpServer.ts';
import { scriptedMcpServer } from '../support/scriptedMcpServer.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const desk = 'domains/order-desk';
const call = async (...argv: readonly string[]) => {
  const { code, out, err } = await rehearsal('call', ...argv, '--json');
  return { code, err, ...(JSON.parse(out) as Record<string, unknown>) };
};

test('a call is made on a separate database, and its changes are shown', async () => {
  const database = readFileSync(join(desk, 'database.json'), 'utf8');
  const read = await call(desk, 'get_order', '--arguments', '{"order_id":"W1014"}');
  expect(read).toMatchObject({ code: 0, isError: false, writes: [], task: null });
  expect(read).toMatchObject({ content: expect.stringContaining('throw blanket') });
  const cancelled = await call(desk, 'cancel_order', '--arguments', '{"order_id":"W1014","reason":"no longer needed"}');
  expect(cancelled).toMatchObject({
    code: 0,
    isError: false,
    writes: [
      {
        side: 'agent',
        patches: expect.arrayContaining([
          expect.objectContaining({ path: ['orders', 'W1014', 'status'], old: 'pending', value: 'cancelled' }),
        ]),
      },
    ],
  });
  expect(readFileSync(join(desk, 'database.json'), 'utf8')).toBe(database);
  const told = await rehearsal('call', desk, 'get_order', '--arguments', '{"order_id":"W1014"}');
  expect(told.out).toMatch(/^result {4}\w+: /);
});

test("a user's tool is called by the user, and what keeps both sides in step runs after it", async () => {
  const { tools } = JSON.parse((await rehearsal('tools', 'domains/help-line', '--json')).out);
  const own = tools.find(
    ({ owner, effect, parameters }: { owner: string; effect: string; parameters: { required?: string[] } }) =>
      owner === 'user' && effect === 'read' && (parameters.required ?? []).length === 0,
  );
  expect(await call('domains/help-line', own.name)).toMatchObject({ code: 0, isError: false, tool: own.name });
});

test('a tool that hands over is called as well, although it ends the conversation', async () => {
  const handed = await call(desk, 'transfer_to_human', '--arguments', '{"summary":"A caller."}');
  expect(handed).toMatchObject({ code: 0, isError: false, tool: 'transfer_to_human', content: expect.any(String) });
});

test('an error of the tool is its answer, and exit code 1', async () => {
  const failed = await call(desk, 'get_order', '--arguments', '{"order_id":"W0"}');
  expect(failed).toMatchObject({ code: 1, isError: true, writes: [], content: expect.stringContaining('W0') });
});

test.each([
  [
    ['get_order', '--arguments', '{"order": "W1"}'],
    /do not fit: the argument order_id is missing\. The argument order is unknown\./,
  ],
  [['get_order'], /the arguments of get_order do not fit: the argument order_id is missing/],
  [['get_order', '--arguments', '{"order_id":1}'], /order_id must be of type string/],
  [['get_order', '--arguments', '{"order_id":'], /--arguments is not JSON: .*Write it as '\{"name": "value"\}'/],
  [['get_order', '--arguments', '[1]'], /--arguments is not an object/],
  [
    ['get_order', '--arguments', `${'{"a":'.repeat(5000)}9007199254740993${'}'.repeat(5000)}`],
    /--arguments is nested deeper than 200 levels/,
  ],
  [['get_ordr', '--arguments', '{}'], /there is no tool get_ordr; did you mean "get_order"\?/],
  [['get_order', '--task', 'none'], /there is no task "none"/],
  [[], /name a tool/],
])('call %j is refused, and nothing is called', async (argv, message) => {
  const { code, out } = await rehearsal('call', desk, ...argv, '--json');
  expect(code).toBe(2);
  expect(JSON.parse(out).error.message).toMatch(message);
});

test.each(['rules: [', '- { rule: nothing, check: onlyIf, tools: all, condition: "dp.x" }\n'])(
  'a tool is called whatever is wrong with the checks of the policy: %s',
  async (rules) => {
    const folder = join(temporaryFolder('call'), 'desk');
    cpSync('domains/parcel-desk', folder, { recursive: true });
    writeFileSync(join(folder, 'rules.yaml'), rules);
    const { code, out } = await rehearsal('call', folder, 'find_parcel', '--arguments', '{"parcel": "P46"}');
    expect([code, out]).toEqual([0, expect.stringContaining('status: "on the way"')]);
  },
);

test('a call begins with the state of a task', async () => {
  const folder = join(temporaryFolder('call'), 'desk');
  cpSync('domains/parcel-desk', folder, { recursive: true });
  const file = join(folder, 'tasks', 'test.task.yaml');
  const database = JSON.parse(readFileSync(join(folder, 'database.json'), 'utf8'));
  const id = Object.keys(database.parcels)[0] as string;
  const first = /id: (\S+)/.exec(readFileSync(file, 'utf8'))?.[1] as string;
  const text = readFileSync(file, 'utf8').replace(
    /\n( *)persona:/,
    `\n$1state:\n$1  - { path: [parcels, ${id}], value: null }\n$1persona:`,
  );
  writeFileSync(file, text);
  const given = ['--arguments', JSON.stringify({ parcel: id })];
  expect(await call(folder, 'find_parcel', ...given)).toMatchObject({ code: 0, isError: false });
  expect(await call(folder, 'find_parcel', ...given, '--task', first)).toMatchObject({
    code: 1,
    isError: true,
    task: first,
  });
});

test('a simulated tool is answered by the model that domain.yaml names', async () => {
  const folder = join(temporaryFolder('call'), 'desk');
  cpSync('domains/parcel-desk', folder, { recursive: true });
  const tool =
    'name: weather\ndescription: The weather.\nbehaviour: Answer sunny.\nparameters: { type: object, properties: { day: { type: string } }, required: [day] }\n';
  cpSync('domains/parcel-desk/policy.md', join(folder, 'tools', 'none.md'));
  writeFileSync(join(folder, 'tools', 'weather.tool.yaml'), tool);
  const given = ['weather', '--arguments', '{"day":"today"}', '--json'] as const;
  const nobody = await rehearsal('call', folder, ...given);
  expect(nobody.code).toBe(2);
  expect(JSON.parse(nobody.out).error.message).toMatch(/domain\.yaml names no model/);
  const server = await modelServer(() => '{"result":"sunny"}');
  const file = join(folder, 'domain.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nsimulator: openai:small@${server.url}\n`);
  approveDomain(folder);
  const answered = await rehearsal('call', folder, ...given);
  expect(JSON.parse(answered.out)).toMatchObject({
    tool: 'weather',
    isError: false,
    content: expect.stringContaining('sunny'),
  });
});

test('a tool that is left out cannot be called, and the reason is printed', async () => {
  const slow = { name: 'slow', execution: { taskSupport: 'required' } };
  const { url } = await scriptedMcpServer({ list: { tools: [{ name: 'look' }, slow] } });
  const server = `  raw: { type: http, url: "${url}", prefix: my_ }\n`;
  const domain = approveDomain(mcpDomain('raw', server, 'user: { goal: Look. }\n'));
  for (const name of ['slow', 'my_slow'])
    expect((await rehearsal('call', domain, name)).err).toContain(
      `there is no tool ${name}. The tool "slow" is left out: it needs tasks of MCP, which Rehearsal does not support. Report it`,
    );
  expect((await rehearsal('call', domain, 'other')).err).toMatch(/there is no tool other; there are my_look$/m);
});

test('a tool that is not known may be on a page that is left out', async () => {
  const { url } = await rawMcpServer({
    reply: ({ id, method, text }) => {
      if (method !== 'tools/list') return undefined;
      return { body: resultBody(id, text.includes('cursor') ? '{"tools":1}' : '{"tools":[],"nextCursor":"2"}') };
    },
  });
  const server = `  raw: { type: http, url: "${url}" }\n`;
  const domain = approveDomain(mcpDomain('raw', server, 'user: { goal: Look. }\n'));
  expect((await rehearsal('call', domain, 'look')).err).toContain(
    'there is no tool look; there are none. Page 2 of its list of tools is left out: it cannot be read (tools: Invalid',
  );
});

test('a call prints what it changes in the state of a server, also from the start of a draft', async () => {
  const program = createRequire(import.meta.url)
    .resolve('@modelcontextprotocol/server-memory/package.json')
    .replace('package.json', 'dist/index.js');
  const server = `  memory:
    command: ${JSON.stringify(process.execPath)}
    args: [${JSON.stringify(program)}]
    env: { MEMORY_FILE_PATH: "\${instanceFolder}/memory.json" }
    reader: { tool: read_graph }
    writes: [create_entities]
`;
  const ann = { entities: [{ name: 'Ann', entityType: 'person', observations: [] }] };
  const setUp = `setUp: { memory: { calls: [{ tool: create_entities, arguments: ${JSON.stringify(ann)} }] } }\n`;
  const domain = approveDomain(mcpDomain('notes', server, `draft: true\nuser: { goal: Keep it. }\n${setUp}`));
  const bob = JSON.stringify(ann).replace('Ann', 'Bob');
  const { code, out } = await rehearsal('call', domain, 'create_entities', '--arguments', bob, '--task', 'a');
  expect(code).toBe(0);
  expect(out).toMatch(/^database {2}memory\.entities\[1\] = \{"name":"Bob"/m);
});
