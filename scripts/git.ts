import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './process.ts';
import { root } from './repository.ts';
import { Failure } from './terminal.ts';

/** Runs git in the repository, and returns its output. Throws a `Failure` if git fails. */
export async function git(...args: readonly string[]): Promise<string> {
  const { code, output } = await runCommand('git', args, { cwd: root });
  if (code !== 0) throw new Failure(`git ${args.join(' ')} failed:\n${output.trim()}`);
  return output.trim();
}

/** Calls a function with the folder of a checkout of a commit or tag, which is removed afterwards. Returns its result. */
export async function inWorktree<T>(commit: string, act: (checkout: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-worktree-'));
  const checkout = join(folder, 'checkout');
  try {
    await git('worktree', 'add', '--detach', checkout, commit);
    return await act(checkout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await git('worktree', 'prune');
  }
}
