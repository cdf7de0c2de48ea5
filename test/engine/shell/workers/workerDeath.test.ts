import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { hashOf, openDatabase } from '../../../../src/engine/core/world/database.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { readRecording } from '../../../../src/engine/shell/records/recording.ts';
import { startOf } from '../../../../src/engine/shell/start.ts';
import { openSupervisor } from '../../../../src/engine/shell/supervisor.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const root = realpathSync(temporaryFolder('deaths'));
afterAll(() => rmSync(root, { recursive: true }));

const tools = `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { chairs: Record<string, { colour: string }> } }>();
const input = z.object({ chair: z.string() });
export const look = tool({ description: 'Look.', effect: 'read', input, run: ({ chair }, { db }) => db.chairs[chair] });
export const wait = tool({ description: 'Wait.', effect: 'read', input, timeoutMs: 600_000, run: async () => { const { existsSync } = process.getBuiltinModule('node:fs'); while (!existsSync('go')) await new Promise((later) => setTimeout(later, 20)); return 'ok'; } });
export const loop = tool({ description: 'Never ends.', effect: 'read', timeoutMs: 300, input, run: () => { for (;;) {} } });
export const leave = tool({ description: 'Ends the process.', effect: 'read', input, run: () => process.exit(1) });
`;

const script = (calls: readonly string[]) => [...calls.map((tool) => [{ tool, arguments: { chair: 'A1' } }]), 'Done.'];
/** `wait` waits for a file in the domain's folder. */
const tasks = {
  good: ['look', 'wait', ...Array(18).fill('look')],
  hangs: ['look', 'loop'],
  leaves: ['look', 'look', 'leave'],
};

/** A domain on the disk whose tasks are played by a scripted agent. */
function writeDomain(): string {
  const folder = join(root, 'chairs');
  const files: Record<string, unknown> = {
    'domain.yaml': { name: 'chairs', turnCap: 50 },
    'database.json': { chairs: { A1: { colour: 'blue' } } },
    'personas/plain.persona.yaml': { id: 'plain', description: 'Plain.' },
    'tasks/all.task.yaml': Object.entries(tasks).map(([id, calls]) => ({
      id,
      persona: 'plain',
      user: { goal: 'Look at your chair A1.', known: { chair: 'A1' } },
      actions: [],
      script: script(calls),
    })),
  };
  for (const name of ['personas', 'tasks']) mkdirSync(join(folder, name), { recursive: true });
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value));
  writeFileSync(join(folder, 'policy.md'), '- Look first.\n');
  writeFileSync(join(folder, 'tools.ts'), tools);
  return folder;
}

test('a hung and an exiting rollout end with the reason; the others continue from their events', async () => {
  const folder = writeDomain();
  const domain = loadDomain(folder);
  expect(domain.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const supervisor = await openSupervisor(domain);
  const never = () => Promise.reject(new Error('no seat is outside'));
  const start = (id: string) => {
    const task = supervisor.domain.tasks.find((each) => each.id === id);
    if (!task) throw new Error(id);
    const from = startOf(supervisor.domain, hashOf(openDatabase(supervisor.loaded.world.agent)), task, {
      seed: '1',
      trial: 0,
      basis: 'evaluate',
      agent: { type: 'scripted' },
      user: { type: 'agenda' },
    } as Parameters<typeof startOf>[3]);
    const recording = join(root, `${id}.traj.jsonl`);
    return supervisor.start({
      task,
      from,
      seats: { agent: 'scripted', user: 'agenda' },
      externalSeats: { agent: never, user: never, simulate: never },
      recording,
    }).closed;
  };
  try {
    const playing = start('good');
    const [hangs, leaves] = await Promise.all([start('hangs'), start('leaves')]);
    writeFileSync(join(folder, 'go'), '');
    const good = await playing;
    expect(good).toMatchObject({ endReason: 'userStopped', failure: null });
    expect(good.events.filter(({ type }) => type === 'toolReturned')).toHaveLength(20);
    expect(hangs).toMatchObject({
      endReason: 'environmentFailed',
      reward: null,
      failure: {
        code: 'tool/hung',
        file: join(folder, 'tools.ts'),
        line: 7,
        message: expect.stringContaining('the tool loop'),
      },
    });
    expect(hangs.events.filter(({ type }) => type === 'toolReturned')).toHaveLength(1);
    expect(leaves).toMatchObject({
      endReason: 'environmentFailed',
      reward: null,
      failure: { code: 'worker/exited', line: 8, message: 'the tool leave called process.exit(1)' },
    });
    for (const name of readdirSync(root).filter((each) => each.endsWith('.traj.jsonl'))) {
      expect(readRecording(join(root, name))).toMatchObject({ problems: [] });
    }
  } finally {
    await supervisor.close();
  }
});

test('a domain whose code cannot be loaded leaves no worker behind', async () => {
  const folder = writeDomain();
  writeFileSync(join(folder, 'tools.ts'), 'throw new Error("no chairs today");\n');
  await expect(openSupervisor(loadDomain(folder), { workers: 2 })).rejects.toThrow('no chairs today');
  const workers = () =>
    spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line.includes(`"folder":"${folder}"`));
  await vi.waitFor(() => expect(workers()).toEqual([]), { timeout: 120_000 });
});
