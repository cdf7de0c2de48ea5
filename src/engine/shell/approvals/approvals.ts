import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { contentHash } from '../../core/values/hash.ts';
import { Fault } from '../files/fault.ts';
import { readConsents, rememberConsent } from '../keys/consents.ts';
import { findSandbox } from '../processes/sandbox.ts';
import { describeEffects, type Effects, hashOfCode, hashOfEffects, unconfined, visible } from './effects.ts';
import { copiedFolders, hashOfPrograms, ownPrograms } from './programFiles.ts';
import { isShipped } from './shippedDomains.ts';

/** Environment variable with the hashes that a person approved for this process and those that it starts. */
export const approvedEffects = 'REHEARSAL_APPROVED';

/** A question to a person before anything outside of the sandbox is started or reached. */
export type Approval = {
  /** Short, in one line, without quotation marks. */
  readonly name: string;
  /** The domain's folder, or the agent's file. */
  readonly path: string;
  /** Approves exactly these effects with the code that there is now, in any place. */
  readonly hash: string;
  /** Of the effects and the programs that they name: what is remembered for this place, whose other code may change. */
  readonly remembered: string;
  /** The same whatever the person's own program files become; null where the effects name none. */
  readonly edited: EditedApproval | null;
  /** A line for each effect. */
  readonly effects: readonly string[];
  /** The reason why there is no sandbox, and how to get one, if code would run without it; else null. */
  readonly sandbox: string | null;
  /** A way to do the same without the effects, as text after "or"; null if that is not possible. */
  readonly without: string | null;
};

/** The approval of people who edit their own program in this folder and want no question at each edit. */
type EditedApproval = {
  /** The program files in the folder, in one line. */
  readonly files: string;
  readonly remembered: string;
};

/**
 * Returns what a person has to approve before anything of these effects happens; null where there is nothing, or where
 * it was approved: by its hash for this process, once before for this folder, or because the product ships it.
 */
export function approvalFor(effects: Effects, environment: NodeJS.ProcessEnv = process.env): Approval | null {
  if (effects.effects.length === 0) return null;
  const { path, without = null } = effects;
  // Who approved it without a sandbox approved it with one.
  const approving = [effects, { ...effects, effects: [...effects.effects, unconfined] }];
  const consents = readConsents('approved.txt', environment);
  const isRemembered = approving.some((each) =>
    [rememberedHash(each), editedApproval(each)?.remembered].some(
      (hash) => hash !== undefined && consents.includes(consentTo(hash, path)),
    ),
  );
  if (isRemembered || isShipped(effects)) return null;
  const given = hashesIn(environment);
  if (given.length > 0 && approving.some((each) => given.includes(approvalHash(each)))) return null;
  const remembered = rememberedHash(effects);
  const sandbox = effects.effects.some(({ type }) => type === 'unconfined') ? noSandbox() : null;
  const name = nameOf(effects);
  const [hash, edited] = [approvalHash(effects), editedApproval(effects)];
  return { name, path, hash, remembered, edited, effects: describeEffects(effects), sandbox, without };
}

/**
 * Returns the hash that approves on another machine what is approved here; null where nothing needs an approval, or it
 * has none.
 */
export function approvedHash(effects: Effects, environment: NodeJS.ProcessEnv = process.env): string | null {
  if (effects.effects.length === 0 || isShipped(effects) || approvalFor(effects, environment) !== null) return null;
  return approvalHash(effects);
}

/** Characters of a name that are shown: a longer one could push the list out of sight. */
const longestName = 80;

function nameOf({ name }: Pick<Effects, 'name'>): string {
  const escaped = visible(JSON.stringify(name).slice(1, -1));
  return escaped.length > longestName ? `${escaped.slice(0, longestName)}…` : escaped;
}

function noSandbox(): string | null {
  const sandbox = findSandbox();
  return sandbox.name === null ? `This machine has no sandbox: ${sandbox.reason}. ${sandbox.advice}` : null;
}

/**
 * Returns the hash that approves effects wherever they are, so that a script cannot approve anything else. Of a domain it
 * covers the code too, or the folder where its code is not known by its content.
 * @param absent names of files and folders that a copy of the domain does not have, where its hash is meant
 */
export function approvalHash(effects: Effects, absent: ReadonlySet<string> = new Set()): string {
  const { path } = effects;
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return contentHash([hashOfEffects(effects), isFolder ? (hashOfCode(effects, absent) ?? realPath(path)) : null]);
}

/** Returns the hash by which an approval is remembered: of the effects, and of the program files that they name. */
function rememberedHash(effects: Effects): string {
  const [own, programs] = [hashOfEffects(effects), hashOfPrograms(effects)];
  return programs === null ? own : contentHash([own, programs]);
}

/** Files that are named in the question; the rest are counted. */
const shownFiles = 5;

/** Leaves the program files of the folder out of the hash. Others, such as those of packages, still count. */
function editedApproval(effects: Effects): EditedApproval | null {
  const own = effects.effects.length > 0 ? ownPrograms(effects) : [];
  if (own.length === 0) return null;
  const { path } = effects;
  const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : dirname(path);
  const others = hashOfPrograms(effects, (file) => !own.includes(file));
  const copied = copiedFolders(effects);
  const shown = own.slice(0, shownFiles).map((file) => visible(relative(folder, file)));
  return {
    files: [...shown, ...(own.length > shownFiles ? [`${own.length - shownFiles} more files`] : [])].join(', '),
    remembered: contentHash([
      hashOfEffects(effects),
      others,
      'own programs may change',
      ...(copied.length > 0 ? [copied] : []),
    ]),
  };
}

/** Throws an `ApprovalQuestion` unless these effects are approved. */
export function throwUnlessApproved(effects: Effects, environment: NodeJS.ProcessEnv = process.env): void {
  const approval = approvalFor(effects, environment);
  if (approval) throw new ApprovalQuestion(approval);
}

/** A person is to decide whether these effects may happen. */
export class ApprovalQuestion extends Fault {
  readonly approval: Approval;

  constructor(approval: Approval) {
    const { name, path, hash, effects, sandbox, without } = approval;
    const list = [...effects.map((each) => `  ${each}`), sandbox].flatMap((each) => (each ? `\n${each}` : [])).join('');
    const message = `"${name}" (${visible(path)}) is not approved. It would do this outside of the sandbox:${list}\nTo approve exactly this, repeat the command with this option${without === null ? '' : `, or ${without}`}:\n  --approve ${hash}`;
    super({ who: 'environment', code: 'effects/not-approved', message });
    this.approval = approval;
  }
}

/** Approves effects by their hashes, for this process and those that it starts. Throws a `Fault` for any other text. */
export function approve(hashes: readonly string[], environment: NodeJS.ProcessEnv): void {
  const wrong = hashes.find((hash) => !/^[0-9a-f]{64}$/.test(hash));
  if (wrong !== undefined) {
    const message = `--approve is followed by the hash that a command names, 64 hexadecimal digits, not "${wrong}"`;
    throw new Fault({ who: 'environment', code: 'effects/option', message });
  }
  if (hashes.length === 0) return;
  environment[approvedEffects] = [...new Set([...hashesIn(environment), ...hashes])].join(' ');
}

/** Remembers effects as approved for their folder or file. */
export function rememberEffects(effects: Effects, environment: NodeJS.ProcessEnv): void {
  if (effects.effects.length === 0) return;
  rememberApproval({ remembered: rememberedHash(effects), path: effects.path }, environment);
}

/** Remembers an approval for this folder or file, outside of every workspace. */
export function rememberApproval(
  { remembered, path }: Pick<Approval, 'remembered' | 'path'>,
  environment: NodeJS.ProcessEnv,
): void {
  rememberConsent('approved.txt', consentTo(remembered, path), environment);
}

/** Returns the hashes that were approved for this process alone. */
function hashesIn(environment: NodeJS.ProcessEnv): readonly string[] {
  return environment[approvedEffects]?.split(' ').filter(Boolean) ?? [];
}

/** Another folder may have other programs under the same names, so what is remembered is for one folder. */
const consentTo = (remembered: string, path: string) => `${remembered} ${JSON.stringify(realPath(path))}`;

const realPath = (path: string) => (existsSync(path) ? realpathSync(path) : resolve(path));
