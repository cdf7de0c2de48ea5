import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { finished } from 'node:stream';
import { Fault } from '../../engine/shell/files/fault.ts';
import { RehearsalSession } from './adapter.ts';
import { limitedMessages } from './messageLimit.ts';

/** Serves the Debug Adapter Protocol on standard input and output. Resolves when standard input ends. */
export async function serveDap(signal: AbortSignal): Promise<void> {
  const session = new RehearsalSession();
  signal.addEventListener('abort', () => session.shutdown(), { once: true });
  session.start(process.stdin, process.stdout);
  // A file, such as /dev/null, ends without closing; a folder ends with an error.
  await new Promise<void>((resolve) => finished(process.stdin, { writable: false }, () => resolve()));
}

/**
 * Serves the Debug Adapter Protocol on a loopback port, one session a connection, until `signal`; once `until` is
 * settled no one else is let in, and it ends with its last session. Anyone who connects must name the token that is
 * announced (or given as REHEARSAL_DAP_TOKEN) in its launch or attach configuration: a launch runs code. A port that is
 * not available is a `Fault`.
 */
export async function listenDap(
  signal: AbortSignal,
  port: number,
  announce: (address: string, token: string) => void,
  until?: Promise<void>,
): Promise<void> {
  const token = process.env['REHEARSAL_DAP_TOKEN'] || randomBytes(16).toString('hex');
  const sockets = new Set<Socket>();
  // Answers and events are small and follow one another: each is sent at once.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const session = new RehearsalSession({ token });
    session.setRunAsServer(true);
    const messages = limitedMessages(() => session.isTrusted);
    messages.once('error', () => socket.destroy());
    socket.pipe(messages);
    socket.once('close', () => messages.destroy());
    session.start(messages, socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portFault(port, error)));
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = server.address() as { port: number };
  announce(`127.0.0.1:${bound}`, token);
  const closed = new Promise((resolve) => server.once('close', resolve));
  void until?.finally(() => server.close());
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  await closed;
}

function portFault(port: number, { code, message }: NodeJS.ErrnoException): Fault {
  const reason = code === 'EADDRINUSE' ? 'another program listens there' : message;
  return new Fault({
    who: 'infrastructure',
    code: 'dap/port',
    message: `port ${port} of 127.0.0.1 is not available: ${reason}. Choose another port, or 0 for any free port`,
  });
}
