import { answerOf, runCommand } from '../commandLine.ts';
import type { Running } from './editorSession.ts';

/**
 * Returns what a command of the command line answers. Throws what it says instead, where it could not be done.
 * @param good its exit codes that come with an answer
 */
export async function answered(
  { context, progress, token }: Running,
  args: readonly string[],
  good?: readonly number[],
): Promise<Readonly<Record<string, unknown>>> {
  return answerOf(await runCommand(context, [...args, '--json'], progress, token), 'It', good);
}
