import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Recorded, RolloutEvent } from '../core/event.ts';
import { fromDisk } from './disk.ts';
import { type Receipt, readLedger } from './ledger.ts';
import { chainStart, type ReadRecording, readRecording, readSidecar, sidecarPath } from './recording.ts';
import { isForkName, isRecording, recordingEnding } from './recordingName.ts';
import { type RunFile, readRunFile, runFileHash } from './runFile.ts';
import { isFork, settingsThatDiffer } from './runRecord.ts';

export type RunProblem = { readonly file: string; readonly line: number; readonly message: string };
export type Verified = { readonly checked: number; readonly problems: readonly RunProblem[] };

const sidecarEnd = '.sidecar.jsonl';

/** Checks one recording and its sidecar by their own chains, and against each other. */
export function verifyRecording(path: string): Verified {
  const recording = readRecording(path);
  const sidecar = readSidecarOf(path);
  const isShort = sidecar.problems.length === 0 && sidecar.count !== recording.lines.length;
  const lengths = isShort
    ? [
        {
          file: sidecarPath(path),
          line: Math.max(sidecar.count, 1),
          message: `has ${sidecar.count} lines for ${recording.lines.length} events: lines were cut off or added`,
        },
      ]
    : [];
  const found = [...problemsOf(recording), ...sidecar.problems, ...lengths];
  return { checked: 1, problems: [...found, ...verifyParent(recording)] };
}

/**
 * Checks a run's folder: each line of the ledger against a key from outside the record, `run.json` against its line,
 * each recording and sidecar against the chain heads, the reward and the end that its receipt vouches for, what each
 * says of itself against `run.json`, and each fork against its parent. Nobody vouches for a recording without a receipt: each is a problem.
 */
export function verifyRun(folder: string, trustedKey: string): Verified {
  const ledger = join(folder, 'ledger.jsonl');
  const { receipts, lines, runHash, problems } = readLedger(ledger, trustedKey);
  const names = fromDisk(folder, () => readdirSync(folder)).sort();
  const file = join(folder, 'run.json');
  const read = fromDisk(file, () => runFileHash(folder)) === runHash ? readRunFile(folder) : null;
  // What is wrong with a run.json that nobody vouches for is not to be found in its recordings.
  const run = typeof read === 'string' ? null : read;
  const vouched = new Set(receipts.map(({ recording }) => basename(recording)));
  const recordings = names.filter(isRecording);
  const strangers = recordings.filter((name) => !vouched.has(name));
  return {
    checked: receipts.length + strangers.length,
    problems: [
      ...(existsSync(ledger) ? encodingProblems(ledger) : missingLedger(ledger, recordings)),
      ...problems.map((problem) => ({ file: ledger, ...problem })),
      ...verifyRunFile(folder, runHash),
      ...receipts.flatMap((receipt, index) =>
        verifyReceipt(folder, receipt, { file: ledger, line: lines[index] ?? index + 1 }, run),
      ),
      ...strangers.flatMap((name) => verifyStranger(join(folder, name), run)),
      ...names
        .filter((name) => name.endsWith(sidecarEnd))
        .filter((name) => !existsSync(join(folder, recordingOf(name))) && !vouched.has(recordingOf(name)))
        .map((name) => ({
          file: join(folder, name),
          line: 1,
          message: 'has no recording: it was dropped, or this added',
        })),
    ],
  };
}

function missingLedger(file: string, recordings: readonly string[]): readonly RunProblem[] {
  if (recordings.length === 0) return [];
  return [{ file, line: 1, message: 'is missing: nothing vouches for the recordings of this folder' }];
}

function verifyRunFile(folder: string, vouched: string | null): readonly RunProblem[] {
  const file = join(folder, 'run.json');
  const found = fromDisk(file, () => runFileHash(folder));
  if (found !== null && found === vouched)
    return typeof readRunFile(folder) === 'string'
      ? [{ file, line: 1, message: 'is vouched for, and says of no run what it is' }]
      : [];
  const message =
    found === null
      ? 'is missing'
      : vouched === null
        ? 'no line of the ledger vouches for it: its line was dropped, or the run is older than such lines'
        : 'was changed after it was written: the ledger vouches for other bytes';
  return [{ file, line: 1, message }];
}

/** A recording of a rollout, fork or not, that no receipt vouches for. */
function verifyStranger(path: string, run: RunFile | null): readonly RunProblem[] {
  const recording = readRecording(path);
  const { lines } = recording;
  const message = whyUnvouched(lines);
  return [
    ...verifyRecording(path).problems,
    ...settingProblems(recording, run),
    { file: path, line: Math.max(1, lines.length), message },
  ];
}

/** Where a rollout says that it is of another run than `run.json`. A fork may have seats of its own. */
function settingProblems({ path, lines }: ReadRecording, run: RunFile | null): readonly RunProblem[] {
  const first = lines[0]?.event;
  if (!run || first?.type !== 'rolloutStarted' || isFork(basename(path), lines)) return [];
  const { domain, seed, basis, policyHash, seats } = first;
  // Not every run says who judges.
  const judge = run.judge === undefined ? undefined : (seats.judge ?? run.judge);
  const own = { domain: domain.name, seed, basis, policyHash, agent: seats.agent, user: seats.user, judge };
  return settingsThatDiffer(own, run).map(({ label, values: [said, is] }) => ({
    file: path,
    line: 1,
    message: `rolloutStarted says that the ${label} is ${said}, run.json says ${is}`,
  }));
}

/** A rollout that was cancelled, or whose process died, has no receipt; one that came to its end has lost it. */
function whyUnvouched(lines: readonly Recorded[]): string {
  const end = lines.findLast(({ event }) => event.type === 'rolloutEnded')?.event;
  const isRewarded = lines.some(({ event }) => event.type === 'rewarded');
  if (isRewarded && end?.type === 'rolloutEnded' && end.reason !== 'cancelled')
    return 'has no receipt although it is finished: its receipt was dropped, or never written';
  return `has no receipt: the rollout is unfinished, its last event is ${lines.at(-1)?.event.type ?? 'missing'}`;
}

type Place = { readonly file: string; readonly line: number };

function verifyReceipt(folder: string, receipt: Receipt, at: Place, run: RunFile | null): readonly RunProblem[] {
  const path = join(folder, basename(receipt.recording));
  if (!existsSync(path)) return [{ ...at, message: `${receipt.recording} is missing` }];
  const recording = readRecording(path);
  const sidecar = readSidecarOf(path);
  const vouchedBy = `its receipt (${basename(at.file)}:${at.line})`;
  return [
    ...problemsOf(recording),
    ...(recording.problems.length === 0 ? endProblems(recording, receipt, vouchedBy) : []),
    ...settingProblems(recording, run),
    ...verifyParent(recording),
    ...sidecar.problems,
    ...(sidecar.problems.length === 0 && sidecar.head !== receipt.sidecarChain
      ? [sidecarEndProblem(sidecar, recording.lines.length, receipt, vouchedBy)]
      : []),
  ];
}

/** Where a recording whose own chain holds differs from what its receipt says. */
function endProblems({ path, lines }: ReadRecording, receipt: Receipt, vouchedBy: string): readonly RunProblem[] {
  if (lines.at(-1)?.chain === receipt.chain) return [];
  const end = lines.findIndex(({ chain }) => chain === receipt.chain);
  const added = lines[end + 1];
  if (end >= 0 && added)
    return [
      {
        file: path,
        line: end + 2,
        message: `event ${added.n} (${added.event.type}) was added after the end that ${vouchedBy} vouches for`,
      },
    ];
  const claims = claimProblems(path, lines, receipt, vouchedBy);
  const last = lines.at(-1);
  if (!last) return [];
  if (last.event.type !== 'rewarded')
    return [
      ...claims,
      {
        file: path,
        line: lines.length,
        message: `ends after event ${last.n}, before the end that ${vouchedBy} vouches for: events were cut off`,
      },
    ];
  const message = `was written anew: its chain holds, and is not the one that ${vouchedBy} vouches for`;
  return [...claims, { file: path, line: lines.length, message }];
}

/** What a recording says of itself and its receipt says otherwise. */
function claimProblems(
  file: string,
  lines: readonly Recorded[],
  receipt: Receipt,
  vouchedBy: string,
): readonly RunProblem[] {
  return lines.flatMap(({ event }, index) =>
    claimsOf(event, receipt)
      .filter(([, said, signed]) => said !== signed)
      .map(([what, said, signed]) => ({
        file,
        line: index + 1,
        message: `${event.type} says ${what} ${said}, ${vouchedBy} says ${signed}`,
      })),
  );
}

type Claim = readonly [what: string, said: string | number | null, signed: string | number | null];

function claimsOf(event: RolloutEvent, receipt: Receipt): readonly Claim[] {
  if (event.type === 'rolloutEnded') return [['end', event.reason, receipt.endReason]];
  if (event.type === 'rewarded') return [['reward', event.reward, receipt.reward]];
  if (event.type !== 'rolloutStarted') return [];
  return [
    ['task', event.task.id, receipt.task.id],
    ['task hash', event.task.hash, receipt.task.hash],
    ['trial', event.trial, receipt.trial],
    ['seed', event.seed, receipt.seed],
    ['policy hash', event.policyHash, receipt.policyHash],
    ['basis', event.basis, receipt.basis],
  ];
}

/** A fork beside its parent begins with the parent's own events, up to the one it names. */
function verifyParent({ path, lines }: ReadRecording): readonly RunProblem[] {
  const first = lines[0]?.event;
  const parent = first?.type === 'rolloutStarted' ? first.parent : undefined;
  if (!parent || !isForkName(path)) return [];
  const file = join(dirname(path), basename(parent.recording));
  if (!existsSync(file)) return [{ file: path, line: 1, message: `forks from ${parent.recording}, which is missing` }];
  const shared = readRecording(file).lines;
  if (shared[parent.event]?.chain !== parent.chain)
    return [
      {
        file: path,
        line: 1,
        message: `forks from event ${parent.event} of ${parent.recording}, which has another chain there: one of the two was changed`,
      },
    ];
  const at = lines.findIndex(
    ({ event, state }, index) =>
      index > 0 &&
      index <= parent.event &&
      (state !== shared[index]?.state || JSON.stringify(event) !== JSON.stringify(shared[index]?.event)),
  );
  if (at < 0) return [];
  return [
    { file: path, line: at + 1, message: `event ${at} is not the one of ${parent.recording}, with which it is shared` },
  ];
}

type Sidecar = {
  readonly file: string;
  readonly head: string;
  readonly chains: readonly string[];
  readonly count: number;
  readonly problems: readonly RunProblem[];
};

function readSidecarOf(recording: string): Sidecar {
  const file = sidecarPath(recording);
  const { chains, problems } = readSidecar(file);
  return {
    file,
    head: chains.at(-1) ?? chainStart,
    chains,
    count: chains.length,
    problems: [...encodingProblems(file), ...problems.map((problem) => ({ file, ...problem }))],
  };
}

/** Where a sidecar whose own chain holds parts from what its receipt says. */
function sidecarEndProblem(
  { file, chains, count }: Sidecar,
  events: number,
  receipt: Receipt,
  vouchedBy: string,
): RunProblem {
  const end = chains.indexOf(receipt.sidecarChain);
  if (end >= 0) return { file, line: end + 2, message: `a line was added after the end that ${vouchedBy} vouches for` };
  const line = Math.max(count, 1);
  if (count < events)
    return {
      file,
      line,
      message: `has ${count} lines for ${events} events: lines were cut off before the end that ${vouchedBy} vouches for`,
    };
  return { file, line, message: `was written anew: its chain holds, and is not the one that ${vouchedBy} vouches for` };
}

function problemsOf({ path, lines, problems }: ReadRecording): readonly RunProblem[] {
  const nothing = { file: path, line: 1, message: 'holds no event: the file was cut short' };
  if (lines.length === 0 && problems.length === 0) return [nothing];
  return [...encodingProblems(path), ...problems.map((problem) => ({ file: path, ...problem }))];
}

/** Bytes that are no UTF-8 read like others of their kind, so that a text can't tell them apart. */
function encodingProblems(file: string): readonly RunProblem[] {
  const bytes = existsSync(file) ? fromDisk(file, () => readFileSync(file)) : Buffer.of();
  if (isUtf8(bytes)) return [];
  let [line, from] = [1, 0];
  for (let end = bytes.indexOf(10); end >= 0 && isUtf8(bytes.subarray(from, end)); end = bytes.indexOf(10, from)) {
    from = end + 1;
    line += 1;
  }
  return [{ file, line, message: 'is no UTF-8 text: bytes were changed' }];
}

function recordingOf(sidecar: string): string {
  return sidecar.replace(sidecarEnd, recordingEnding);
}
