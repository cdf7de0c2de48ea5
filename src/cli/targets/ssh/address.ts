import { UsageError } from '../../terminal/io.ts';

/** The address of a target over SSH, written `ssh://user@host:port/folder`. */
export type SshAddress = {
  /** `host` or `user@host`, as ssh takes it: also a name of the user's own ssh configuration. */
  readonly host: string;
  readonly port: number | undefined;
  /** The folder that contains everything on the target. A path that begins with `~/` is in the home folder. */
  readonly folder: string;
};

const expected = 'expected ssh://user@host:port/folder, where user, port and folder may be left out';

/** Parses the address of a target. Throws a `UsageError` if it is not valid. */
export function readAddress(text: string): SshAddress {
  const { hostname, port, username, password, path, search, hash } = parsed(text);
  if (password) throw new UsageError(`--target: an address must not contain a password; ssh signs in with a key`);
  // What begins with a dash would be an option of ssh.
  const isPlain = (name: string) => /^[\w[][\w.:\]-]*$/.test(name);
  if (!isPlain(hostname) || (username && !isPlain(username)) || search || hash)
    throw new UsageError(`--target ${text}: ${expected}`);
  return {
    host: username ? `${username}@${hostname}` : hostname,
    port: port ? Number(port) : undefined,
    folder: path === '' ? '~/rehearsal' : path.replace(/^\/~(?=\/|$)/, '~'),
  };
}

function parsed(text: string) {
  try {
    const { hostname, port, username, password, pathname, search, hash } = new URL(text);
    const path = decodeURIComponent(pathname).replace(/\/+$/, '');
    return { hostname, port, username, password, path, search, hash };
  } catch {
    throw new UsageError(`--target ${text}: ${expected}`);
  }
}
