import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../../../engine/shell/files/fault.ts';
import { trainerFolder } from '../../python/pythonEnvironment.ts';
import { type RayJobs, wordsOfJob } from './jobs.ts';

/** A question to a cluster: a script of the trainer that runs alone there and answers with one marked line of JSON. */
export type ClusterQuestion = {
  readonly script: 'cluster_status.py' | 'checkpoint.py';
  /** Its arguments, as a shell reads them. */
  readonly words: string;
  /** The prefix of its answer. */
  readonly mark: string;
  /** Returns the error to throw if the cluster does not answer. */
  readonly unanswered: (why: string) => Fault;
};

/** Asks with its own small job; returns the answer, and every line that the job printed. */
export async function askCluster(
  jobs: RayJobs,
  { script, words, mark, unanswered }: ClusterQuestion,
  signal: AbortSignal,
): Promise<{ readonly answer: unknown; readonly lines: readonly string[] }> {
  const text = readFileSync(join(trainerFolder(), 'rehearsal_trainer', 'backends', 'verl', script));
  // A shell of the cluster reads the command line, so the script travels in letters that no shell changes.
  const code = `import base64; exec(base64.b64decode('${text.toString('base64')}'))`;
  const { job, logs } = await jobs.run({ entrypoint: `python -c "${code}" ${words}`, runtime_env: {} }, signal);
  const lines = logs.split('\n');
  const said = lines.find((line) => line.startsWith(`${mark} `));
  if (said === undefined) throw unanswered(wordsOfJob(job, logs));
  return { answer: JSON.parse(said.slice(mark.length)), lines };
}
