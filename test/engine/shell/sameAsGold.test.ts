import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { approveDomain } from '../../support/approval.ts';
import { mcpDomain } from '../../support/mcpDomain.ts';
import { rehearse } from '../../support/rehearsed.ts';
import { inFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

const fixture = fileURLToPath(new URL('fixtures/mcpServer.mjs', import.meta.url));
const folder = temporaryFolder('same-as-gold');
const write = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
write(
  'domain.yaml',
  `name: counting-desk
mcpServers:
  counter:
    command: ${JSON.stringify(process.execPath)}
    args: [${JSON.stringify(fixture)}, good]
    state: replay
    reader: { tool: state }
    writes: [add]
`,
);
write('policy.md', '# Counting desk\n');
write('personas/plain.persona.yaml', 'id: plain\ndescription: A person who counts.\n');
write(
  'tasks/two.task.yaml',
  `id: two
persona: plain
user: { goal: The count should go up by two., opening: Add 2 please., known: { by: 2 } }
setUp: { counter: { calls: [{ tool: add, arguments: { by: 5 } }] } }
actions: [{ tool: add, arguments: { by: 2 } }]
assertions: [{ in: counter, sameAs: gold }]
evaluate: [assertions]
train: [assertions]
script:
  - - { tool: add, arguments: { by: 3 } }
  - Done, I have added 2. Is there anything else?
`,
);
approveDomain(folder);

async function played(agent: string): Promise<{ reward: unknown; reason: string; recording: string }> {
  const out = join(temporaryFolder('same-as-gold-run'), agent);
  const ran = await rehearsal('run', folder, 'two', '--agent', agent, '--out', out, '--json');
  return { ...JSON.parse(ran.out.trim().split('\n').at(-1) ?? ran.err), recording: join(out, 'two.0.traj.jsonl') };
}

test('the reward requires the state of a server that the gold actions give from the start of the task', async () => {
  expect(await played('gold')).toMatchObject({ reward: 1 });
  const wrong = await played('scripted');
  expect(wrong).toMatchObject({
    reward: 0,
    reason: expect.stringContaining('counter.count is 8; after the gold actions it is 7'),
  });
});

inFullSuite('files of the same size are compared by their bytes', async () => {
  const notes = fileURLToPath(new URL('fixtures/notesServer.mjs', import.meta.url));
  const files = mcpDomain(
    'notes',
    `  notes: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(notes)}], state: replay, reader: { tool: export_file }, writes: [add_note] }`,
    `user: { goal: You want a note. }
actions: [{ tool: add_note, arguments: { text: milk } }]
assertions: [{ in: notes, sameAs: gold }]
evaluate: [assertions]
train: [assertions]
script: [[{ tool: add_note, arguments: { text: tea! } }], Done.]
`,
  );
  const [wrong, right] = await Promise.all([
    rehearse(files, ['a']),
    rehearse(files, ['a'], { agent: { type: 'gold' } }),
  ]);
  expect([wrong[0]?.reward, right[0]?.reward]).toEqual([0, 1]);
  expect(wrong[0]?.events.findLast(({ type }) => type === 'verdictReached')).toMatchObject({
    verdict: {
      detail: expect.stringMatching(/^notes is "\[[^"]+, 1 kB, SHA-256 \w{64}\]"; after the gold actions it is "\[/),
    },
  });
});

test.each([
  ['a call that fails', '{ calls: [{ tool: fly }] }', 'mcp/set-up'],
  ['a program that is not there', `{ args: [${join(folder, 'none.mjs')}] }`, 'mcp/start'],
])('a start of a task with %s is placed in the file of the task', async (_what, setUp, code) => {
  const text = `id: broken
persona: plain
user: { goal: Count., opening: Count. }
actions: [{ tool: add, arguments: { by: 2 } }]
setUp:
  counter: ${setUp}
`;
  const file = 'tasks/broken.task.yaml';
  write(file, text);
  const [broken] = await rehearse(folder, ['broken']);
  expect(broken).toMatchObject({ reward: null, failure: { code, file: join(folder, file), line: 6 } });
});

inFullSuite('a reward that rests on the gold actions is verified and replayed', async () => {
  const { recording } = await played('scripted');
  expect((await rehearsal('verify', dirname(recording))).code).toBe(0);
  expect((await rehearsal('replay', recording, '--domain', folder)).code).toBe(0);
});

test.each([
  ['{ in: agent, sameAs: gold }', 'task/unknown-source'],
  ['{ in: counter, sameAs: gold, equals: 1 }', 'task/assertion-twice'],
])('the assertion %s is reported as %s', async (assertion, code) => {
  const place = temporaryFolder('same-as-gold');
  const task = `id: two\npersona: plain\nuser: { goal: Count., opening: Count. }\nassertions: [${assertion}]\nevaluate: [assertions]\n`;
  mkdirSync(join(place, 'tasks'));
  writeFileSync(
    join(place, 'domain.yaml'),
    'name: x\nmcpServers: { counter: { command: none, reader: { tool: state } } }\n',
  );
  writeFileSync(join(place, 'policy.md'), '# X\n');
  writeFileSync(join(place, 'tasks', 'two.task.yaml'), task);
  expect((await rehearsal('check', place, '--static')).out).toContain(code);
});
