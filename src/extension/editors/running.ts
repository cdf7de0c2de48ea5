import { answerOf, runCommand } from '../commandLine/commandLine.ts';
import type { Running } from './editorSession.ts';

/**
 * Returns the answer of a command of the command line. Throws its error if it failed.
 * @param good exit codes with which it also answers
 */
export async function answered(
  { context, progress, token }: Running,
  args: readonly string[],
  good?: readonly number[],
): Promise<Readonly<Record<string, unknown>>> {
  return answerOf(await runCommand(context, [...args, '--json'], progress, token), 'It', good);
}
