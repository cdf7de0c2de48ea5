import { namesValue, type Recogniser, recogniser } from '../dialogue/dialogue.ts';
import type { Domain } from '../domain/domain.ts';
import { factOf, type Task } from '../domain/task.ts';
import { leavesOf } from '../text/value.ts';
import type { Json } from '../values/json.ts';
import { memo } from '../values/memo.ts';
import type { Message } from './message.ts';

/** The facts that a user knows, by name: the value as a tool takes it, and the words that this user says for it. */
export type Facts = Readonly<Record<string, { readonly value: string | number | boolean; readonly say: string }>>;

const factsBefore = new WeakMap<Task, Facts>();
const factsAfter = new WeakMap<Task, Facts>();

/** Returns the facts that the user goes by: those of the task, overridden by the change of mind once it was said. */
export function factsOf(task: Task, isChanged: boolean): Facts {
  const remembered = isChanged ? factsAfter : factsBefore;
  const found = remembered.get(task);
  if (found) return found;
  const known = { ...task.user.known, ...(isChanged ? task.user.change?.known : {}) };
  const made = Object.freeze(Object.fromEntries(Object.entries(known).map(([name, fact]) => [name, factOf(fact)])));
  remembered.set(task, made);
  return made;
}

/** Whether a text of the user tells a fact, by its value or by the user's own wording of it. */
export function tells(text: string, fact: Facts[string]): boolean {
  const value = String(fact.value);
  return namesValue(text, value) || (fact.say !== value && namesValue(text, fact.say));
}

/** Names of the facts that a text tells, in their order. */
export function toldBy(facts: Facts, text: string): readonly string[] {
  const known = tellings.get(facts);
  if (known) return known(text);
  const made = memo((said) => Object.keys(facts).filter((name) => facts[name] && tells(said, facts[name])), 200);
  tellings.set(facts, made);
  return made(text);
}

const tellings = new WeakMap<Facts, (text: string) => readonly string[]>();

/** Whether the user has said the task's change of mind: its words, or all the values that are new. */
export function isChangeSaid(task: Task, messages: readonly Message[]): boolean {
  const { change } = task.user;
  if (!change) return false;
  const fresh = Object.entries(change.known)
    .map(([name, fact]) => ({ after: factOf(fact), before: task.user.known[name] }))
    .filter(({ after, before }) => before === undefined || factOf(before).value !== after.value);
  return messages.some(
    (message) =>
      message.role === 'user' &&
      (namesValue(message.content, change.say) ||
        (fresh.length > 0 && fresh.every(({ after }) => tells(message.content, after)))),
  );
}

/** The name of the fact that an argument of a call carries, or null when the user does not know its value. */
export function factBehind(facts: Facts, argument: string, value: string): string | null {
  const named = facts[argument];
  if (named && String(named.value) === value) return argument;
  const isTelling = value.length > 1 && value !== 'true' && value !== 'false';
  return isTelling ? (Object.keys(facts).find((name) => String(facts[name]?.value) === value) ?? null) : null;
}

/** The facts behind the arguments of a call, in their order. */
export function factsBehind(
  facts: Facts,
  call: { readonly arguments: Readonly<Record<string, Json>> },
): readonly string[] {
  const found = Object.entries(call.arguments).flatMap(([argument, value]) =>
    leavesOf(value).map((leaf) => factBehind(facts, argument, leaf)),
  );
  return [...new Set(found.filter((name) => name !== null))];
}

const recognisers = new WeakMap<Task, { readonly domain: Domain; readonly recogniser: Recogniser }>();

/** The recogniser for a task: it understands the facts of the lexicon and those of the user. */
export function recogniserOf(domain: Domain, task: Task): Recogniser {
  const found = recognisers.get(task);
  if (found?.domain === domain) return found.recogniser;
  const { known, unknown, change } = task.user;
  const names = new Set([
    ...Object.keys(domain.lexicon.facts),
    ...Object.keys(known),
    ...unknown,
    ...Object.keys(change?.known ?? {}),
  ]);
  const made = recogniser(domain.lexicon, [...names]);
  recognisers.set(task, { domain, recogniser: made });
  return made;
}

/** Returns, of the facts behind each request, those by which it is recognised: the ones that not every request has. */
export function ownFactsOf(requests: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return requests.map((names) => names.filter((name) => !requests.every((other) => other.includes(name))));
}

/** Whether one of the texts tells one of these facts. */
export function isAnyTold(texts: readonly string[], names: readonly string[], facts: Facts): boolean {
  return texts.some((text) => names.some((name) => facts[name] && tells(text, facts[name])));
}
