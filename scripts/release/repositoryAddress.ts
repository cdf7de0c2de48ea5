import { spawnSync } from 'node:child_process';
import { root } from '../repository.ts';

/**
 * Returns the https address of the project's repository: GITHUB_REPOSITORY, or the remote `origin` of the clone. Returns
 * undefined if neither names a web address.
 */
export function repositoryAddress(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = environment;
  if (server && name) return webAddress(`${server}/${name}`);
  const remote = originOf();
  return remote === undefined ? undefined : webAddress(remote);
}

/** Returns the remote `origin` of the clone; undefined without one. */
export function originOf(folder: string = root): string | undefined {
  const { status, stdout } = spawnSync('git', ['remote', 'get-url', 'origin'], { cwd: folder, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Returns why the address of the repository is unknown, what that changes, and how to name it. */
export function missingAddressText(origin: string | undefined): string {
  const why =
    origin === undefined
      ? 'the clone has no remote "origin"'
      : `the remote "origin" of the clone is ${origin}, which is not a web address`;
  return (
    `The address of the repository is not known: ${why}. The README of the packed files then has no pictures, and names ` +
    'pages instead of linking to them. For pictures and links, pass --repository https://HOST/OWNER/NAME.'
  );
}

/** Returns the web address of a git remote: `git@HOST:OWNER/NAME.git` and `https://HOST/OWNER/NAME.git` are the same. */
export function webAddress(remote: string): string | undefined {
  const [, host, path] =
    /^(?:https:\/\/(?:[^@/]+@)?|git@|ssh:\/\/git@)([\w.-]+)[:/](\S+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return host && path ? `https://${host}/${path}` : undefined;
}
