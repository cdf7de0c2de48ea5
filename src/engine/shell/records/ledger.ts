import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { appendFileSync, existsSync, statSync, truncateSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { fileLimits, readBounded, readBoundedText, readBoundedTextAsync } from '../files/boundedFile.ts';
import { breaks } from '../files/breaks.ts';
import { fromDisk, makeFolder, makeOnce, onDisk, requireWritable, sizeOf } from '../files/disk.ts';
import { Fault, messageOf } from '../files/fault.ts';
import { wholeLines } from './recording.ts';
import { rolloutName } from './recordingName.ts';
import { runFileName } from './runFiles.ts';

/** The facts that a receipt vouches for. A rollout is finished when its receipt exists. */
export const receiptSchema = z.strictObject({
  rollout: z.string(),
  recording: z.string(),
  task: z.object({ id: z.string(), hash: z.string() }),
  trial: z.int(),
  seed: z.string(),
  policyHash: z.string(),
  basis: z.enum(['evaluate', 'train']),
  reward: z.number().nullable(),
  endReason: z.string(),
  /** Infrastructure ended the verification, so that the reward is still open. */
  unverified: z.literal(true).optional(),
  /** Hash over the differences of the final database from its start. */
  databaseDiff: z.string(),
  chain: z.string(),
  sidecarChain: z.string(),
  /** The `id` in run.json; absent in runs that older versions wrote. */
  run: z.string().optional(),
});
export type Receipt = z.infer<typeof receiptSchema>;

/**
 * Vouches for the run's own file as it was when the run was begun, or continued with more, and when it was finished.
 */
const runSchema = z.strictObject({
  file: z.literal(runFileName),
  hash: z.string(),
  /** Each planned rollout has its receipt. */
  finished: z.literal(true).optional(),
  /** Planned rollouts that turned out to be impossible, so that there is no receipt of them. */
  refused: z.array(z.string()).readonly().optional(),
});
export type RunVoucher = z.infer<typeof runSchema>;

/** Takes back the receipts of a rollout without a reward, before it is run again and its files are replaced. */
const reopenedSchema = z.strictObject({ reopened: z.string() });
type Reopened = z.infer<typeof reopenedSchema>;

const signedSchema = { before: z.string(), signature: z.string() };
const ledgerLineSchema = z.union([
  z.strictObject({ receipt: receiptSchema, ...signedSchema }),
  z.strictObject({ run: runSchema, ...signedSchema }),
  z.strictObject({ rollout: reopenedSchema, ...signedSchema }),
]);
type LedgerLine = z.infer<typeof ledgerLineSchema>;
type Signed = Receipt | RunVoucher | Reopened;

export type SigningKey = { readonly privateKey: KeyObject; readonly publicKey: string };

/** Returns where the signing key lives: outside every workspace, readable by its owner alone. */
export function signingKeyPath(environment: NodeJS.ProcessEnv = process.env): string {
  const base =
    environment['REHEARSAL_HOME'] ?? join(environment['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'rehearsal');
  return join(base, 'signing-key.pem');
}

/** The Ed25519 key that signs receipts, made on first use. One that can't be made or read is a `Fault`. */
export function signingKey(path = signingKeyPath()): SigningKey {
  if (!existsSync(path)) makeSigningKey(path);
  return readSigningKey(path);
}

/** The public half of this machine's signing key; null where none was made yet. */
export function ownPublicKey(path = signingKeyPath()): string | null {
  const isThere = fromDisk(path, () => statSync(path, { throwIfNoEntry: false }) !== undefined);
  return isThere ? readSigningKey(path).publicKey : null;
}

function makeSigningKey(path: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  try {
    makeFolder(dirname(path), { mode: 0o700 });
    makeOnce(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), 0o600);
  } catch (error) {
    const [reason] = /E[A-Z]+: [^,)]+/.exec(messageOf(error)) ?? messageOf(error).split('. ');
    throw keyFault(
      path,
      `the key that signs receipts cannot be created here (${reason}). Make its folder writable, or set REHEARSAL_HOME to one that is`,
    );
  }
}

function readSigningKey(path: string): SigningKey {
  const text = fromDisk(path, () => readBounded(path, { limit: fileLimits.record }));
  const privateKey = keyIn(() => createPrivateKey(text));
  if (!privateKey)
    throw keyFault(
      path,
      'is not an Ed25519 private key in PEM. Restore it, or move it away: the next run creates a new key, and runs that the old key signed verify only with --key',
    );
  return { privateKey, publicKey: publicKeyText(createPublicKey(privateKey)) };
}

function keyFault(path: string, problem: string): Fault {
  return new Fault({ who: 'infrastructure', code: 'key/signing', message: `${path}: ${problem}`, file: path });
}

/** An Ed25519 key, or null for what is not one. */
function keyIn(read: () => KeyObject): KeyObject | null {
  try {
    const key = read();
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

function publicKeyIn(text: string): KeyObject | null {
  const key = Buffer.from(text, 'base64');
  if (key.toString('base64') !== text) return null;
  return keyIn(() => createPublicKey({ key, type: 'spki', format: 'der' }));
}

/** Whether a text is an Ed25519 public key as `run.json` writes it: base64 of its SPKI form. */
export function isPublicKey(text: string): boolean {
  return publicKeyIn(text) !== null;
}

function publicKeyText(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Appends to a ledger. */
export type Ledger = {
  readonly receive: (...receipts: readonly Receipt[]) => void;
  /** Takes back the receipts of a rollout that is run again. */
  readonly reopen: (rollout: string) => void;
  /** Signs a line for `run.json`, unless the last such line says the same already. */
  readonly vouchFor: (run: Omit<RunVoucher, 'file'>) => void;
};

/**
 * Appends signed receipts to `ledger.jsonl`. Each signature covers the one before it, so none can be dropped. A last
 * line that a killed process left torn is not a receipt and is removed, so that the next one gets its own line.
 * Each receipt names the run, where that has an id.
 */
export function openLedger(path: string, key: SigningKey, run?: string): Ledger {
  requireWritable(path);
  mendLedger(path);
  const lines = ledgerLines(path);
  let vouched = vouchedRun(lines);
  let before = lines.at(-1)?.signature ?? '';
  let size = sizeOf(path);
  const append = (...contents: readonly Content[]) => {
    // Another process may have signed a rollout of the same run meanwhile: a fork, for instance.
    const found = sizeOf(path);
    let head = found === size ? before : (ledgerLines(path).at(-1)?.signature ?? '');
    const lines = contents.map((signed) => {
      const signature = sign(null, signedBytes(contentOf(signed), head), key.privateKey).toString('base64');
      const line: LedgerLine = { ...signed, before: head, signature };
      head = signature;
      return `${JSON.stringify(line)}\n`;
    });
    const text = lines.join('');
    onDisk(path, () => appendFileSync(path, text));
    before = head;
    size = found + Buffer.byteLength(text);
  };
  return {
    receive: (...receipts) =>
      append(
        // A reader checks the signature of the parsed line, whose keys are in the order of the schema.
        ...receipts.map((receipt) => ({
          receipt: receiptSchema.parse(run === undefined ? receipt : { ...receipt, run }),
        })),
      ),
    reopen: (rollout) => append({ rollout: { reopened: rollout } }),
    vouchFor: (next) => {
      if (vouched?.hash === next.hash && (vouched.finished || !next.finished)) return;
      vouched = { file: runFileName, ...next };
      append({ run: vouched });
    },
  };
}

type Content = { readonly receipt: Receipt } | { readonly run: RunVoucher } | { readonly rollout: Reopened };

function contentOf(line: Content): Signed {
  if ('receipt' in line) return line.receipt;
  return 'run' in line ? line.run : line.rollout;
}

function nameOf(line: Content): string {
  if ('receipt' in line) return `receipt of ${line.receipt.rollout}`;
  return 'run' in line ? 'line about run.json' : `line that reopens ${line.rollout.reopened}`;
}

function vouchedRun(lines: readonly LedgerLine[]): RunVoucher | null {
  return lines.flatMap((line) => ('run' in line ? line.run : [])).at(-1) ?? null;
}

function mendLedger(path: string): void {
  if (!existsSync(path)) return;
  const bytes = fromDisk(path, () => readBounded(path, { limit: fileLimits.record }));
  const whole = bytes.lastIndexOf(10) + 1;
  if (whole < bytes.length) onDisk(path, () => truncateSync(path, whole));
}

export type LedgerReading = {
  /** Without those of rollouts that were reopened since. */
  readonly receipts: readonly Receipt[];
  /** The line (from 1) of each receipt. */
  readonly lines: readonly number[];
  /** The newest line about `run.json`; null where no line vouches for it. */
  readonly run: RunVoucher | null;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
};

/**
 * Reads a ledger and checks every signature against a public key that the caller trusts (see `isPublicKey`); a text
 * that is not one is a `Fault`.
 */
export function readLedger(path: string, trustedKey: string): LedgerReading {
  const key = publicKeyIn(trustedKey);
  if (!key) throw keyFault(path, `"${trustedKey}" is not a public key`);
  const read: LedgerLine[] = [];
  let receipts: { readonly receipt: Receipt; readonly at: number }[] = [];
  const problems: { line: number; message: string }[] = [];
  const { whole, problem } = wholeLines(textOf(path));
  let before = '';
  for (const [index, raw] of whole.entries()) {
    const at = index + 1;
    const line = parseLedgerLine(raw);
    if (!line) {
      problems.push({ line: at, message: 'is not a receipt' });
      continue;
    }
    const [content, name] = [contentOf(line), nameOf(line)];
    if (line.before !== before)
      problems.push({
        line: at,
        message: `${name} does not follow the one before it: a receipt was dropped, added or swapped`,
      });
    else if (JSON.stringify(line) !== raw || !isSigned(content, line, key))
      problems.push({ line: at, message: `${name} was changed, or signed with another key` });
    before = line.signature;
    read.push(line);
    if ('receipt' in line) receipts.push({ receipt: line.receipt, at });
    if ('rollout' in line)
      receipts = receipts.filter(({ receipt }) => receipt.reward !== null || receipt.rollout !== line.rollout.reopened);
  }
  const lines = receipts.map(({ at }) => at);
  return {
    receipts: receipts.map(({ receipt }) => receipt),
    lines,
    run: vouchedRun(read),
    problems: problem ? [...problems, problem] : problems,
  };
}

/** A signature has one spelling: base64 that decodes to the same bytes is not the one that was written. */
function isSigned(content: Signed, { before, signature }: LedgerLine, key: KeyObject): boolean {
  const bytes = Buffer.from(signature, 'base64');
  return bytes.toString('base64') === signature && verify(null, signedBytes(content, before), key, bytes);
}

/** Receipts as they are, unchecked: which rollouts of a run are finished. */
export function finishedRollouts(path: string): readonly Receipt[] {
  return ledgerLines(path).flatMap((line) => ('receipt' in line ? [line.receipt] : []));
}

/** Returns the newest receipt of each rollout, unchecked; none of one that was reopened since. */
export function newestReceipts(path: string): readonly Receipt[] {
  const newest = new Map<string, Receipt>();
  for (const line of ledgerLines(path)) take(newest, line);
  return [...newest.values()];
}

function take(newest: Map<string, Receipt>, line: LedgerLine): void {
  if ('receipt' in line) newest.set(line.receipt.rollout, line.receipt);
  else if ('rollout' in line) newest.delete(line.rollout.reopened);
}

/**
 * Returns whether infrastructure ended a rollout or its verification, such as a model that is unreachable. Its receipt
 * is not final: the rollout is run again, and a later receipt replaces this one.
 */
export function isLost({ endReason, unverified }: Pick<Receipt, 'endReason' | 'unverified'>): boolean {
  return unverified === true || endReason === 'infrastructureFailed';
}

/** The time that lines are parsed before other work on this thread has its turn, in milliseconds. */
const sliceMs = 8;

/** The newest receipt of each rollout in a run's folder: of its own trials, and of the forks beside them. */
export type RunReceipts = { readonly trials: readonly Receipt[]; readonly forks: readonly Receipt[] };

/**
 * Reads them unchecked, and a little at a time: a ledger of many thousand receipts keeps no one waiting who shares this
 * thread. A run without a ledger has none; one that can't be read rejects.
 */
export async function receiptsOfRun(folder: string): Promise<RunReceipts> {
  const path = join(folder, 'ledger.jsonl');
  const newest = new Map<string, Receipt>();
  const pause = breaks(sliceMs);
  for (const raw of (existsSync(path) ? await readBoundedTextAsync(path) : '').split('\n')) {
    const line = raw === '' ? null : parseLedgerLine(raw);
    if (line) take(newest, line);
    await pause();
  }
  const { trials = [], forks = [] } = Object.groupBy(newest.values(), ({ rollout, task, trial }) =>
    rollout === rolloutName(task, trial) ? 'trials' : 'forks',
  );
  return { trials, forks };
}

/**
 * Returns the number (from 1) of the first line that does not belong in a ledger; null if all lines do. A last line without
 * its end does not count yet.
 */
export function strangeLine(path: string): number | null {
  const lines = textOf(path).split('\n').slice(0, -1);
  const at = lines.findIndex((raw) => parseLedgerLine(raw) === null);
  return at < 0 ? null : at + 1;
}

function ledgerLines(path: string): readonly LedgerLine[] {
  return textOf(path)
    .split('\n')
    .filter(Boolean)
    .flatMap((raw) => parseLedgerLine(raw) ?? []);
}

function textOf(path: string): string {
  return existsSync(path) ? fromDisk(path, () => readBoundedText(path)) : '';
}

function parseLedgerLine(raw: string): LedgerLine | null {
  try {
    const parsed = ledgerLineSchema.safeParse(JSON.parse(raw));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function signedBytes(content: Signed, before: string): Buffer {
  return hash('sha256', before + JSON.stringify(content), 'buffer');
}
