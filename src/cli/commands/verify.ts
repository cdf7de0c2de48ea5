import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isPublicKey, ownPublicKey, signingKeyPath } from '../../engine/shell/ledger.ts';
import { type PolicyChange, readRunFile } from '../../engine/shell/runFile.ts';
import { verifyRecording, verifyRun } from '../../engine/shell/verifyRun.ts';
import { type Command, text } from '../command.ts';
import { UsageError } from '../io.ts';

export const verify: Command = {
  name: 'verify',
  takes: 1,
  summary: 'check that a run or a recording is as it was written',
  help: 'rehearsal verify RUN_FOLDER|RECORDING [--key PUBLIC_KEY]\n\nChecks run.json, every chain, every sidecar, every receipt and its signature. Exit code 1 when anything was changed.\n\n  --key PUBLIC_KEY   the key you trust, base64 (default: the one of this machine; never the one in the record)\n  --json             machine-readable output\n',
  options: { key: { type: 'string' } },
  run: async (given, io) => {
    const path = resolve(io.cwd, given.positionals[0] ?? '');
    if (!given.positionals[0] || !existsSync(path))
      throw new UsageError(`${given.positionals[0] ?? 'RUN_FOLDER'}: there is no such run folder or recording`);
    const named = text(given, 'key');
    if (named !== undefined && !isPublicKey(named))
      throw new UsageError(
        `--key is an Ed25519 public key in base64, as "publicKey" in run.json has it (60 letters, MCowBQYDK2Vw...), not "${named}"`,
      );
    const { checked, problems } = statSync(path).isDirectory()
      ? verifyRun(path, named ?? trustedKey())
      : verifyRecording(path);
    const run = readRunFile(path);
    const policyChange = typeof run === 'string' ? undefined : run.policyChange;
    if (given.values['json'] === true) io.out(`${JSON.stringify({ checked, problems, policyChange })}\n`);
    else {
      for (const { file, line, message } of problems) io.out(`${file}:${line}: ${message}\n`);
      if (policyChange) io.out(policyText(policyChange));
      io.out(
        problems.length === 0
          ? `${checked} recordings verified\n`
          : `${problems.length} problems in ${checked} recordings\n`,
      );
    }
    return problems.length > 0 ? 1 : 0;
  },
};

/** The key of this machine. To verify makes none: it could not have signed anything. */
function trustedKey(): string {
  const key = ownPublicKey();
  if (key === null)
    throw new UsageError(
      `this machine has signed nothing (there is no ${signingKeyPath()}), so it has no key to trust: name the one that you trust with --key`,
    );
  return key;
}

function policyText({ run, lines }: PolicyChange): string {
  if (lines?.length === 0) return `the policy is the one of the last run, ${run}\n`;
  return `the policy is not the one of the last run, ${run}${lines ? `:\n${lines.map((line) => `  ${line}\n`).join('')}` : '\n'}`;
}
