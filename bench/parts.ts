// The parts of the bench. Each runs in a process of its own, so that no part inherits another one's heap.
import { spawn } from 'node:child_process';
import { rolloutFlags } from '../src/engine/shell/runtimeFlags.ts';
import { isOnce, type Measured, rounds } from './measure.ts';

export type Show = (row: Measured) => void;

type Part = () => Promise<(show: Show) => Promise<readonly Measured[]> | readonly Measured[]>;

/** By name, in the order of the table. Loaded where they run. */
export const parts: Readonly<Record<string, Part>> = {
  database: async () => (await import('./rollouts.ts')).measureWrite,
  promise: async () => (await import('./peer.ts')).measurePromise,
  rollouts: async () => {
    const { measureRollouts } = await import('./rollouts.ts');
    return () => measureRollouts(rounds(50));
  },
  tau2: async () => (await import('./tau2.ts')).measureTau2,
  batch: async () => (await import('./batch.ts')).measureBatch,
  memory: async () => {
    const { measureLive } = await import('./rollouts.ts');
    return () => measureLive(256, 10);
  },
  training: async () => (await import('./training.ts')).measureTraining,
  sandbox: async () => (await import('./sandbox.ts')).measureSandbox,
  gpu: async () => (await import('./gpu.ts')).measureGpu,
  debugger: async () => (await import('./debugger.ts')).measureDebugger,
  language: async () => (await import('./language.ts')).measureLanguage,
  editor: async () => (await import('./editor.ts')).measureEditor,
  trajectory: async () => (await import('./trajectory.ts')).measureTrajectory,
};

/** The last line of a part's process that did not run to its end. */
export type Absence = { readonly absent: string; readonly isSkipped: boolean; readonly install?: string };

/** Runs a part of the bundled bench in its process and shows its rows as they come. Gives why it ended early, where it did. */
export async function runPart(program: string, name: string, show: Show): Promise<Absence | null> {
  // As the command line runs.
  const args = [...rolloutFlags, program, '--part', name, ...(isOnce ? ['--once'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let rest = '';
  let said = '';
  let absence: Absence | null = null;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const row = JSON.parse(line) as Measured | Absence;
      if ('absent' in row) absence = row;
      else show(row);
    }
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (absence || code === 0) return absence;
  return { absent: `ended with ${code}: ${said.trim().split('\n').slice(-3).join(' | ')}`, isSkipped: false };
}
