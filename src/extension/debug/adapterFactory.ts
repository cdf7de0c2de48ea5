import * as vscode from 'vscode';
import type { Context } from '../context.ts';

/** The debug adapter is a process of its own, started here; the engine lives in it, never in the extension host. */
export function adapterFactory(context: Context): vscode.DebugAdapterDescriptorFactory {
  return {
    createDebugAdapterDescriptor: async ({ configuration: { request, domain } }) => {
      const early = request === 'launch' && typeof domain === 'string' ? ['--domain', domain] : [];
      const env = await context.environment();
      return new vscode.DebugAdapterExecutable(process.execPath, [context.cli, 'dap', ...early], { env });
    },
  };
}
