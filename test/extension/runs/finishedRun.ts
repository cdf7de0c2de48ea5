import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { openLedger, type Receipt, signingKey } from '../../../src/engine/shell/records/ledger.ts';
import { writeRunFile } from '../../../src/engine/shell/records/runFile.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** A key that signs the ledgers of these runs. */
export const key = signingKey(join(temporaryFolder('rehearsal-results'), 'key.pem'));

export type Trial = {
  readonly task: string;
  readonly trial?: number;
  readonly reward: number | null;
  readonly fork?: boolean;
};

/** Creates a run's folder with these finished trials; `minute` orders the runs in time. */
export function finishedRun(
  runs: string,
  name: string,
  minute: number,
  trials: readonly Trial[],
  of: string,
  agent = 'gold',
): string {
  const folder = join(runs, name);
  mkdirSync(folder, { recursive: true });
  writeRunFile(folder, {
    domain: 'desk',
    folder: of,
    seed: '1',
    trials: 1,
    basis: 'evaluate',
    agent,
    user: 'agenda',
    tasks: trials.map(({ task }) => task),
    tools: [],
    policyHash: 'p',
    publicKey: key.publicKey,
  } as unknown as Parameters<typeof writeRunFile>[1]);
  const { receive: sign } = openLedger(join(folder, 'ledger.jsonl'), key);
  for (const { task, trial = 0, reward, fork } of trials) sign(receipt(task, trial, reward, fork));
  const time = new Date(Date.UTC(2026, 0, 1, 0, minute));
  utimesSync(join(folder, 'ledger.jsonl'), time, time);
  return folder;
}

/** Returns the receipt of a finished trial. */
export function receipt(task: string, trial: number, reward: number | null, fork = false): Receipt {
  const rollout = `${task}.${trial}${fork ? '.fork-1' : ''}`;
  return {
    rollout,
    recording: `${rollout}.traj.jsonl`,
    task: { id: task, hash: 'h' },
    trial,
    seed: '1',
    policyHash: 'p',
    basis: 'evaluate',
    reward,
    endReason: 'userStopped',
    databaseDiff: 'd',
    chain: 'c',
    sidecarChain: 's',
  };
}
