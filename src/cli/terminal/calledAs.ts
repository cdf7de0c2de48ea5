import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';

/** The command in the texts of messages. npx finds the program in a project and where npm has installed it globally. */
export const commandInTexts = 'npx rehearsal';

/**
 * Returns how a person types this program in a terminal: by its name alone where PATH leads to it, as after a global
 * installation. A process that npm has started, as npx does, has the project's programs on PATH, which a terminal lacks.
 */
export function calledAs(
  { PATH = '', npm_command }: NodeJS.ProcessEnv,
  own = shippedFolder('bin/rehearsal.mjs'),
): string {
  if (npm_command !== undefined) return commandInTexts;
  const first = PATH.split(delimiter)
    .map((folder) => join(folder, 'rehearsal'))
    .find((path) => existsSync(path));
  return first !== undefined && existsSync(own) && realpathSync(first) === realpathSync(own)
    ? 'rehearsal'
    : commandInTexts;
}
