// The parts of the bench. Each runs in its own process, so that no part inherits the heap of another.
import { spawn } from 'node:child_process';
import { rolloutFlags } from '../src/engine/shell/processes/runtimeFlags.ts';
import { isOnce, type Measured, rounds, type Show } from './measure.ts';

type Part = () => Promise<(show: Show) => Promise<readonly Measured[]> | readonly Measured[]>;

/** The parts by name, in the order of the table. A part is loaded when it runs. */
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
  import: async () => (await import('./import.ts')).measureImport,
};

/** Why a part did not run to its end: the last line of its process. */
export type Absence = { readonly absent: string; readonly isSkipped: boolean; readonly install?: string };

/** Runs a part of the bundled bench in its own process and shows its rows. Returns why it ended early, if it did. */
export async function runPart(program: string, name: string, show: Show): Promise<Absence | null> {
  // The command line runs with the same options.
  const args = [...rolloutFlags, program, '--part', name, ...(isOnce ? ['--once'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let rest = '';
  let errors = '';
  let absence: Absence | null = null;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
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
  return { absent: `ended with ${code}: ${errors.trim().split('\n').slice(-3).join(' | ')}`, isSkipped: false };
}
