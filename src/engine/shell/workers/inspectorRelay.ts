import { spawn } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { asNode } from '../processes/childEnvironment.ts';
import { programPath } from '../processes/sandbox.ts';

/** A port on this machine's loopback that leads to one inside a sandbox. */
export type Relay = { readonly url: string; readonly close: () => void };

/** Runs inside the sandbox's network: the inspector on one side, its own standard streams on the other. */
const program = `const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1');
process.stdin.pipe(socket).pipe(process.stdout);
socket.on('error', () => process.exit(1)).on('close', () => process.exit(0));`;

/**
 * Opens a relay to an inspector that listens inside the network of a confined process. Each connection gets a process
 * that has entered that network, and only that.
 * @param pid a process inside
 * @param inside the inspector's address there
 */
export async function relayInspector(pid: number, inside: string): Promise<Relay> {
  const nsenter = programPath('nsenter');
  if (!nsenter) throw new Error('nsenter of util-linux is missing, which leads a debugger into the sandbox');
  const { port } = new URL(inside);
  const entering = ['--user', '--net', '--preserve-credentials', '-t', String(pid), '--', process.execPath];
  const server = createServer((socket) => {
    const child = spawn(nsenter, [...entering, '-e', program, port], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: asNode,
    });
    child.stdin.on('error', () => undefined);
    child.on('error', () => socket.destroy()).on('exit', () => socket.end());
    socket.on('error', () => undefined).on('close', () => child.kill());
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(inside);
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.href, close: () => server.close() };
}
