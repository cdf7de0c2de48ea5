import { type Command, text } from '../command.ts';
import { UsageError } from '../io.ts';

export const dap: Command = {
  name: 'dap',
  summary: 'the debug adapter, for VS Code and every other client',
  help: 'rehearsal dap [--port N]\n\nSpeaks the Debug Adapter Protocol over standard input and output.\n\n  --port N           listen on this loopback port instead\n',
  options: { port: { type: 'string' } },
  run: async (given) => {
    const port = text(given, 'port');
    if (port !== undefined && !/^[0-9]+$/.test(port)) throw new UsageError(`--port is a number, not "${port}"`);
    const { serveDap } = await import('../dap/server.ts');
    await serveDap(port === undefined ? {} : { port: Number(port) });
    return 0;
  },
};
