import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { counted } from '../../engine/core/text/counted.ts';
import { ownPublicKey, signingKeyPath } from '../../engine/shell/records/ledger.ts';
import { type PolicyChange, readRunFile } from '../../engine/shell/records/runFile.ts';
import { runFileName } from '../../engine/shell/records/runFiles.ts';
import {
  type VerifiedRecording,
  type VerifiedRun,
  verifyRun,
  verifySingle,
} from '../../engine/shell/records/verifyRun.ts';
import { type Command, defineCommand, refuseStray } from '../options/command.ts';
import { json, text } from '../options/option.ts';
import { trustedKey } from '../options/trustedKey.ts';
import { UsageError } from '../terminal/io.ts';

export const verify: Command = defineCommand({
  name: 'verify',
  takes: 1,
  summary: 'check that a run or a recording is unchanged',
  usage: 'RUN_FOLDER|RECORDING [--key PUBLIC_KEY]',
  about: `
Checks run.json, every chain, every sidecar, every receipt and its signature. It also checks that every
rollout listed in run.json exists, and lists links and files that do not belong to the run. A single recording
is checked against its receipt in the ledger.jsonl next to it; without one, only its own chains are checked.
Exit code 1 if anything was changed or is missing.
`,
  options: {
    key: trustedKey,
    run: text('ID', 'the expected "id" in run.json, as you noted it when the run was made'),
    json,
  },
  run: async (options, [named], io) => {
    if (!named) throw new UsageError('name a run folder or a recording: npx rehearsal verify RUN_FOLDER');
    const path = resolve(io.cwd, named);
    if (!existsSync(path)) throw new UsageError(`${named}: there is no such run folder or recording`);
    const isRun = statSync(path).isDirectory();
    if (!isRun) refuseStray(options, ['key'], 'a single recording');
    const key = () => options.key ?? ownKey();
    const verified = isRun ? verifyRun(path, key(), options.run) : verifySingle(path, key);
    const { checked, problems } = verified;
    const run = isRunResult(verified) ? verified : null;
    const missing = run?.missing ?? [];
    const file = isRun && problems.every(({ file: at }) => at !== join(path, runFileName)) ? readRunFile(path) : '';
    const policyChange = typeof file === 'string' ? undefined : file.policyChange;
    if (options.json) io.out(`${JSON.stringify({ ...verified, policyChange })}\n`);
    else {
      for (const { file, line, message } of problems) io.out(`${file}:${line}: ${message}\n`);
      if (policyChange) io.out(policyText(policyChange));
      if (problems.length > 0) io.out(`${counted(problems.length, 'problem')} in ${counted(checked, 'recording')}\n`);
      if (run) io.out(completenessText(run));
      else if ('hasLedger' in verified && !verified.hasLedger) io.out(noLedgerText);
      if (problems.length === 0 && missing.length === 0) io.out(`${counted(checked, 'recording')} verified\n`);
    }
    return problems.length > 0 || missing.length > 0 ? 1 : 0;
  },
});

const isRunResult = (verified: VerifiedRecording | VerifiedRun): verified is VerifiedRun => 'missing' in verified;

const noLedgerText = 'no ledger.jsonl is next to this recording: only its own chains were checked, not its receipt\n';

/** The number of missing rollouts that are named; `--json` names all. */
const namedMissing = 20;

/** Returns which of the promised rollouts are missing, and whether that can be determined. */
function completenessText({ run, planned, missing, left, finished, problems }: VerifiedRun): string {
  if (run === null || planned === null)
    return problems.length > 0
      ? ''
      : 'this run was made by a version that planned no rollouts, so missing rollouts cannot be detected\n';
  if (missing.length === 0) return '';
  const rest = missing.length - namedMissing;
  const unfinished =
    left.length === missing.length
      ? 'The debugger left the others for their forks, which are in the folder\n'
      : 'The run is not finished, or its last receipts were removed. Repeat the command that made it, with --out\n';
  return [
    ...missing.slice(0, namedMissing).map((name) => `  ${name}\n`),
    rest > 0 ? `  and ${rest} more\n` : '',
    `incomplete: ${planned - missing.length} of ${planned} rollouts are there. `,
    finished ? 'The run was finished, so the others were removed\n' : unfinished,
  ].join('');
}

/** The key of this machine. To verify makes none: it could not have signed anything. */
function ownKey(): string {
  const key = ownPublicKey();
  if (key === null)
    throw new UsageError(
      `this machine has signed nothing (there is no ${signingKeyPath()}), so it has no key to trust: name the one that you trust with --key`,
    );
  return key;
}

function policyText({ run, lines }: PolicyChange): string {
  if (lines?.length === 0) return '';
  return `the policy differs from that of the run before, ${run}${lines ? `:\n${lines.map((line) => `  ${line}\n`).join('')}` : '\n'}`;
}
