import { existsSync } from 'node:fs';

/** The OpenSSH server of this machine; it must be started by its whole path. */
export function sshd(): string | undefined {
  return ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/opt/homebrew/sbin/sshd'].find((path) => existsSync(path));
}

/** Why there can be no OpenSSH server for tests on this machine, if so. */
export function sshObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'the server of the tests is looked after through /proc';
  return sshd() === undefined ? 'there is no sshd here: install the package openssh-server' : undefined;
}
