import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import type { Message, Utterance } from '../../engine/core/events/message.ts';
import { type Instructed, instructedIn } from '../../engine/core/seats/ownTools.ts';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';

/** A change to the user's side of the database at the start of a task. */
export type UserState = { readonly side: 'user'; readonly path: readonly string[]; readonly value: Json };

/** Returns what the user did with its own tools: what the agent asked for, where the user tells that it worked. */
export function doneByUser(spoken: readonly Utterance[], domain: Domain): readonly Instructed[] {
  const messages = spoken.map(
    ({ role, step, content }): Message =>
      role === 'agent' ? { role, step, content, toolCalls: [] } : { role, step, content },
  );
  return instructedIn({ domain, messages }).filter(({ isError }) => !isError);
}

/** Returns what the user says by themselves, and not of what came of something that they did. */
export function ownWordsIn(spoken: readonly Utterance[], done: readonly Instructed[]): readonly string[] {
  const reports = new Set(done.map(({ step }) => step));
  return spoken.flatMap(({ role, step, content }) => (role === 'user' && !reports.has(step) ? [content] : []));
}

type Call = { readonly tool: string; readonly arguments: JsonObject };
type Leaf = { readonly path: readonly string[]; readonly value: Json };

/**
 * Returns what a conversation says about the user's own side as it was: the row of the agent's database that it belongs
 * to, and what the user read off and the agent then worked with. Nothing else of it is in words.
 */
export function userStateIn(
  done: readonly Instructed[],
  calls: readonly Call[],
  domain: Domain,
  world: { readonly agent: JsonObject; readonly user: JsonObject },
): readonly UserState[] {
  if (done.length === 0) return [];
  const leaves = [...leavesIn(world.user, [])];
  const ofAgent = calls.filter(({ tool }) =>
    domain.tools.some(({ name, owner }) => name === tool && owner === 'agent'),
  );
  const given = ofAgent.flatMap((call) => Object.entries(call.arguments));
  return [...belonging(leaves, given, world.agent), ...readings(leaves, given, done, domain)].map(
    ({ path, value }) => ({ side: 'user', path, value }),
  );
}

function* leavesIn(value: Json, path: readonly string[]): Iterable<Leaf> {
  if (typeof value !== 'object' || value === null) yield { path, value };
  else if (!Array.isArray(value))
    for (const [key, each] of Object.entries(value)) yield* leavesIn(each, [...path, key]);
}

type Given = readonly (readonly [argument: string, value: Json])[];

/**
 * Returns where a value of the side is the key of a row of the agent's, it is the one row of that table which the calls
 * name.
 */
function belonging(leaves: readonly Leaf[], given: Given, database: JsonObject): readonly Leaf[] {
  const named = new Set(given.map(([, value]) => value));
  return Object.values(database).flatMap((table) => {
    if (typeof table !== 'object' || table === null || Array.isArray(table)) return [];
    const [row, ...more] = Object.keys(table).filter((key) => named.has(key));
    if (row === undefined || more.length > 0) return [];
    return leaves
      .filter(({ value }) => typeof value === 'string' && value !== row && Object.hasOwn(table, value))
      .map(({ path }) => ({ path, value: row }));
  });
}

/**
 * Returns what the user said about its reads before its first change, where the side has one value of the argument's
 * name.
 */
function readings(
  leaves: readonly Leaf[],
  given: Given,
  done: readonly Instructed[],
  { tools }: Domain,
): readonly Leaf[] {
  const isRead = ({ tool }: Instructed) => tools.some(({ name, effect }) => name === tool && effect === 'read');
  const firstWrite = done.findIndex((each) => !isRead(each));
  const reads = firstWrite < 0 ? done : done.slice(0, firstWrite);
  const told = new Map(given.filter(([, value]) => reads.some(({ answer }) => namesValue(answer, String(value)))));
  return [...told].flatMap(([argument, value]) => {
    const places = leaves.filter(({ path }) => path.at(-1) === argument);
    const [former, ...others] = new Set(places.map((place) => place.value));
    const isOne = others.length === 0 && typeof former === typeof value && former !== value;
    return isOne ? places.map(({ path }) => ({ path, value })) : [];
  });
}
