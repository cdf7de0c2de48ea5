import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { RehearsalSession } from './adapter.ts';

/**
 * Serves the Debug Adapter Protocol on standard input and output, or on a loopback port, one session a connection.
 * Whoever connects to the port must name the token that is printed (or given as REHEARSAL_DAP_TOKEN) in its launch or
 * attach configuration: a launch runs code. Resolves when standard input ends; a listening server ends with `signal`.
 */
export async function serveDap(signal: AbortSignal, port?: number): Promise<void> {
  if (port === undefined) {
    const session = new RehearsalSession();
    signal.addEventListener('abort', () => session.shutdown(), { once: true });
    session.start(process.stdin, process.stdout);
    await new Promise((resolve) => process.stdin.once('close', resolve));
    return;
  }
  const token = process.env['REHEARSAL_DAP_TOKEN'] || randomBytes(16).toString('hex');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const session = new RehearsalSession({ token });
    session.setRunAsServer(true);
    session.start(socket, socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = server.address() as { port: number };
  process.stderr.write(`listening on 127.0.0.1:${bound}\ntoken ${token}\n`);
  const closed = new Promise((resolve) => server.once('close', resolve));
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  await closed;
}
