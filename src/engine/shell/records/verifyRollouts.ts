import { join } from 'node:path';
import { sidecarPath } from './recording.ts';
import { runFileName } from './runFiles.ts';
import type { RunRecord } from './runRecord.ts';
import { type RunProblem, verifyRun } from './verifyRun.ts';

/** Problems with the folder of a run that concern what is measured of it. */
export type Unverified = {
  /** In `run.json` and the ledger, which concern every rollout. */
  readonly ofRun: readonly RunProblem[];
  /** In a recording or its sidecar, by the recording's path. */
  readonly ofRollout: ReadonlyMap<string, readonly RunProblem[]>;
};

/** Checks a run like `verifyRun`. Leaves out other files of its folder, forks and rollouts that are not finished. */
export function unverifiedIn({ folder, rollouts }: RunRecord, trustedKey: string): Unverified {
  const { problems } = verifyRun(folder, trustedKey);
  const records = new Set([runFileName, 'ledger.jsonl'].map((name) => join(folder, name)));
  const byFile = Map.groupBy(problems, ({ file }) => file);
  const ofRollout = rollouts.map(({ recording }) => {
    const found = [recording, sidecarPath(recording)].flatMap((file) => byFile.get(file) ?? []);
    return [recording, found] as const;
  });
  return {
    ofRun: problems.filter(({ file }) => records.has(file)),
    ofRollout: new Map(ofRollout.filter(([, found]) => found.length > 0)),
  };
}

export const problemText = ({ file, line, message }: RunProblem): string => `${file}:${line}: ${message}`;
