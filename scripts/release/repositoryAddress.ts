import { spawnSync } from 'node:child_process';
import { root } from '../repository.ts';

/**
 * Returns the https address of the project's repository: GITHUB_REPOSITORY, or the remote `origin` of the clone. Returns
 * undefined if neither names a web address.
 */
export function repositoryAddress(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = environment;
  if (server && name) return webAddress(`${server}/${name}`);
  const { status, stdout } = spawnSync('git', ['remote', 'get-url', 'origin'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? webAddress(stdout.trim()) : undefined;
}

/** Returns the web address of a git remote: `git@HOST:OWNER/NAME.git` and `https://HOST/OWNER/NAME.git` are the same. */
export function webAddress(remote: string): string | undefined {
  const [, host, path] =
    /^(?:https:\/\/(?:[^@/]+@)?|git@|ssh:\/\/git@)([\w.-]+)[:/](\S+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return host && path ? `https://${host}/${path}` : undefined;
}
