import { startLaneEarly } from '../../engine/shell/lane/laneChild.ts';
import { type Command, text } from '../command.ts';
import { UsageError } from '../io.ts';

export const dap: Command = {
  name: 'dap',
  summary: 'the debug adapter, for VS Code and every other client',
  help: `rehearsal dap [--port N] [--domain FOLDER]

Speaks the Debug Adapter Protocol over standard input and output.

  --port N           listen on this loopback port instead
  --domain FOLDER    the domain that will be launched: its process starts while the rest is loaded
`,
  options: { port: { type: 'string' }, domain: { type: 'string' } },
  run: async (given, io) => {
    const port = text(given, 'port');
    if (port !== undefined && !/^[0-9]+$/.test(port)) throw new UsageError(`--port is a number, not "${port}"`);
    const domain = text(given, 'domain');
    if (domain !== undefined) startLaneEarly(domain);
    const { serveDap } = await import('../dap/server.ts');
    await serveDap(io.signal, port === undefined ? undefined : Number(port));
    return 0;
  },
};
