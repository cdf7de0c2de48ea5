import { approvalHash, approvedEffects, throwUnlessApproved } from '../../engine/shell/approvals/approvals.ts';
import { type Effects, effectsIn, effectsOfAgent } from '../../engine/shell/approvals/effects.ts';
import { parseAgentFile } from '../../engine/shell/load/agentFile.ts';
import { parseLentModel } from '../../engine/shell/models/parseSeat.ts';
import { domainsOf } from './keys.ts';
import type { Launch } from './target.ts';
import { notCopied } from './trees.ts';

/**
 * Returns the environment variable that passes the approvals of this machine to the engine on another one: those of the
 * domains and of the agent of a run, also for a machine without a sandbox. Throws an `ApprovalQuestion` for what is not approved.
 */
export function approvedThere({ config }: Launch, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const effects = [...domainsOf(config).map((folder) => effectsIn(folder, false)), agentOf(config, environment)].filter(
    (each) => each !== null && each.effects.length > 0,
  ) as readonly Effects[];
  for (const each of effects) throwUnlessApproved(each, environment);
  // What was approved by its hash may have been named there, where the code has another hash.
  const hashes = [environment[approvedEffects] ?? '', ...effects.map((each) => approvalHash(each, notCopied))].filter(
    Boolean,
  );
  return hashes.length > 0 ? { [approvedEffects]: hashes.join(' ') } : {};
}

/** Returns the effects of the agent's file. Reading the configuration has already reported errors in the file. */
function agentOf({ agent }: Launch['config'], environment: NodeJS.ProcessEnv): Effects | null {
  if (typeof agent !== 'string') return null;
  const seat = parseAgentFile(agent, (text) => parseLentModel(text, environment));
  return 'program' in seat ? effectsOfAgent(seat) : null;
}
