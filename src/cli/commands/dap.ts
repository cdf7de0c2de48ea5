import { canInspectSafely, startLaneEarly } from '../../engine/shell/lanes/laneChild.ts';
import { type Command, text } from '../options/command.ts';
import { UsageError } from '../terminal/io.ts';

export const dap: Command = {
  name: 'dap',
  summary: 'the debug adapter, for VS Code and every other client',
  help: `rehearsal dap [--port N [--standby]] [--domain FOLDER]

Speaks the Debug Adapter Protocol over standard input and output.

  --port N           listen on this loopback port instead (0: a free one)
  --standby          with --port: make the domains ready whose folders are named on standard input, one a line, and
                     end when it ends
  --domain FOLDER    the domain that will be launched: its process starts while the rest is loaded
  --json             with --port: address and token as one line of JSON on standard output
`,
  options: { port: { type: 'string' }, standby: { type: 'boolean' }, domain: { type: 'string' } },
  run: async (given, io) => {
    const port = text(given, 'port');
    if (port !== undefined && !(/^[0-9]{1,5}$/.test(port) && Number(port) <= 65_535))
      throw new UsageError(`--port is a number from 0 to 65535, not "${port}"`);
    const isStandby = given.values['standby'] === true;
    if (isStandby && port === undefined) throw new UsageError('--standby is for a port: add --port 0');
    const domain = text(given, 'domain');
    if (domain !== undefined) startLaneEarly(domain, canInspectSafely());
    const { listenDap, serveDap } = await import('../dap/server.ts');
    const { standBy } = await import('../dap/standby.ts');
    if (port === undefined) await serveDap(io.signal);
    else {
      const announce = (address: string, token: string) => {
        if (given.values['json'] === true) io.out(`${JSON.stringify({ address, token })}\n`);
        else io.err(`listening on ${address}\ntoken ${token}\n`);
      };
      await listenDap(io.signal, Number(port), announce, isStandby ? standBy(process.stdin) : undefined);
    }
    return 0;
  },
};
