import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../../../engine/shell/files/fault.ts';
import { redacted, redactedPart } from '../../../engine/shell/keys/secrets.ts';
import { withoutKeys } from '../../../engine/shell/processes/childEnvironment.ts';
import { lastLineOf } from '../../python/lastLine.ts';
import { trainerFolder } from '../../python/pythonEnvironment.ts';
import { cutFault, environmentFault } from '../targetFaults.ts';
import type { SshAddress } from './address.ts';
import { type ByteReader, bytesOf } from './byteReader.ts';
import { sshFault } from './words.ts';

/** Runs what comes in: first how long the program is, then the program, which reads the rest. */
const bootstrap =
  'import sys; exec(compile(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())), "remote_agent.py", "exec"))';

/**
 * The files that make the program, in this order: the last uses the functions of those before. Nothing of the
 * trainer is there yet, so neither imports any of it.
 */
const parts = ['child_process.py', 'trainer_process.py']
  .map((file) => join('rehearsal_trainer', 'processes', file))
  .concat('install_wheel.py', 'remote_agent.py');

/** ssh's own exit code where there is no connection, or no longer one. */
const noConnection = 255;

/** A call of the remote agent that is under way. */
export type RemoteCall = {
  readonly answers: ByteReader;
  readonly send: (data: string | Uint8Array) => Promise<void>;
  /** Waits for its end; an end from outside is a `Fault`. */
  readonly end: () => Promise<void>;
  readonly cut: () => void;
};

type CallOptions = {
  readonly signal?: AbortSignal;
  /** Receives each line that is reported there for people. */
  readonly onWords?: (line: string) => void;
};

/** The options that every connection has. Who a machine is gets decided by a person, never here. */
function sshArguments({ host, port }: SshAddress, command: string): string[] {
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'ConnectTimeout=10',
    'ServerAliveInterval=5',
    'ServerAliveCountMax=3',
  ];
  const way = port === undefined ? [] : ['-p', String(port)];
  return ['-T', ...options.flatMap((each) => ['-o', each]), ...way, '--', host, command];
}

/**
 * Starts a command on the target. Its request may come on its standard input, so that other users of the machine do not see
 * it among the arguments of a process.
 */
export function openSsh(address: SshAddress, command: string, { signal, onWords }: CallOptions = {}): RemoteCall {
  const child = spawn('ssh', sshArguments(address, command), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: withoutKeys(),
    windowsHide: true,
  });
  const cut = () => void child.kill('SIGKILL');
  if (signal?.aborted) cut();
  signal?.addEventListener('abort', cut, { once: true });
  const words = collectedStderr(child, onWords);
  const ended = endOf(child);
  // The end reports what can no longer be written.
  child.stdin.on('error', () => undefined);
  return {
    answers: bytesOf(child.stdout),
    send: async (data) => {
      if (child.stdin.writable && !child.stdin.write(data)) await Promise.race([once(child.stdin, 'drain'), ended]);
    },
    end: async () => {
      child.stdin.end();
      const { code, error } = await ended;
      signal?.removeEventListener('abort', cut);
      if (error) throw cantStart(error);
      if (code === noConnection || code === null) throw sshFault(address, words());
      if (code !== 0) throw remoteFault(address, words());
    },
    cut,
  };
}

/** Its exit code, once all its words are there. The answers may be unread, so no one waits for the end of those. */
async function endOf(
  child: ChildProcessWithoutNullStreams,
): Promise<{ readonly code: number | null; readonly error?: Error }> {
  const said = new Promise((done) => child.stderr.once('close', done));
  const end = await new Promise<{ readonly code: number | null; readonly error?: Error }>((done) => {
    child.once('error', (error) => done({ code: null, error }));
    child.once('exit', (code) => done({ code }));
  });
  if (!end.error) await said;
  return end;
}

function collectedStderr(
  child: ChildProcessWithoutNullStreams,
  onWords: ((line: string) => void) | undefined,
): () => string {
  let words = '';
  let line = '';
  child.stderr.on('data', (chunk: Buffer) => {
    words = redactedPart(words + chunk.toString(), -8000);
    const lines = (line + chunk.toString()).split('\n');
    line = lines.pop() ?? '';
    for (const each of lines) onWords?.(redacted(each));
  });
  return () => words;
}

function cantStart(error: Error): Fault {
  const message = `ssh can't be started (${error.message}): install an OpenSSH client and add it to the PATH`;
  return environmentFault('ssh/missing', message);
}

function remoteFault({ host }: SshAddress, words: string): Fault {
  // What cmd.exe and PowerShell say about `sh` and `/dev/null`.
  if (/ is not recognized as |cannot find the path specified/.test(words))
    return environmentFault('target/system', `${host} runs Windows: a target over SSH needs Linux or macOS`);
  const last = lastLineOf(words) || 'it exited without output';
  return environmentFault('target/failed', `on ${host}: ${last}`);
}

/** A shell may greet on its standard output before anything that was asked for runs. */
async function passGreeting({ line }: ByteReader): Promise<void> {
  for (let said = await line(); said !== null && said !== 'rehearsal: remote agent'; ) said = await line();
}

/** Sends the remote agent of the trainer with what it is asked. The answers are still to be read. */
export async function callRemoteAgent(
  address: SshAddress,
  python: string,
  request: object,
  options: CallOptions = {},
): Promise<RemoteCall> {
  const call = openSsh(address, `${python} -c '${bootstrap}'`, options);
  const program = Buffer.concat(parts.map((file) => readFileSync(join(trainerFolder(), file))));
  await call.send(`${program.length}\n`);
  await call.send(program);
  await call.send(`${JSON.stringify({ folder: address.folder, ...request })}\n`);
  await passGreeting(call.answers);
  return call;
}

/** Asks the remote agent something that it answers in one line. */
export async function askRemoteAgent<Answer>(
  address: SshAddress,
  python: string,
  request: object,
  options: CallOptions = {},
): Promise<Answer> {
  const call = await callRemoteAgent(address, python, request, options);
  const line = await call.answers.line();
  await call.end();
  if (line === null) throw cutFault(`the connection to ${address.host} ended without an answer`);
  return JSON.parse(line) as Answer;
}
