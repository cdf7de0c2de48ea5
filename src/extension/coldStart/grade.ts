import { askNamedModel } from '../authoring/drafting.ts';
import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { tell } from '../commandLine/tell.ts';
import { pickSynthesis } from '../runs/synthFolders.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { refreshSpotCheck } from './spotCheck.ts';

/**
 * Lets a model grade the selection of a synthesis, with progress and cancellation.
 * @returns the number of graded rollouts, or undefined if grading did not complete
 */
export async function gradeSynthesis(context: Context, target: unknown): Promise<number | undefined> {
  if (!mayRun('Graders')) return undefined;
  const folder = typeof target === 'string' ? target : await pickSynthesis();
  const model = folder && (await askNamedModel(context, 'The model that grades'));
  if (!folder || !model) return undefined;
  const args = ['synth', 'grade', folder, '--grader', model];
  const end = await runOrTell(context, 'Rehearsal: grading cold-start trajectories', args);
  await refreshSpotCheck();
  if (!end) return undefined;
  const { graded, kept, errors } = end.answer as {
    readonly graded: number;
    readonly kept: number;
    readonly errors: number;
  };
  const said = `${kept} of ${graded} graded trajectories would be kept.`;
  if (errors > 0) void tell(context, 'warning', `${said} ${errors} have no grade; grade again to retry them.`);
  else void showInformationMessage(said);
  return graded;
}
