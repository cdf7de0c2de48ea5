import { createServer } from 'node:net';
import { RehearsalSession } from './adapter.ts';

/**
 * Serves the Debug Adapter Protocol on standard input and output, or on a loopback port, one session a connection.
 * Resolves when standard input ends; a listening server runs until the process is stopped.
 */
export async function serveDap({ port }: { readonly port?: number } = {}): Promise<void> {
  if (port === undefined) {
    const session = new RehearsalSession();
    process.on('SIGTERM', () => session.shutdown());
    session.start(process.stdin, process.stdout);
    await new Promise((resolve) => process.stdin.once('close', resolve));
    return;
  }
  const server = createServer((socket) => {
    const session = new RehearsalSession();
    session.setRunAsServer(true);
    session.start(socket, socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  process.stderr.write(`listening on 127.0.0.1:${(server.address() as { port: number }).port}\n`);
  await new Promise((resolve) => server.once('close', resolve));
}
