import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { baseHash } from '../../../../src/engine/core/events/world.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { settingOf } from '../../../../src/engine/shell/replay.ts';
import { startOf } from '../../../../src/engine/shell/start.ts';
import { openSupervisor } from '../../../../src/engine/shell/supervisor.ts';
import { desk, folderOf } from '../load/domainFolder.ts';

const tools = (sync: string) => `import { defineTools, type SyncContext } from 'rehearsal';
import * as z from 'zod';
type Sides = { agent: { socket: { on: boolean } }; user: { lamp: { fed: boolean; pressed: boolean } } };
const { tool } = defineTools<Sides>();
export const power = tool({
  description: 'Switches the socket.',
  effect: 'write',
  input: z.object({ on: z.boolean() }),
  run: ({ on }, { db }) => {
    db.socket.on = on;
  },
});
export const press = tool({
  owner: 'user',
  description: 'Presses the switch.',
  effect: 'write',
  input: z.object({ reach: z.boolean().default(false) }),
  run: ({ reach }, { db, userDb }) => {
    if (reach) db.socket.on = true;
    userDb.lamp.pressed = true;
    return { lamp: userDb.lamp.fed ? 'bright' : 'dark' };
  },
});
export ${sync}
`;
const feeding = 'function sync({ db, userDb }: SyncContext<Sides>): void {\n  userDb.lamp.fed = db.socket.on;\n}';
const task = (reach: boolean) => `id: light
persona: plain
user: { goal: Shine., script: [Dark., [{ tool: press, arguments: { reach: ${reach} } }], It is bright.] }
script: [[{ tool: power, arguments: { on: true } }], Press it., Good.]
actions:
  - { tool: power, arguments: { on: true } }
  - { tool: press, by: user, arguments: {} }
evaluate: [database]
`;

/** Plays the scripts of both seats in a worker. */
async function played(sync: string, reach = false) {
  const folder = realpathSync(
    folderOf({
      ...desk,
      'domain.yaml': 'name: lamp\nuserDatabase: user.json\n',
      'rules.yaml': null,
      'tools.ts': tools(sync),
      'tasks/first.task.yaml': task(reach),
      'database.json': '{"socket": {"on": false}}',
      'user.json': '{"lamp": {"fed": true, "pressed": false}}',
    }),
  );
  const domain = loadDomain(folder);
  const supervisor = await openSupervisor(domain);
  try {
    const [of] = supervisor.domain.tasks;
    if (!of) throw new Error('there is a task');
    const seats = { agent: { type: 'scripted' }, user: { type: 'scripted' } } as const;
    const database = baseHash(settingOf(domain).world);
    const from = startOf(supervisor.domain, database, of, { seed: '1', trial: 0, basis: 'evaluate', ...seats });
    const nobody = () => Promise.reject(new Error('no person is asked'));
    const { closed } = supervisor.start({
      task: of,
      from,
      seats: { agent: 'scripted', user: 'scripted' },
      externalSeats: { agent: nobody, user: nobody, simulate: nobody },
      recording: null,
    });
    const { events } = await closed;
    return { events, from, file: join(folder, 'tools.ts') };
  } finally {
    await supervisor.close();
  }
}

it('sync drafts both sides, and each seat gets only its own tools', async () => {
  const { events, from } = await played(feeding);
  expect(events.flatMap((event) => (event.type === 'worldSynced' ? [event.writes] : []))).toMatchObject([
    [{ side: 'user', patches: [{ op: 'replace', path: ['lamp', 'fed'], value: false }] }],
    [{ side: 'user', patches: [{ op: 'replace', path: ['lamp', 'fed'], value: true }] }],
    [],
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'rewarded', reward: 1 });
  expect(events.flatMap((event) => (event.type === 'toolReturned' ? [[event.by, event.content]] : []))).toEqual([
    [undefined, 'ok'],
    ['user', '{"lamp":"bright"}'],
  ]);
  expect([from.tools, from.userTools].map((list) => list?.map(({ name }) => name))).toEqual([['power'], ['press']]);
});

it('a tool of the user writes only the side of the user', async () => {
  const { events } = await played(feeding, true);
  const [, refused] = events.filter((event) => event.type === 'toolReturned');
  expect(refused).toMatchObject({
    isError: true,
    content: expect.stringMatching(/^Error: .*(?:read only|may not write)/),
  });
  expect(events.at(-1)).toMatchObject({ type: 'rewarded', reward: 0 });
});

it.each([
  ['function sync(): void {\n  throw new Error("no supply");\n}', /^sync failed: no supply$/, 25],
  ['async function sync() {}', /^sync failed: it returned a promise, and a sync must be synchronous$/, undefined],
  [
    'function sync({ userDb }: SyncContext<Sides>): void {\n  userDb.lamp.fed = !userDb.lamp.fed;\n}',
    /^sync changes user\.lamp\.fed again when it runs a second time/,
    undefined,
  ],
])('an invalid sync ends the rollout as a fault of the domain: %s', async (sync, message, line) => {
  const { events, file } = await played(sync);
  const ended = events.find((event) => event.type === 'rolloutEnded');
  expect(ended).toMatchObject({
    reason: 'environmentFailed',
    failure: { who: 'environment', message: expect.stringMatching(message), ...(line ? { file, line } : {}) },
  });
  expect(events.at(-1)).toMatchObject({ type: 'rewarded', reward: null });
});

it('an export named sync that is not a function is reported', async () => {
  await expect(played('const sync = 7;')).rejects.toThrow(/The export sync is not a function/);
});
