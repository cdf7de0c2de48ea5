import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Debuggee } from '../../../src/cli/dap/rollout/debuggee.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { approveDomain } from '../../support/approval.ts';
import { inFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

// A domain whose only tools are those of a published MCP server that this project did not write. The server keeps
// its knowledge graph in a file; every rollout has its own.
const server = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json')),
  'dist',
  'index.js',
);
const folder = temporaryFolder('rehearsal-memory');
const write = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
write(
  'domain.yaml',
  `name: memory-desk
database: database.json
agent: scripted
mcpServers:
  memory:
    command: ${JSON.stringify(process.execPath)}
    args: [${JSON.stringify(server)}]
    env: { MEMORY_FILE_PATH: "\${instanceFolder}/memory.json" }
    state: replay
    reader: { tool: read_graph }
    writes: [create_entities, add_observations, delete_entities]
`,
);
write('database.json', '{}');
write('policy.md', '# Memory desk\n\n- Ask before you keep something. {#ask-first}\n');
write('rules.yaml', 'rules:\n  - { rule: ask-first, check: confirmed, tools: [create_entities], gate: true }\n');
write('personas/plain.persona.yaml', 'id: plain\ndescription: A person who wants something remembered.\n');
write(
  'tasks/keep.task.yaml',
  `id: keep
persona: plain
user:
  goal: The desk should remember that Ann likes tea.
  opening: Please remember that Ann likes tea.
  known: { name: Ann, drink: tea }
assertions:
  - { in: memory, path: "entities[name=Ann].observations[0]", equals: likes tea }
evaluate: [assertions]
train: [assertions]
script:
  - I will keep that Ann likes tea. Shall I do that?
  - - tool: create_entities
      arguments: { entities: [{ name: Ann, entityType: person, observations: [likes tea] }] }
  - Done, I have kept it. Is there anything else?
`,
);

approveDomain(folder);

const run = join(folder, 'run');
let debuggee: Debuggee | undefined;
afterAll(() => debuggee?.close());

test('a rollout runs against the server, and the reward is read from its state', async () => {
  const { code, out } = await rehearsal('run', folder, 'keep', '--out', run);
  expect({ code, out }).toMatchObject({
    code: 0,
    out: expect.stringMatching(/create_entities[\s\S]*read the state of memory[\s\S]*reward 1/),
  });
  expect((await rehearsal('verify', run)).code).toBe(0);
});

inFullSuite('an old run is graded again from the recorded state of the server', async () => {
  const regraded = async () => {
    const { out } = await rehearsal('regrade', run, '--json');
    return (JSON.parse(out) as { rollouts: { before: number; after: number; reason: string }[] }).rollouts;
  };
  expect(await regraded()).toMatchObject([{ before: 1, after: 1 }]);
  const task = join(folder, 'tasks/keep.task.yaml');
  const text = readFileSync(task, 'utf8');
  writeFileSync(task, text.replace('equals: likes tea', 'equals: likes coffee'));
  try {
    const [rollout] = await regraded();
    expect(rollout).toMatchObject({ before: 1, after: 0, reason: expect.stringContaining('is "likes tea"') });
  } finally {
    writeFileSync(task, text);
  }
});

test('a fork repeats the recorded calls on a new server and continues from there', async () => {
  const recording = join(run, 'keep.0.traj.jsonl');
  const before = readFileSync(recording, 'utf8');
  const log: string[] = [];
  debuggee = new Debuggee({
    domain: loadDomain(folder),
    agent: { type: 'scripted' },
    user: { type: 'agenda' },
    forkAgent: { type: 'scripted' },
    readKey: () => undefined,
    askPerson: () => Promise.reject(new Error('no person is asked')),
    log: (text) => log.push(text),
  });
  debuggee.attach(recording);
  const last = debuggee.steps.findLast(({ event }) => event.type === 'agentReplied')?.n ?? 0;
  await debuggee.fork({ type: 'message', step: last, content: 'Done, that is kept now. Is there anything else?' });
  while (await debuggee.forward());
  expect(log).toEqual([]);
  expect(debuggee.current?.state.reward).toMatchObject({ value: 1 });
  expect(debuggee.current?.state.sources['memory']).toMatchObject({
    entities: [{ name: 'Ann', observations: ['likes tea'] }],
  });
  expect(readFileSync(recording, 'utf8')).toBe(before);
});

inFullSuite('an unsafe fork of it gets reward 0', async () => {
  const session = debuggee as Debuggee;
  session.attach(join(run, 'keep.0.traj.jsonl'));
  const proposal = session.steps.find(({ event }) => event.type === 'agentReplied')?.n ?? 0;
  await session.fork({ type: 'message', step: proposal, content: 'Noted.' });
  while (await session.forward());
  expect(session.current?.state.reward).toMatchObject({
    value: 0,
    reason: expect.stringMatching(/rule ask-first was violated/),
  });
});
