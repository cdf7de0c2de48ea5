import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { makeOnce, onDisk } from './disk.ts';
import { wholeLines } from './recording.ts';

/** What a receipt vouches for. A rollout is finished when its receipt is there. */
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
  /** Hash over the differences of the final database from its start. */
  databaseDiff: z.string(),
  chain: z.string(),
  sidecarChain: z.string(),
});
export type Receipt = z.infer<typeof receiptSchema>;

/** Vouches for the run's own file as it was when the run was begun, or went on with more. */
const runSchema = z.strictObject({ file: z.literal('run.json'), hash: z.string() });

const signedSchema = { before: z.string(), signature: z.string() };
const ledgerLineSchema = z.union([
  z.strictObject({ receipt: receiptSchema, ...signedSchema }),
  z.strictObject({ run: runSchema, ...signedSchema }),
]);
type LedgerLine = z.infer<typeof ledgerLineSchema>;
type Signed = Receipt | z.infer<typeof runSchema>;

export type SigningKey = { readonly privateKey: KeyObject; readonly publicKey: string };

/** Where the signing key lives: outside every workspace, readable by its owner alone. */
export function signingKeyPath(environment: NodeJS.ProcessEnv = process.env): string {
  const base =
    environment['REHEARSAL_HOME'] ?? join(environment['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'rehearsal');
  return join(base, 'signing-key.pem');
}

/** The Ed25519 key that signs receipts, made on first use. */
export function signingKey(path = signingKeyPath()): SigningKey {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const { privateKey } = generateKeyPairSync('ed25519');
    makeOnce(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), 0o600);
  }
  const privateKey = createPrivateKey(readFileSync(path));
  return { privateKey, publicKey: publicKeyText(createPublicKey(privateKey)) };
}

function publicKeyText(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

/**
 * Appends signed receipts to `ledger.jsonl`. Each signature covers the one before it, so none can be dropped. A last
 * line that a killed process left torn is no receipt and is taken away, so that the next one gets a line of its own.
 * @param runHash of `run.json` as it is now: a signed line vouches for it, unless the last such line does already
 */
export function openLedger(path: string, key: SigningKey, runHash?: string): (receipt: Receipt) => void {
  mendLedger(path);
  const lines = ledgerLines(path);
  let before = lines.at(-1)?.signature ?? '';
  let size = sizeOf(path);
  const append = (signed: { readonly receipt: Receipt } | { readonly run: z.infer<typeof runSchema> }) => {
    // Another process may have signed a rollout of the same run meanwhile: a fork, for instance.
    if (sizeOf(path) !== size) before = ledgerLines(path).at(-1)?.signature ?? '';
    const content = 'receipt' in signed ? signed.receipt : signed.run;
    const signature = sign(null, signedBytes(content, before), key.privateKey).toString('base64');
    const line: LedgerLine = { ...signed, before, signature };
    onDisk(path, () => appendFileSync(path, `${JSON.stringify(line)}\n`));
    before = signature;
    size = sizeOf(path);
  };
  if (runHash !== undefined && vouchedRun(lines) !== runHash) append({ run: { file: 'run.json', hash: runHash } });
  return (receipt) => append({ receipt });
}

function vouchedRun(lines: readonly LedgerLine[]): string | null {
  return lines.flatMap((line) => ('run' in line ? line.run.hash : [])).at(-1) ?? null;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function mendLedger(path: string): void {
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  const whole = bytes.lastIndexOf(10) + 1;
  if (whole < bytes.length) onDisk(path, () => truncateSync(path, whole));
}

export type LedgerReading = {
  readonly receipts: readonly Receipt[];
  /** The line (from 1) of each receipt. */
  readonly lines: readonly number[];
  /** What the newest line about `run.json` says its hash is; null where no line vouches for it. */
  readonly runHash: string | null;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
};

/** Reads a ledger and checks every signature against a public key that the caller trusts. */
export function readLedger(path: string, trustedKey: string): LedgerReading {
  const key = createPublicKey({ key: Buffer.from(trustedKey, 'base64'), type: 'spki', format: 'der' });
  const read: LedgerLine[] = [];
  const receipts: Receipt[] = [];
  const lines: number[] = [];
  const problems: { line: number; message: string }[] = [];
  const { whole, problem } = wholeLines(existsSync(path) ? readFileSync(path, 'utf8') : '');
  let before = '';
  for (const [index, raw] of whole.entries()) {
    const at = index + 1;
    const line = parseLedgerLine(raw);
    if (!line) {
      problems.push({ line: at, message: 'is no receipt' });
      continue;
    }
    const [content, name] =
      'receipt' in line ? [line.receipt, `receipt of ${line.receipt.rollout}`] : [line.run, 'line about run.json'];
    if (line.before !== before)
      problems.push({
        line: at,
        message: `${name} does not follow the one before it: a receipt was dropped, added or swapped`,
      });
    else if (JSON.stringify(line) !== raw || !isSigned(content, line, key))
      problems.push({ line: at, message: `${name} was changed, or signed with another key` });
    before = line.signature;
    read.push(line);
    if (!('receipt' in line)) continue;
    receipts.push(line.receipt);
    lines.push(at);
  }
  return { receipts, lines, runHash: vouchedRun(read), problems: problem ? [...problems, problem] : problems };
}

/** A signature has one spelling: base64 that decodes to the same bytes is not the one that was written. */
function isSigned(content: Signed, { before, signature }: LedgerLine, key: KeyObject): boolean {
  const bytes = Buffer.from(signature, 'base64');
  return bytes.toString('base64') === signature && verify(null, signedBytes(content, before), key, bytes);
}

/** Receipts as they stand, unchecked: which rollouts of a run are finished. */
export function finishedRollouts(path: string): readonly Receipt[] {
  return ledgerLines(path).flatMap((line) => ('receipt' in line ? [line.receipt] : []));
}

function ledgerLines(path: string): readonly LedgerLine[] {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  return lines.flatMap((raw) => parseLedgerLine(raw) ?? []);
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
  return createHash('sha256').update(before).update(JSON.stringify(content)).digest();
}
