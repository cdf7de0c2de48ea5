import { contentHash } from '../../engine/core/values/hash.ts';
import { canonicalJson, isObject, type Json } from '../../engine/core/values/json.ts';
import type { Conversation, ImportProblem, Read } from './conversation.ts';
import type { Said } from './saidMessage.ts';
import type { PlacedRead } from './transcript.ts';

const keys = new WeakMap<Said, string>();

/** Equal for messages that say the same: a message that is repeated often lacks its ids and reasoning. */
export function keyOf(said: Said): string {
  const known = keys.get(said);
  if (known !== undefined) return known;
  const words = (said.content ?? '').trim();
  const calls =
    said.role !== 'agent'
      ? []
      : said.calls.map(({ name, arguments: given }) => [
          name,
          isObject(given as Json) ? canonicalJson(given as Json) : given,
        ]);
  const key = JSON.stringify([said.role, words, calls]);
  keys.set(said, key);
  return key;
}

/** Hashes of the first message, of the first two, and so on to the whole history. */
export function prefixesOf(said: readonly Said[]): readonly string[] {
  const found: string[] = [];
  for (const each of said) found.push(contentHash([found.at(-1) ?? '', keyOf(each)]));
  return found;
}

/**
 * Returns what an answer adds to the messages that it was logged with, which often end with it. They are compared by
 * their words and calls, since each may be in another form.
 */
export function unrepeated(asked: readonly PlacedRead[], answer: readonly PlacedRead[]): readonly PlacedRead[] {
  const before = asked.flatMap(({ said }) => said);
  const after = answer.flatMap(({ said }) => said);
  const isRepeated = (count: number) =>
    after.slice(0, count).every((each, at) => saysAgain(before[before.length - count + at], each));
  let count = Math.min(before.length, after.length);
  while (count > 0 && !isRepeated(count)) count -= 1;
  if (count === 0) return answer;
  let left = count;
  return answer.flatMap((each): readonly PlacedRead[] => {
    const said = each.said.slice(left);
    left = Math.max(0, left - each.said.length);
    return said.length > 0 || each.said.length === 0 ? [{ ...each, said }] : [];
  });
}

/** Returns whether a message says nothing that another one does not; an answer as a text lacks the calls. */
function saysAgain(known: Said | undefined, said: Said): boolean {
  if (known === undefined) return false;
  const isText = said.role === 'agent' && said.calls.length === 0 && Boolean(said.content?.trim());
  const compared = isText && known.role === 'agent' ? { ...known, calls: [] } : known;
  return keyOf(compared) === keyOf(said);
}

/**
 * Leaves out conversations that are the start of a longer one with the same id: a log of a proxy has a line for each call
 * of the model, each with the whole history. Requests without an id are compared with each other. What was lost of them
 * becomes a note.
 */
export function longestOf(read: Read): Read {
  const mayRepeat = read.conversations.filter(({ id, isRequest }) => id !== null || isRequest === true);
  const ofId = Map.groupBy(mayRepeat, ({ id }) => id);
  const started = new Set<Conversation>();
  for (const own of ofId.values()) {
    if (own.length === 1) continue;
    const histories = own.map((each) => prefixesOf(each.messages.filter(({ role }) => role !== 'system')));
    const starts = new Set(histories.flatMap((prefixes) => prefixes.slice(0, -1)));
    for (const [at, each] of own.entries()) if (starts.has(histories[at]?.at(-1) ?? '')) started.add(each);
  }
  if (started.size === 0) return read;
  const lost = [...started].flatMap((each): readonly ImportProblem[] => each.lost);
  const conversations = read.conversations.filter((each) => !started.has(each));
  const known = new Set(conversations.flatMap((each) => each.lost.map(({ message }) => message)));
  return { ...read, conversations, notes: [...read.notes, ...lost.filter(({ message }) => !known.has(message))] };
}
