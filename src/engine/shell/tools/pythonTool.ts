import type { ToolOrigin } from '../../core/domain/sources/sources.ts';
import { type CallLimits, declaredLimits, type Tool } from '../../core/domain/tool.ts';
import type { BridgeTool } from './bridgeAnswer.ts';

/** Returns what the engine knows of a tool that a Python process described; what domain.yaml says about it wins. */
export function pythonTool(told: BridgeTool, source: ToolOrigin, timeoutMs: number, limits: CallLimits = {}): Tool {
  const own: CallLimits = {
    cache: told.cache,
    retries: told.retries,
    ...(told.rateLimit ? { rateLimit: { calls: told.rateLimit[0], perMs: told.rateLimit[1] } } : {}),
    ...limits,
  };
  return {
    name: told.name,
    description: told.description,
    parameters: told.parameters,
    effect: told.effect,
    owner: told.owner,
    source,
    ...(told.generic ? { generic: true } : {}),
    ...(told.handsOff ? { handsOff: true } : {}),
    timeoutMs: limits.timeoutMs ?? told.timeoutMs ?? timeoutMs,
    idempotent: limits.idempotent ?? told.idempotent,
    ...declaredLimits(own),
  };
}
