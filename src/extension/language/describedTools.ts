import * as vscode from 'vscode';
import type { Tool } from '../../engine/core/domain/tool.ts';
import { runCommand } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';

type Running = { readonly stamp: string; readonly tools: Promise<readonly Tool[] | undefined> };

/** The state in which the code of a domain's folder could not be loaded; it is loaded again only after it changes. */
const failed = new Map<string, string>();
const running = new Map<string, Running>();

/**
 * Returns the tools of a domain as `rehearsal tools --local` describes them: their code runs in a worker beside the
 * editor, without starting a server. Undefined in a workspace that is not trusted, and where the code can't be loaded.
 * @param stamp the state of the code
 */
export function describeTools(context: Context, folder: string, stamp: string): Promise<readonly Tool[] | undefined> {
  if (!vscode.workspace.isTrusted || failed.get(folder) === stamp) return Promise.resolve(undefined);
  const known = running.get(folder);
  if (known?.stamp === stamp) return known.tools;
  // What runs describes an earlier state.
  if (known) return known.tools.then(() => describeTools(context, folder, stamp));
  const tools = described(context, folder, stamp).finally(() => running.delete(folder));
  running.set(folder, { stamp, tools });
  return tools;
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
  if (code !== 0) {
    failed.set(folder, stamp);
    return undefined;
  }
  failed.delete(folder);
  return answer['tools'] as readonly Tool[];
}
