import type { Tool } from '../core/tool.ts';
import { throwUnlessApproved } from './approvals.ts';
import { type EffectDomain, effectsOfDomain, isOfCode } from './effects.ts';
import { Fault } from './fault.ts';
import { startLane } from './lane/laneProcess.ts';
import { completeDomain } from './load/completeDomain.ts';
import { hasOutsideTools, type LoadedDomain } from './load/loadedDomain.ts';
import { SharedTools, type ToolDomain } from './sharedTools.ts';

/** A domain with its tools described, of whichever kind they are; whether it is sound is not looked at. */
export async function describedDomain(loaded: LoadedDomain): Promise<LoadedDomain> {
  const [code, outside] = await Promise.all([
    loaded.toolsFile === null ? [] : describeCodeTools(loaded),
    hasOutsideTools(loaded) ? describeOutsideTools(loaded) : [],
  ]);
  return completeDomain(loaded, code, outside, { soundness: false });
}

/** The code tools of a domain, described by a lane that ends afterwards. Throws a `Fault` that names file and line. */
export async function describeCodeTools(domain: EffectDomain): Promise<readonly Tool[]> {
  const { folder, file } = domain;
  const effects = effectsOfDomain(domain);
  if (effects.effects.some(isOfCode)) throwUnlessApproved(effects);
  const { promise, resolve, reject } = Promise.withResolvers<readonly Tool[]>();
  const lane = startLane(
    { folder, toolsFile: file.tools, timeoutMs: file.toolTimeoutMs, network: file.network },
    {
      onMessage: (message) => {
        if (message.type === 'described') resolve(message.tools);
        else if (message.type === 'notDescribed') reject(new Fault(message.failure));
      },
      onDeath: ({ failure }) => reject(new Fault(failure)),
    },
  );
  return promise.finally(() => lane.kill());
}

/** The tools outside the lane (Python, environments, MCP servers); everything that is started for it ends again. */
export async function describeOutsideTools(domain: ToolDomain): Promise<readonly Tool[]> {
  const tools = new SharedTools(domain, () => undefined);
  try {
    return await tools.describe();
  } finally {
    tools.close();
  }
}
