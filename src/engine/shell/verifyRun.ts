import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Receipt, readLedger } from './ledger.ts';
import { chained, chainStart, readRecording, sidecarPath } from './recording.ts';

export type RunProblem = { readonly file: string; readonly line: number; readonly message: string };
export type Verified = { readonly checked: number; readonly problems: readonly RunProblem[] };

/** Checks one recording and its sidecar by their own chains. */
export function verifyRecording(path: string): Verified {
  const { problems } = readRecording(path);
  const own = problems.map((problem) => ({ file: path, ...problem }));
  return { checked: 1, problems: [...own, ...checkSidecar(sidecarPath(path)).problems] };
}

/**
 * Checks a run's folder: each receipt's signature against a key from outside the record, and each recording
 * and sidecar against the chain heads, the reward and the end that its receipt vouches for.
 */
export function verifyRun(folder: string, trustedKey: string): Verified {
  const ledger = join(folder, 'ledger.jsonl');
  const { receipts, problems } = readLedger(ledger, trustedKey);
  const recordings = readdirSync(folder).filter((name) => name.endsWith('.traj.jsonl'));
  const unvouched = recordings.filter(
    (name) => !name.includes('.fork-') && !receipts.some(({ recording }) => recording === name),
  );
  return {
    checked: receipts.length,
    problems: [
      ...problems.map((problem) => ({ file: ledger, ...problem })),
      ...receipts.flatMap((receipt, index) => verifyReceipt(folder, receipt, { file: ledger, line: index + 1 })),
      ...unvouched.map((name) => ({
        file: join(folder, name),
        line: 1,
        message: 'has no receipt: the rollout was not finished, or its receipt was dropped',
      })),
    ],
  };
}

function verifyReceipt(
  folder: string,
  receipt: Receipt,
  at: { readonly file: string; readonly line: number },
): readonly RunProblem[] {
  const path = join(folder, basename(receipt.recording));
  if (!existsSync(path)) return [{ ...at, message: `${receipt.recording} is missing` }];
  const { lines, problems } = readRecording(path);
  const found: RunProblem[] = problems.map((problem) => ({ file: path, ...problem }));
  const last = lines.at(-1);
  if (found.length === 0 && last?.chain !== receipt.chain)
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
  const sidecar = checkSidecar(sidecarPath(path));
  found.push(...sidecar.problems);
  if (sidecar.problems.length === 0 && sidecar.head !== receipt.sidecarChain)
    found.push({
      file: sidecarPath(path),
      line: 1,
      message: 'ends elsewhere than its receipt says: lines were cut off or added',
    });
  return found;
}

function checkSidecar(path: string): { readonly head: string; readonly problems: readonly RunProblem[] } {
  if (!existsSync(path))
    return { head: chainStart, problems: [{ file: path, line: 1, message: 'the sidecar is missing' }] };
  let head = chainStart;
  const problems: RunProblem[] = [];
  for (const [index, raw] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (raw === '') continue;
    const at = { file: path, line: index + 1 };
    let line: { chain?: string };
    try {
      line = JSON.parse(raw);
    } catch {
      problems.push({ ...at, message: 'is not JSON' });
      break;
    }
    const { chain, ...rest } = line;
    if (chained(head, JSON.stringify(rest)) !== chain)
      problems.push({ ...at, message: 'was changed, dropped, added or swapped: its chain does not fit' });
    head = chain ?? '';
  }
  return { head, problems };
}
