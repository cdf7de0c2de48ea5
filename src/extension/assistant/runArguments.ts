import { namedModel } from '../../engine/core/domain/seatSpec.ts';
import { makeNewRunFolder } from '../../engine/shell/records/runName.ts';

/** A rollout that the editor's own agent asks for. */
export type AskedRun = {
  readonly folder: string;
  /** The folder that contains the runs of the domain. */
  readonly runs: string;
  readonly task: string;
  readonly agent: string | undefined;
};

/**
 * Creates the folder of the run and returns the command that plays a task for the editor's own agent. What that agent
 * writes may be what a page or a recording told it to write: so an address that a key would go to is for a person to
 * choose, and a task is never an option.
 */
export function runArguments({ folder, runs, task, agent }: AskedRun): readonly string[] {
  if (!/^[A-Za-z0-9][A-Za-z0-9._@-]*$/.test(task))
    throw new Error(
      `"${task}" is not a task id: it has letters, digits, dots, dashes and underscores, and may end in @ and a persona`,
    );
  if (agent !== undefined && agent !== 'gold' && agent !== 'scripted' && namedModel(agent)?.address !== null)
    throw new Error(
      `the agent is gold, scripted or openai:MODEL here, not "${agent}": the endpoint of a model is set by a person, in the settings`,
    );
  const out = makeNewRunFolder(runs, task);
  return ['run', folder, task, '--json', '--out', out, ...(agent === undefined ? [] : ['--agent', agent])];
}
