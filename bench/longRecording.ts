import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Recorded, RolloutEvent } from '../src/engine/core/events/event.ts';
import { loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../src/engine/shell/records/ledger.ts';
import {
  openRecording,
  openSidecar,
  readRecording,
  readSidecar,
  type SidecarLine,
  sidecarPath,
} from '../src/engine/shell/records/recording.ts';
import { runBatch } from '../src/engine/shell/runs/batch.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';

type Line = Pick<Recorded, 'event' | 'state'> & { readonly side: Omit<SidecarLine, 'n'> };

/**
 * Writes a recording with a number of events, and its sidecar. It has the conversations of real rollouts of order-desk
 * one after the other, the start of the first and the end of the last. Every reader accepts it, but it cannot be
 * replayed, because no such rollout took place.
 */
export async function writeLongRecording(path: string, count: number): Promise<void> {
  const rollouts = await rehearsed(Math.ceil(count / 20));
  const [first = []] = rollouts;
  const end = endOf(first);
  const lines: Line[] = first.slice(0, 1);
  for (let index = 0; lines.length < count - end.length; index += 1) {
    const rollout = rollouts[index];
    if (!rollout) throw new Error(`${rollouts.length} rollouts have fewer than ${count} events`);
    const talk = rollout.slice(1, rollout.length - endOf(rollout).length);
    const shift = lines.length - 1;
    lines.push(...talk.map((line) => ({ ...line, event: moved(line.event, shift, `r${index}_`) })));
  }
  const talk = lines.slice(0, count - end.length);
  const shift = talk.length - (first.length - end.length);
  const whole = [...talk, ...end.map((line) => ({ ...line, event: moved(line.event, shift, 'end_') }))];
  const recording = openRecording(path);
  const sidecar = openSidecar(sidecarPath(path));
  recording.append(...whole.map(({ event, state }, n) => ({ n, event, state })));
  sidecar.append(...whole.map(({ side }, n) => ({ ...side, n })));
  recording.close();
  sidecar.close();
}

/** Plays rollouts of the gold seat against the agenda. Returns them with their sidecars. */
async function rehearsed(count: number): Promise<readonly (readonly Line[])[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-bench-'));
  const domain = loadDomain('domains/order-desk');
  const supervisor = await openSupervisor(domain, { workers: 2 });
  try {
    const results = await runBatch(supervisor, {
      tasks: domain.tasks,
      trials: Math.ceil(count / domain.tasks.length),
      seed: 'long',
      basis: 'evaluate',
      agent: { type: 'gold' },
      user: { type: 'agenda' },
      concurrency: 16,
      folder,
      key: signingKey(join(folder, 'key.pem')),
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('no person is asked here')),
    });
    return results.map(({ recording: path }) => {
      const sides = readSidecar(sidecarPath(path)).lines;
      return readRecording(path).lines.map(({ event, state }, n) => {
        const { n: _, ...side } = sides[n] ?? { n, at: new Date(0).toISOString() };
        return { event, state, side };
      });
    });
  } finally {
    await supervisor.close();
    rmSync(folder, { recursive: true });
  }
}

/** Returns the lines after the conversation: its end, verdicts and reward. */
function endOf(lines: readonly Line[]): readonly Line[] {
  return lines.slice(lines.findIndex(({ event }) => event.type === 'rolloutEnded'));
}

/** An event so many steps later, with ids of calls that no other rollout's have. */
function moved(event: RolloutEvent, shift: number, ids: string): RolloutEvent {
  const text = JSON.stringify(event, (key, value: unknown) => {
    if (key === 'evidence') return (value as number[]).map((n) => n + shift);
    if (key === 'callId' && typeof value === 'string') return `${ids}${value}`;
    const isCall = key === 'call' || /^\d+$/.test(key);
    if (isCall && typeof value === 'object' && value !== null && 'id' in value && 'arguments' in value)
      return { ...value, id: `${ids}${String(value.id)}` };
    return value;
  });
  return JSON.parse(text) as RolloutEvent;
}
