import * as vscode from 'vscode';
import { askForLaunch } from '../commandLine/approval.ts';
import { type Context, commandLineOf } from '../commandLine/context.ts';
import { askForSeats } from '../commandLine/keyConsent.ts';
import type { StandbyAdapter } from './standbyAdapter.ts';

/**
 * The debug adapter is its own process, the one that is by or one that is started here; the engine lives in it, never
 * in the extension host.
 */
export function adapterFactory(context: Context, standby: StandbyAdapter): vscode.DebugAdapterDescriptorFactory {
  return {
    createDebugAdapterDescriptor: async ({ configuration }) => {
      const { request, domain } = configuration;
      await askForSeats(context, configuration);
      await askForLaunch(configuration);
      const env = await context.environment();
      const port = await standby.port(env);
      if (port !== null) return new vscode.DebugAdapterServer(port, '127.0.0.1');
      const early = request === 'launch' && typeof domain === 'string' ? ['--domain', domain] : [];
      return new vscode.DebugAdapterExecutable(process.execPath, [...commandLineOf(context), 'dap', ...early], { env });
    },
  };
}
