import type { RolloutEvent } from '../engine/core/events/event.ts';
import { leavesOf } from '../engine/core/text/value.ts';
import { contentHash } from '../engine/core/values/hash.ts';
import type { Json } from '../engine/core/values/json.ts';

/**
 * Returns what a conversation is apart from its names and numbers: two with the same shape say the same words in the
 * same order and make the same calls, about other people and things. What tools return is data and does not count, but
 * whether it was an error does.
 */
export function conversationShape(events: readonly RolloutEvent[]): string {
  const names = namesIn(events);
  const plain = (text: string | null) => plainText(text ?? '', names);
  const lines = events.flatMap((event): readonly Json[] => {
    switch (event.type) {
      case 'userReplied':
        return [['user', plain(event.content), event.stop, ...callsOf(event.toolCalls ?? [], plain)]];
      case 'agentReplied':
        return [['agent', plain(event.content), ...callsOf(event.toolCalls, plain)]];
      case 'toolReturned':
        return [['result', event.isError]];
      default:
        return [];
    }
  });
  return contentHash(lines);
}

type Call = { readonly name: string; readonly arguments: unknown };

function callsOf(calls: readonly Call[], plain: (text: string) => string): Json[] {
  return calls.map((call) => [call.name, plainValue(call.arguments as Json, plain)]);
}

function plainValue(value: Json, plain: (text: string) => string): Json {
  if (typeof value === 'number') return '#';
  if (typeof value === 'string') return plain(value);
  if (Array.isArray(value)) return value.map((each) => plainValue(each, plain));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([name, each]) => [name, plainValue(each as Json, plain)]);
}

const word = /[\p{L}\p{N}_@'’.+-]*[\p{L}\p{N}_@]/gu;
const capital = /^\p{Lu}[\p{Ll}'’-]+$/u;
/** Words that are written with a capital wherever they are. */
const noNames = new Set(['I', "I'm", "I'd", "I'll", "I've", 'I’m', 'I’d', 'I’ll', 'I’ve']);

function plainText(text: string, names: ReadonlySet<string>): string {
  const words = [...text.matchAll(word)].map(([each]) => {
    if (/\p{N}/u.test(each)) return '#';
    if (each.includes('@')) return '@';
    return names.has(each.replace(/['’]s$/, '')) ? 'N' : each.toLowerCase();
  });
  return words.filter((each, at) => !(each === 'N' && words[at - 1] === 'N')).join(' ');
}

/** Words that a conversation uses as names: with a capital inside a sentence, or as the whole of a value of a call. */
function namesIn(events: readonly RolloutEvent[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const event of events) {
    const said = event.type === 'agentReplied' || event.type === 'userReplied' ? event : null;
    if (said === null) continue;
    for (const name of namesSaid(said.content ?? '')) names.add(name);
    for (const call of said.toolCalls ?? [])
      for (const leaf of leavesOf(call.arguments)) for (const name of namesOfValue(leaf)) names.add(name);
  }
  return names;
}

function namesSaid(text: string): readonly string[] {
  return [...text.matchAll(word)].flatMap(({ 0: each, index }) => {
    const isInside = /[\p{L}\p{N},;]\s+$/u.test(text.slice(Math.max(0, index - 3), index));
    const name = each.replace(/['’]s$/, '');
    return isInside && capital.test(name) && !noNames.has(name) ? [name] : [];
  });
}

/** A value is a name where each of its few words has a capital. */
function namesOfValue(value: string): readonly string[] {
  const words = value.split(/\s+/);
  return words.length <= 4 && words.every((each) => capital.test(each)) ? words : [];
}
