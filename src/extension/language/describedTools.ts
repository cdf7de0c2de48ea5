import * as vscode from 'vscode';
import type { Tool } from '../../engine/core/tool.ts';
import { runCommand } from '../commandLine.ts';
import type { Context } from '../context.ts';

/** What failed to describe itself in this state: it is asked again only when it has changed. */
const failed = new Set<string>();
const running = new Map<string, Promise<readonly Tool[] | undefined>>();

/**
 * The tools of a domain as `rehearsal tools --local` tells them: their code runs in a lane beside the editor, and no server
 * is started. Undefined in a workspace that nobody trusts, and where the code can't be loaded.
 * @param stamp the state of the code
 */
export function describeTools(context: Context, folder: string, stamp: string): Promise<readonly Tool[] | undefined> {
  if (!vscode.workspace.isTrusted || failed.has(stamp)) return Promise.resolve(undefined);
  const known = running.get(folder);
  // What runs describes an earlier state; the worker asks again when it has heard of that.
  if (known) return known.then(() => describeTools(context, folder, stamp));
  const made = described(context, folder, stamp).finally(() => running.delete(folder));
  running.set(folder, made);
  return made;
}

async function described(context: Context, folder: string, stamp: string): Promise<readonly Tool[] | undefined> {
  const source = new vscode.CancellationTokenSource();
  const { code, answer } = await runCommand(
    context,
    ['tools', folder, '--local', '--json'],
    { report: () => undefined },
    source.token,
  );
  source.dispose();
  if (code === 0) return answer['tools'] as readonly Tool[];
  failed.add(stamp);
  return undefined;
}
