import { realpathSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../../../../src/engine/shell/records/ledger.ts';
import { readRecording } from '../../../../src/engine/shell/records/recording.ts';
import { runBatch } from '../../../../src/engine/shell/runs/batch.ts';
import { openSupervisor } from '../../../../src/engine/shell/supervisor.ts';
import { desk, folderOf } from '../load/domainFolder.ts';

const python = `from rehearsal import tool


@tool(effect="write")
def power(db, on: bool) -> str:
    """Switch the socket."""
    db.socket.on = on
    return "ok"


@tool(effect="write", owner="user")
def press(db, user_db) -> dict:
    """Press the switch of the lamp."""
    user_db.lamp.pressed = True
    return {"lamp": "bright" if user_db.lamp.fed else "dark"}


@tool(effect="read")
def meter(db) -> int:
    """Read the meter."""
    return db.socket.load
`;
const sync = `import type { SyncContext } from 'rehearsal';
type Sides = { agent: { socket: { on: boolean; load: number } }; user: { lamp: { fed: boolean; pressed: boolean } } };
export function sync({ db, userDb }: SyncContext<Sides>): void {
  userDb.lamp.fed = db.socket.on;
  db.socket.load = userDb.lamp.fed && userDb.lamp.pressed ? 40 : 0;
}
`;
const task = `id: light
persona: plain
user: { goal: Shine., script: [Dark., [{ tool: press }], It is bright.] }
script: [[{ tool: power, arguments: { on: true } }], Press it., [{ tool: meter }], Good.]
actions:
  - { tool: power, arguments: { on: true } }
  - { tool: press, by: user }
evaluate: [database]
`;

it('tools in Python of either side see what sync wrote', async () => {
  const folder = realpathSync(
    folderOf({
      ...desk,
      'domain.yaml': 'name: lamp\nuserDatabase: user.json\n',
      'rules.yaml': null,
      'tools.ts': sync,
      'tools.py': python,
      'tasks/first.task.yaml': task,
      'database.json': '{"socket": {"on": false, "load": 0}}',
      'user.json': '{"lamp": {"fed": false, "pressed": false}}',
    }),
  );
  const out = folderOf({});
  const supervisor = await openSupervisor(loadDomain(folder));
  try {
    const [result] = await runBatch(supervisor, {
      folder: out,
      tasks: supervisor.domain.tasks,
      trials: 1,
      seed: '1',
      basis: 'evaluate',
      agent: { type: 'scripted' },
      user: { type: 'scripted' },
      concurrency: 1,
      key: signingKey(`${out}/key`),
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('no person is asked')),
    });
    expect(result).toMatchObject({ reward: 1, toolCalls: 2 });
    const events = readRecording(result?.recording ?? '').lines.map(({ event }) => event);
    expect(events.flatMap((event) => (event.type === 'toolReturned' ? [event.content] : []))).toEqual([
      'ok',
      '{"lamp":"bright"}',
      '40',
    ]);
  } finally {
    await supervisor.close();
  }
});
