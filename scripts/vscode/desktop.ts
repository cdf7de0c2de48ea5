import { findOnPath } from '../process.ts';

/**
 * Returns the command of a desktop VS Code on PATH: `code`, `code-insiders` or `codium`. Inside a remote window, `code`
 * is another program, which cannot load an extension from a folder.
 */
export function findDesktop(): string | undefined {
  const command = findOnPath('code', 'code-insiders', 'codium');
  return command?.includes('remote-cli') ? undefined : command;
}
