import type { Side } from '../domain/tool.ts';
import { contentHash } from '../values/hash.ts';
import type { Json } from '../values/json.ts';

/** A call of a gold action, and whether it failed. */
export type GoldCall = {
  readonly by: Side;
  readonly name: string;
  readonly arguments: Json;
  readonly isError: boolean;
  readonly content: string;
};

/** Returns the calls of gold actions that failed. A call that succeeds when it is made again did not fail. */
export function failedGold(calls: readonly GoldCall[]): readonly GoldCall[] {
  if (!calls.some(({ isError }) => isError)) return [];
  const failed = new Map<string, GoldCall>();
  for (const call of calls) {
    const made = contentHash([call.name, call.by, call.arguments]);
    if (call.isError) failed.set(made, call);
    else failed.delete(made);
  }
  return [...failed.values()];
}
