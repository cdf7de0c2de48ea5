import { existsSync } from 'node:fs';
import type { Obstacle } from './obstacle.ts';
import { findOnPath } from './process.ts';

/** Returns the path of this machine's OpenSSH server, which must be started by its absolute path. */
export function sshd(): string | undefined {
  return ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/opt/homebrew/sbin/sshd'].find((path) => existsSync(path));
}

/** Returns why the tests cannot start an OpenSSH server here, if they cannot. */
export function sshObstacle(): Obstacle | undefined {
  if (process.platform !== 'linux')
    return { reason: 'the SSH tests find processes in /proc, which exists on Linux only' };
  if (sshd() !== undefined) return undefined;
  const manager = ['apt-get', 'dnf'].find((name) => findOnPath(name) !== undefined);
  return {
    reason: 'the OpenSSH server (sshd) is not installed',
    ...(manager && { install: `sudo ${manager} install -y openssh-server` }),
  };
}
