import { existsSync } from 'node:fs';
import { missing, type Obstacle } from './obstacle.ts';

/** Returns the path of this machine's OpenSSH server, which must be started by its absolute path. */
export function sshd(): string | undefined {
  return ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/opt/homebrew/sbin/sshd'].find((path) => existsSync(path));
}

/** Returns why the tests cannot start an OpenSSH server here, if they cannot. */
export function sshObstacle(): Obstacle | undefined {
  if (process.platform !== 'linux')
    return { reason: 'the SSH tests find processes in /proc, which exists on Linux only' };
  if (sshd() !== undefined) return undefined;
  return missing('the OpenSSH server (sshd) is not installed', {
    'apt-get': 'openssh-server',
    dnf: 'openssh-server',
  });
}
