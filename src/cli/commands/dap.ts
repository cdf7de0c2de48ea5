import { canInspectSafely, startWorkerEarly } from '../../engine/shell/workers/workerChild.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag, port, text } from '../options/option.ts';
import { UsageError } from '../terminal/io.ts';

export const dap: Command = defineCommand({
  name: 'dap',
  summary: 'the debug adapter, for VS Code and every other client',
  usage: '[--port N [--standby]] [--domain FOLDER]',
  about: 'Speaks the Debug Adapter Protocol over standard input and output.',
  options: {
    port: port('listen on this loopback port instead (0: a free one)'),
    standby: flag(
      'with --port: prepare the domains whose folders arrive on standard input, one per line, and exit when the input ends',
    ),
    domain: text('FOLDER', 'the domain to launch: its process starts while the adapter loads'),
    json: flag('with --port: address and token as one line of JSON on standard output'),
  },
  run: async ({ port, standby, domain, json }, _positionals, io) => {
    if (standby && port === undefined) throw new UsageError('--standby is for a port: add --port 0');
    if (domain !== undefined) startWorkerEarly(domain, canInspectSafely());
    const { listenDap, serveDap } = await import('../dap/server.ts');
    const { standBy } = await import('../dap/standby.ts');
    if (port === undefined) await serveDap(io.signal);
    else {
      const announce = (address: string, token: string) => {
        if (json) io.out(`${JSON.stringify({ address, token })}\n`);
        else io.err(`listening on ${address}\ntoken ${token}\n`);
      };
      await listenDap(io.signal, port, announce, standby ? standBy(process.stdin) : undefined);
    }
    return 0;
  },
});
