import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { descendantsOf } from '../../scripts/processTree.ts';
import { sshd } from '../../scripts/ssh.ts';
import { freePort } from './freePort.ts';
import { killIfRunning } from './processes.ts';
import { temporaryFolder } from './temporary.ts';

/** A real OpenSSH server on loopback with its own host key and configuration, for the user who runs the tests. */
export type SshServer = {
  /** The address of a target on it, in a fresh folder. */
  readonly target: string;
  /** The path of that folder on this machine. */
  readonly folder: string;
  readonly port: number;
  /** Adds a program to the PATH of the server. */
  readonly install: (name: string, script: string) => void;
  /** The environment of commands: their `ssh` knows the host's key and signs in with the right key. */
  readonly environment: NodeJS.ProcessEnv;
  /** Environments whose `ssh` does not know the host's key, or signs in with another key. */
  readonly strangers: { readonly unknownHost: NodeJS.ProcessEnv; readonly wrongKey: NodeJS.ProcessEnv };
  /** Kills all sessions, but not the server. */
  readonly killSessions: () => void;
  readonly close: () => void;
};

/** Starts a server; `close` ends it with its sessions. */
export async function startSshServer(): Promise<SshServer> {
  const dir = temporaryFolder('rehearsal-sshd');
  const keys = ['host', 'own', 'other'].map((name) => join(dir, `${name}_key`));
  for (const key of keys) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const [host = '', own = '', other = ''] = keys;
  const port = await freePort();
  const authorized = join(dir, 'authorized_keys');
  writeFileSync(authorized, readFileSync(`${own}.pub`), { mode: 0o600 });
  const known = join(dir, 'known_hosts');
  const hostKey = readFileSync(`${host}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  writeFileSync(known, `[127.0.0.1]:${port} ${hostKey}\n`);
  const child = startServer(dir, port, host, authorized);
  await isListening(port, child);
  const { username } = userInfo();
  const folder = join(dir, 'far');
  return {
    target: `ssh://${username}@127.0.0.1:${port}${folder}`,
    folder,
    port,
    install: (name, script) => writeFileSync(join(dir, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
    environment: clientEnvironment(dir, 'right', own, known),
    strangers: {
      unknownHost: clientEnvironment(dir, 'unknown', own, join(dir, 'no-hosts')),
      wrongKey: clientEnvironment(dir, 'wrong', other, known),
    },
    killSessions: () => {
      for (const pid of descendantsOf(child.pid ?? 0)) killIfRunning(pid);
    },
    close: () => {
      for (const pid of [...descendantsOf(child.pid ?? 0), child.pid ?? 0]) killIfRunning(pid);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function startServer(dir: string, port: number, host: string, authorized: string): ChildProcess {
  const config = join(dir, 'sshd_config');
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${host}`,
    `AuthorizedKeysFile ${authorized}`,
    `PidFile ${join(dir, 'pid')}`,
    'PermitRootLogin yes',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'StrictModes no',
    'UsePAM no',
    'MaxStartups 100',
    `SetEnv PATH=${join(dir, 'bin')}:/usr/local/bin:/usr/bin:/bin BASH_ENV=${join(dir, 'greeting')}`,
  ];
  // Many people's shells do this, too.
  writeFileSync(join(dir, 'greeting'), 'unset BASH_ENV; echo "Welcome to this machine"\n');
  mkdirSync(join(dir, 'bin'));
  writeFileSync(config, `${lines.join('\n')}\n`);
  // If started as root, it needs the folder that a service would have created.
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
  return spawn(sshd() ?? 'sshd', ['-D', '-e', '-f', config], { stdio: 'ignore' });
}

/** An `ssh` in front of the machine's own, which reads the configuration of the test instead of the person's. */
function clientEnvironment(dir: string, name: string, key: string, known: string): NodeJS.ProcessEnv {
  const bin = join(dir, name);
  mkdirSync(bin);
  const config = join(bin, 'config');
  const lines = [`IdentityFile ${key}`, 'IdentitiesOnly yes', 'IdentityAgent none', `UserKnownHostsFile ${known}`];
  writeFileSync(config, `Host *\n${lines.map((line) => `  ${line}\n`).join('')}`);
  const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec ${ssh} -F ${config} "$@"\n`, { mode: 0o755 });
  return { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` };
}

async function isListening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const isUp = await new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1', () => done(true));
      socket.once('error', () => done(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isUp) return;
    await new Promise((later) => setTimeout(later, 50));
  }
  throw new Error(`sshd ended with ${child.exitCode}`);
}
