import { isUtf8 } from 'node:buffer';
import { type Dirent, existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Recorded, RolloutEvent } from '../../core/events/event.ts';
import { fileLimits, linesBeforeFault, readBounded } from '../files/boundedFile.ts';
import type { FileLine } from '../files/diagnostic.ts';
import { fromDisk } from '../files/disk.ts';
import { isUnverified } from '../rollout/effectEvents.ts';
import { type Receipt, type RunVoucher, readLedger } from './ledger.ts';
import { chainStart, type ReadRecording, readRecording, readSidecar, sidecarPath } from './recording.ts';
import { isForkName, isRecording, nameOf, originName, recordingEnding, rolloutName } from './recordingName.ts';
import { agentOfTask, type RunFile, readRunFile, runFileHash } from './runFile.ts';
import { runFileName } from './runFiles.ts';
import { lockFiles } from './runLock.ts';
import { isFork, settingsThatDiffer } from './runRecord.ts';

export type RunProblem = { readonly file: string; readonly line: number; readonly message: string };
export type Verified = { readonly checked: number; readonly problems: readonly RunProblem[] };

const sidecarEnd = '.sidecar.jsonl';

const noLinks: ReadonlySet<string> = new Set();

/**
 * Checks one recording and its sidecar by their own chains, and against each other.
 * @param links names in its folder that are not read, since they are not regular files
 */
export function verifyRecording(path: string, links = noLinks): Verified {
  const recording = readRecording(path);
  const sidecar = readSidecarOf(recording, links);
  const isShort = sidecar.problems.length === 0 && sidecar.isThere && sidecar.count !== recording.lines.length;
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
  return { checked: 1, problems: [...found, ...verifyParent(recording, links)] };
}

/** The result of verifying one recording. */
export type VerifiedRecording = Verified & {
  /** Whether a ledger is next to it; otherwise nothing vouches for it. */
  readonly hasLedger: boolean;
};

/**
 * Checks one recording like `verifyRun`, against its receipt in the ledger next to it, with each line of that ledger.
 * Without a ledger only the chains are checked.
 * @param trustedKey is asked for where there is a ledger
 */
export function verifySingle(path: string, trustedKey: () => string): VerifiedRecording {
  const [folder, name] = [dirname(path), basename(path)];
  const entries = fromDisk(folder, () => readdirSync(folder, { withFileTypes: true }));
  if (!entries.some((entry) => entry.name === ownFiles[1])) return { ...verifyRecording(path), hasLedger: false };
  const own = new Set([...ownFiles, name, basename(sidecarPath(path))]);
  const linked = entries.filter((entry) => own.has(entry.name)).flatMap((entry) => linkProblems(folder, entry));
  if (linked.length > 0) return { checked: 0, problems: linked, hasLedger: true };
  const { ledger, receipts, lines, problems, replaced, seen } = readRun(folder, entries, trustedKey());
  const places = receipts.flatMap((receipt, index) =>
    basename(receipt.recording) === name && !replaced.has(receipt)
      ? { receipt, at: { file: ledger, line: lines[index] ?? index + 1 } }
      : [],
  );
  return {
    checked: 1,
    problems: [
      ...encodingProblems(ledger),
      ...problems.map((problem) => ({ file: ledger, ...problem })),
      ...places.flatMap(({ receipt, at }) => verifyReceipt(receipt, at, seen)),
      ...(places.length === 0 ? verifyStranger(path, seen) : []),
    ],
    hasLedger: true,
  };
}

/** Reads the ledger and, where a line of it vouches for that, `run.json`. */
function readRun(folder: string, entries: readonly Dirent[], trustedKey: string) {
  const ledger = join(folder, ownFiles[1]);
  const { receipts, lines, run: voucher, problems } = readLedger(ledger, trustedKey);
  const file = join(folder, ownFiles[0]);
  const read = fromDisk(file, () => runFileHash(folder)) === voucher?.hash ? readRunFile(folder) : null;
  const regular = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
  const seen: Seen = {
    folder,
    // What is wrong with a run.json that no one vouches for is not to be found in its recordings.
    run: typeof read === 'object' ? read : null,
    regular,
    links: new Set(entries.flatMap(({ name }) => (regular.has(name) ? [] : name))),
    ends: new Map(),
  };
  return { ledger, receipts, lines, voucher, problems, replaced: replacedReceipts(receipts), seen };
}

/** The result of verifying the folder of a run. */
export type VerifiedRun = Verified & {
  /** The `id` in run.json; null where it is not vouched for, or is of a version that gave none. */
  readonly run: string | null;
  /** The number of rollouts that the run plans; null if it has no id. */
  readonly planned: number | null;
  /** The names of the promised rollouts that have no receipt, or whose recording is gone. */
  readonly missing: readonly string[];
  /** Those of them that have a fork: the debugger left them for it. */
  readonly left: readonly string[];
  /** Whether the ledger says that each promised rollout was finished. */
  readonly finished: boolean;
};

/**
 * Checks a run's folder: each line of the ledger against a key from outside the record, `run.json` against its line,
 * each recording and sidecar against the chain heads, the reward and the end that its receipt vouches for, what each
 * says about itself against `run.json`, and each fork against its parent. No one vouches for a recording without a
 * receipt: each is a problem. Problems are also links, files that are not of the run, and recordings that repeat
 * another one.
 * @param expectedRun the id that the run should have, where that is known from outside the record
 */
export function verifyRun(folder: string, trustedKey: string, expectedRun?: string): VerifiedRun {
  const entries = fromDisk(folder, () => readdirSync(folder, { withFileTypes: true }));
  const regular = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
  const linked = entries.flatMap((entry) => linkProblems(folder, entry));
  const isUnsafe = entries.some(({ name }) => isRecord(name) && !regular.has(name));
  if (isUnsafe)
    return { checked: 0, problems: linked, run: null, planned: null, missing: [], left: [], finished: false };
  const { ledger, receipts, lines, voucher, problems, replaced, seen } = readRun(folder, entries, trustedKey);
  const { run } = seen;
  const file = join(folder, ownFiles[0]);
  const names = [...regular].sort();
  const vouched = new Set(receipts.map(({ recording }) => basename(recording)));
  const recordings = names.filter(isRecording);
  const strangers = recordings.filter((name) => !vouched.has(name));
  const missing = missingRollouts(receipts, voucher, seen);
  const origins = new Set(recordings.filter(isForkName).map(originName));
  return {
    checked: receipts.length - replaced.size + strangers.length,
    run: run?.id ?? null,
    planned: run?.planned ? run.planned.length - (voucher?.refused?.length ?? 0) : null,
    missing,
    left: missing.filter((name) => origins.has(name)),
    finished: voucher?.finished === true,
    problems: [
      ...linked,
      ...(regular.has(ownFiles[1]) ? encodingProblems(ledger) : missingLedger(ledger, recordings)),
      ...problems.map((problem) => ({ file: ledger, ...problem })),
      ...verifyRunFile(folder, voucher?.hash ?? null),
      ...(expectedRun !== undefined && run?.id !== expectedRun
        ? [{ file, line: 1, message: `is of the run ${run?.id ?? 'without an id'}, not of ${expectedRun}` }]
        : []),
      ...receipts.flatMap((receipt, index) =>
        replaced.has(receipt) ? [] : verifyReceipt(receipt, { file: ledger, line: lines[index] ?? index + 1 }, seen),
      ),
      ...strangers.flatMap((name) => verifyStranger(join(folder, name), seen)),
      ...names
        .filter((name) => name.endsWith(sidecarEnd))
        .filter((name) => !regular.has(recordingOf(name)) && !vouched.has(recordingOf(name)))
        .map((name) => ({
          file: join(folder, name),
          line: 1,
          message: 'has no recording: the recording was removed, or this line was added',
        })),
      ...names
        .filter((name) => !isRecording(name) && !name.endsWith(sidecarEnd) && !isRecord(name) && !isOtherFile(name))
        .map((name) => ({
          file: join(folder, name),
          line: 1,
          message: 'is not a file of this run. Move it elsewhere',
        })),
    ],
  };
}

const ownFiles = [runFileName, 'ledger.jsonl'] as const;

/**
 * Returns what else lies in the folder of a run: its lock, what a killed process left of writing, and what macOS adds.
 */
const isOtherFile = (name: string) => lockFiles.test(name) || name === `${runFileName}.new` || name === '.DS_Store';

function isRecord(name: string): boolean {
  return (ownFiles as readonly string[]).includes(name);
}

/** The state of the folder while its recordings are read one after the other. */
type Seen = {
  readonly folder: string;
  readonly run: RunFile | null;
  /** The names of its regular files. */
  readonly regular: ReadonlySet<string>;
  /** The names of its links, and of what else is not a regular file. */
  readonly links: ReadonlySet<string>;
  /** By chain head, the recordings that were read before. */
  readonly ends: Map<string, string>;
};

/** A link can lead to a file of another run, and its target changes without this folder. */
function linkProblems(folder: string, entry: Dirent): readonly RunProblem[] {
  const file = join(folder, entry.name);
  const problem = (message: string) => [{ file, line: 1, message }];
  if (entry.isSymbolicLink()) return problem('is a symbolic link. Put a copy of its target in its place');
  if (!entry.isFile()) return problem('is not a regular file, so it is not of this run. Move it elsewhere');
  if (isOtherFile(entry.name)) return [];
  const links = lstatSync(file, { throwIfNoEntry: false })?.nlink ?? 1;
  return links > 1 ? problem(`is one of ${links} hard links to the same file. Put a copy in its place`) : [];
}

function missingRollouts(
  receipts: readonly Receipt[],
  voucher: RunVoucher | null,
  { run, regular, links }: Seen,
): readonly string[] {
  const isThere = ({ recording }: Receipt) => regular.has(basename(recording)) || links.has(basename(recording));
  const done = new Set([...receipts.filter(isThere).map(({ rollout }) => rollout), ...(voucher?.refused ?? [])]);
  return (run?.planned ?? []).filter((name) => !done.has(name));
}

/** Returns the receipts of rollouts without a reward that were run again: their recordings belong to later receipts. */
function replacedReceipts(receipts: readonly Receipt[]): ReadonlySet<Receipt> {
  const newest = new Map(receipts.map((receipt) => [receipt.rollout, receipt]));
  return new Set(receipts.filter((receipt) => receipt.reward === null && newest.get(receipt.rollout) !== receipt));
}

/** Returns where a recording belongs to another run, to no planned rollout, or repeats one that was read before. */
function strangeness(
  { path, lines }: ReadRecording,
  sidecar: Sidecar,
  rollout: string,
  { run, ends }: Seen,
): readonly RunProblem[] {
  const [first] = lines;
  const head = lines.at(-1)?.chain;
  if (!first || head === undefined || first.event.type !== 'rolloutStarted') return [];
  const said: string[] = [];
  const fork = isFork(basename(path), lines);
  const before = ends.get(head);
  // Two forks that were made alike are alike.
  if (before !== undefined && !fork) said.push(`has the contents of ${before}: one of them is a copy`);
  ends.set(head, basename(path));
  const of = rolloutName(first.event.task, first.event.trial);
  if (!fork && of !== rollout) said.push(`is the recording of ${of}, under another name`);
  if (run?.planned && !fork && !run.planned.includes(rollout))
    said.push('is not one of the rollouts that run.json lists');
  if (run?.id !== undefined && sidecar.count > 0 && sidecar.run !== run.id)
    said.push(`belongs to another run: its sidecar names ${sidecar.run ?? 'none'}, run.json says ${run.id}`);
  return said.map((message) => ({ file: path, line: 1, message }));
}

function missingLedger(file: string, recordings: readonly string[]): readonly RunProblem[] {
  if (recordings.length === 0) return [];
  return [{ file, line: 1, message: 'is missing: nothing vouches for the recordings of this folder' }];
}

function verifyRunFile(folder: string, vouched: string | null): readonly RunProblem[] {
  const file = join(folder, runFileName);
  const found = fromDisk(file, () => runFileHash(folder));
  if (found !== null && found === vouched)
    return typeof readRunFile(folder) === 'string'
      ? [{ file, line: 1, message: 'has a valid receipt but does not describe a run' }]
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
function verifyStranger(path: string, seen: Seen): readonly RunProblem[] {
  const recording = readRecording(path);
  const { lines } = recording;
  const message = whyUnvouched(lines);
  return [
    ...verifyRecording(path, seen.links).problems,
    ...settingProblems(recording, seen.run),
    ...strangeness(recording, readSidecarOf(recording, seen.links), nameOf(path), seen),
    { file: path, line: Math.max(1, lines.length), message },
  ];
}

/** Returns where a rollout says that it is of another run than `run.json`. A fork may have its own seats. */
function settingProblems({ path, lines }: ReadRecording, run: RunFile | null): readonly RunProblem[] {
  const first = lines[0]?.event;
  if (!run || first?.type !== 'rolloutStarted' || isFork(basename(path), lines)) return [];
  const { domain, seed, basis, turnCap, policyHash, seats } = first;
  // Not every run says who judges.
  const judge = run.judge === undefined ? undefined : (seats.judge ?? run.judge);
  const own = { domain: domain.name, seed, basis, turnCap, policyHash, agent: seats.agent, user: seats.user, judge };
  return settingsThatDiffer(own, { ...run, agent: agentOfTask(run, first.task.id) }).map(
    ({ label, values: [said, is] }) => ({
      file: path,
      line: 1,
      message: `rolloutStarted says that the ${label} is ${said}, run.json says ${is}`,
    }),
  );
}

/** A rollout that was cancelled, or whose process died, has no receipt; one that came to its end has lost it. */
function whyUnvouched(lines: readonly Recorded[]): string {
  const end = lines.findLast(({ event }) => event.type === 'rolloutEnded')?.event;
  const isRewarded = lines.some(({ event }) => event.type === 'rewarded');
  if (isRewarded && end?.type === 'rolloutEnded' && end.reason !== 'cancelled')
    return 'has no receipt although it is finished: its receipt was dropped, or never written';
  return `has no receipt: the rollout is unfinished, its last event is ${lines.at(-1)?.event.type ?? 'missing'}`;
}

function verifyReceipt(receipt: Receipt, at: FileLine, seen: Seen): readonly RunProblem[] {
  const { folder, run, regular, links } = seen;
  const name = basename(receipt.recording);
  const path = join(folder, name);
  if (!regular.has(name) && links.has(name)) return [];
  if (!regular.has(name)) return [{ ...at, message: `${receipt.recording} is missing` }];
  const recording = readRecording(path);
  const sidecar = readSidecarOf(recording, links);
  const vouchedBy = `its receipt (${basename(at.file)}:${at.line})`;
  const isOfRun = run === null || receipt.run === run.id;
  return [
    ...problemsOf(recording),
    ...(recording.problems.length === 0 ? endProblems(recording, receipt, vouchedBy) : []),
    ...settingProblems(recording, run),
    ...strangeness(recording, sidecar, nameOf(name), seen),
    ...(isOfRun ? [] : [{ ...at, message: `is the receipt of another run: ${receipt.run ?? 'one without an id'}` }]),
    ...verifyParent(recording, links),
    ...sidecar.problems,
    ...(sidecar.problems.length === 0 && sidecar.head !== receipt.sidecarChain
      ? [sidecarEndProblem(sidecar, recording.lines.length, receipt, vouchedBy)]
      : []),
  ];
}

/** Returns where a recording whose own chain holds differs from what its receipt says. */
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
  const message = `was rewritten: its chain is intact but is not the one that ${vouchedBy} vouches for`;
  return [...claims, { file: path, line: lines.length, message }];
}

/** Returns what a recording says about itself and its receipt says otherwise. */
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
  if (event.type === 'rewarded')
    return [
      ['reward', event.reward, receipt.reward],
      ['verification', isUnverified(event) ? 'failed' : 'whole', receipt.unverified ? 'failed' : 'whole'],
    ];
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
function verifyParent({ path, lines }: ReadRecording, links: ReadonlySet<string>): readonly RunProblem[] {
  const first = lines[0]?.event;
  const parent = first?.type === 'rolloutStarted' ? first.parent : undefined;
  if (!parent || !isForkName(path) || links.has(basename(parent.recording))) return [];
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
  readonly isThere: boolean;
  readonly head: string;
  readonly chains: readonly string[];
  readonly count: number;
  /** The run that its first line names. */
  readonly run: string | undefined;
  readonly problems: readonly RunProblem[];
};

function readSidecarOf({ path, lines: [first] }: ReadRecording, links: ReadonlySet<string>): Sidecar {
  const file = sidecarPath(path);
  const none = { file, isThere: false, head: chainStart, chains: [], count: 0, run: undefined };
  if (links.has(basename(file)))
    return { ...none, problems: [{ file, line: 1, message: 'was not read: it is a link, or not a regular file' }] };
  // A conversation that was imported has no sidecar: its log has no times of events.
  const isImported = first?.event.type === 'rolloutStarted' && first.event.imported !== undefined;
  if (isImported && !existsSync(file)) return { ...none, problems: [] };
  const { lines, chains, problems } = readSidecar(file);
  return {
    file,
    isThere: true,
    head: chains.at(-1) ?? chainStart,
    chains,
    count: chains.length,
    run: lines[0]?.run,
    problems: [...encodingProblems(file), ...problems.map((problem) => ({ file, ...problem }))],
  };
}

/** Returns where a sidecar whose own chain holds parts from what its receipt says. */
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
  return { file, line, message: `was rewritten: its chain is intact but is not the one that ${vouchedBy} vouches for` };
}

function problemsOf({ path, lines, problems }: ReadRecording): readonly RunProblem[] {
  const nothing = { file: path, line: 1, message: 'holds no event: the file was cut short' };
  if (lines.length === 0 && problems.length === 0) return [nothing];
  return [...encodingProblems(path), ...problems.map((problem) => ({ file: path, ...problem }))];
}

/** Bytes that are not UTF-8 read like others of their kind, so that a text can't tell them apart. */
function encodingProblems(file: string): readonly RunProblem[] {
  const bytes = existsSync(file) ? fromDisk(file, () => readBounded(file, { limit: fileLimits.record })) : Buffer.of();
  if (isUtf8(bytes)) return [];
  return [{ file, line: 1 + linesBeforeFault(bytes), message: 'is not UTF-8 text: bytes were changed' }];
}

function recordingOf(sidecar: string): string {
  return sidecar.replace(sidecarEnd, recordingEnding);
}
