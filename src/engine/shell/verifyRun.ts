import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Recorded } from '../core/event.ts';
import { type Receipt, readLedger } from './ledger.ts';
import { readRecording, readSidecar, sidecarPath } from './recording.ts';
import { runFileHash } from './runFile.ts';

export type RunProblem = { readonly file: string; readonly line: number; readonly message: string };
export type Verified = { readonly checked: number; readonly problems: readonly RunProblem[] };

/** Checks one recording and its sidecar by their own chains. */
export function verifyRecording(path: string): Verified {
  return { checked: 1, problems: readChains(path).problems };
}

/**
 * Checks a run's folder: each line of the ledger against a key from outside the record, `run.json` against its line,
 * and each recording and sidecar against the chain heads, the reward and the end that its receipt vouches for. A
 * recording without a receipt, of a fork or not, is a problem too: nobody vouches for it.
 */
export function verifyRun(folder: string, trustedKey: string): Verified {
  const ledger = join(folder, 'ledger.jsonl');
  const { receipts, lines, runHash, problems } = readLedger(ledger, trustedKey);
  const vouched = new Set(receipts.map(({ recording }) => recording));
  const unvouched = readdirSync(folder).filter((name) => name.endsWith('.traj.jsonl') && !vouched.has(name));
  return {
    checked: receipts.length + unvouched.length,
    problems: [
      ...problems.map((problem) => ({ file: ledger, ...problem })),
      ...verifyRunFile(folder, runHash),
      ...receipts.flatMap((receipt, index) =>
        verifyReceipt(folder, receipt, { file: ledger, line: lines[index] ?? 1 }),
      ),
      ...unvouched.flatMap((name) => verifyUnvouched(join(folder, name))),
    ],
  };
}

function verifyRunFile(folder: string, vouched: string | null): readonly RunProblem[] {
  const found = runFileHash(folder);
  if (found !== null && found === vouched) return [];
  const message =
    found === null
      ? 'is missing'
      : vouched === null
        ? 'no line of the ledger vouches for it: its line was dropped, or the run is older than such lines'
        : 'was changed after it was written: the ledger vouches for other bytes';
  return [{ file: join(folder, 'run.json'), line: 1, message }];
}

function verifyReceipt(
  folder: string,
  receipt: Receipt,
  at: { readonly file: string; readonly line: number },
): readonly RunProblem[] {
  const path = join(folder, basename(receipt.recording));
  if (!existsSync(path)) return [{ ...at, message: `${receipt.recording} is missing` }];
  const { lines, problems, isRecordingWhole, sidecar } = readChains(path);
  const found: RunProblem[] = [...problems];
  if (isRecordingWhole && lines.at(-1)?.chain !== receipt.chain)
    found.push({
      file: path,
      line: lines.length,
      message: 'ends elsewhere than its receipt says: events were cut off or added at the end',
    });
  const rewarded = lines.findLast(({ event }) => event.type === 'rewarded')?.event;
  if (rewarded?.type === 'rewarded' && rewarded.reward !== receipt.reward)
    found.push({
      file: path,
      line: lines.length,
      message: `says reward ${rewarded.reward}, its receipt ${receipt.reward}`,
    });
  if (sidecar.problems.length === 0 && sidecar.head !== receipt.sidecarChain)
    found.push({
      file: sidecarPath(path),
      line: 1,
      message: 'ends elsewhere than its receipt says: lines were cut off or added',
    });
  return found;
}

function verifyUnvouched(path: string): readonly RunProblem[] {
  const { lines, problems } = readChains(path);
  return [...problems, { file: path, line: Math.max(1, lines.length), message: whyUnvouched(lines) }];
}

/** A rollout that was cancelled, or whose process died, has no receipt; one that came to its end has lost it. */
function whyUnvouched(lines: readonly Recorded[]): string {
  const end = lines.findLast(({ event }) => event.type === 'rolloutEnded')?.event;
  const isRewarded = lines.some(({ event }) => event.type === 'rewarded');
  if (isRewarded && end?.type === 'rolloutEnded' && end.reason !== 'cancelled')
    return 'has no receipt although it is finished: its receipt was dropped, or never written';
  return `has no receipt: the rollout is unfinished, its last event is ${lines.at(-1)?.event.type ?? 'missing'}`;
}

/** A recording and its sidecar as they stand, and where their chains break. */
function readChains(path: string) {
  const recording = readRecording(path);
  const sidecar = readSidecar(sidecarPath(path));
  return {
    lines: recording.lines,
    isRecordingWhole: recording.problems.length === 0,
    sidecar,
    problems: [
      ...recording.problems.map((problem): RunProblem => ({ file: path, ...problem })),
      ...sidecar.problems.map((problem): RunProblem => ({ file: sidecarPath(path), ...problem })),
    ],
  };
}
