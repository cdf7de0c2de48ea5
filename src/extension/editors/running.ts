import { runCommand } from '../commandLine.ts';
import type { Running } from './editorSession.ts';

/**
 * What a command of the command line answers. Throws what it says instead, where it could not be done.
 * @param good its exit codes that come with an answer
 */
export async function answered(
  { context, progress, token }: Running,
  args: readonly string[],
  good: readonly number[] = [0, 1],
): Promise<Readonly<Record<string, unknown>>> {
  const { code, answer, message } = await runCommand(context, [...args, '--json'], progress, token);
  if (code === null || !good.includes(code))
    throw new Error(message ?? 'It ended without a word; the log may tell more.');
  return answer;
}
