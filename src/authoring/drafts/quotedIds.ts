import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import { isWrite } from '../../engine/core/domain/tool.ts';
import { fieldsOf } from '../../engine/core/events/message.ts';
import { quotedIn, withResults } from '../../engine/core/events/quotedResults.ts';
import { mapLeaves } from '../../engine/core/text/value.ts';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { wordsIn } from '../../engine/shell/load/taskWorld.ts';
import type { MadeCall } from './neededCalls.ts';

/** Whether a value can be an id that a tool created. */
export const isIdLike = (value: Json): boolean => typeof value === 'string' && /^(?=\D*\d)\S{2,64}$/.test(value);

/**
 * Returns calls with quotes in place of the ids that earlier ones of them created, since another rollout gets other ids.
 * An id that the domain's database or the user has is written as it is.
 */
export function withQuotedIds(
  calls: readonly MadeCall[],
  users: readonly string[],
  { domain, world }: LoadedDomain,
): readonly MadeCall[] {
  const writes = new Set(domain.tools.filter(isWrite).map(({ name }) => name));
  const isOld = (value: string) =>
    [world.agent, world.user].some((side) => wordsIn(side).has(value)) || users.some((text) => namesValue(text, value));
  return calls.map((call, at) => {
    const before = calls.slice(0, at);
    const results = before.map(({ content }) => content);
    const quoted = mapLeaves(call.arguments as JsonObject, (value) => {
      if (!isIdLike(value) || isOld(String(value))) return value;
      const first = before.find((each) => JSON.stringify([each.arguments, each.content]).includes(String(value)));
      const path = first && writes.has(first.tool) ? pathTo(value, fieldsOf(first.content)) : null;
      const quote = `{${['result', ...(path ?? [])].join('.')}}`;
      const filled = withResults({ arguments: { quote } }, results).arguments['quote'];
      return quotedIn(quote) !== null && filled === value ? quote : value;
    });
    return { ...call, arguments: quoted as JsonObject };
  });
}

/** Returns the keys under which an object has a value; null if it does not have it. */
function pathTo(value: Json, within: Json): readonly string[] | null {
  if (value === within) return [];
  if (typeof within !== 'object' || within === null) return null;
  for (const [key, each] of Object.entries(within as JsonObject)) {
    const path = pathTo(value, each);
    if (path) return [key, ...path];
  }
  return null;
}
