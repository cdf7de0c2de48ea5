import type { GoldAction } from '../domain/task.ts';
import { leavesOf, mapLeaves } from '../text/value.ts';
import { canonicalJson, type Json, type JsonObject, valueAt } from '../values/json.ts';
import { answeredIn, fieldsOf, type Message } from './message.ts';

const quote = /^\{(result(?:\.\w+)+)\}$/;

/** Returns the expression in an argument that quotes a result: `result.note_id` of `{result.note_id}`; null without one. */
export function quotedIn(value: unknown): string | null {
  return (typeof value === 'string' ? quote.exec(value)?.[1] : undefined) ?? null;
}

/** Returns what a value in the form of a quote begins with, which may be misspelt: `reslt` of `{reslt.note_id}`. */
export function quotedNameIn(value: unknown): string | null {
  return (typeof value === 'string' ? /^\{(\w+)(?:\.\w+)+\}$/.exec(value)?.[1] : undefined) ?? null;
}

type Arguments = Pick<GoldAction, 'arguments'>;

/** Whether an argument of a gold action quotes a result. */
export function quotes({ arguments: given }: { readonly arguments: object }): boolean {
  const known = quoting.get(given);
  if (known !== undefined) return known;
  const found = leavesOf(given).some((leaf) => quotedIn(leaf) !== null);
  quoting.set(given, found);
  return found;
}

const quoting = new WeakMap<object, boolean>();

/**
 * Returns a gold action with values in place of what it quotes: of several results that have the field, the last. A quote
 * of nothing stays.
 * @param results of the gold actions before it that succeeded
 */
export function withResults<Action extends Arguments>(action: Action, results: readonly string[]): Action {
  if (!quotes(action)) return action;
  const fields = results.map(fieldsOf);
  const filled = mapLeaves(action.arguments as JsonObject, (value) => {
    const path = quotedIn(value)?.split('.').slice(1);
    const found = path && fields.map((each) => valueAt(each, path)).findLast((each) => each !== undefined);
    return found ?? value;
  });
  return { ...action, arguments: filled as JsonObject };
}

/** Whether a value equals a written one, except where that quotes a result. */
export function isFilled(written: Json, value: Json): boolean {
  if (quotedIn(written) !== null) return true;
  if (typeof written !== 'object' || typeof value !== 'object' || written === null || value === null)
    return written === value;
  const [one, other] = [written as JsonObject, value as JsonObject];
  const names = Object.keys(one);
  return (
    Array.isArray(written) === Array.isArray(value) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isFilled(one[name] as Json, other[name] as Json))
  );
}

/** A call that succeeded, and its result. */
type Made = { readonly tool: string; readonly arguments: unknown; readonly content: string };

/** The calls of a conversation that succeeded. */
export function succeededIn(messages: readonly Message[]): readonly Made[] {
  return answeredIn(messages).flatMap(({ call, result }): readonly Made[] =>
    call && !result.isError ? [{ tool: call.name, arguments: call.arguments, content: result.content }] : [],
  );
}

/** Returns gold actions as a rollout made them, with the values that its results have in place of what they quote. */
export function filledActions(actions: readonly GoldAction[], made: () => readonly Made[]): readonly GoldAction[] {
  if (!actions.some(quotes)) return actions;
  const left = [...made()];
  const results: string[] = [];
  return actions.map((action) => {
    const filled = withResults(action, results);
    const wanted = canonicalJson(filled.arguments as JsonObject);
    const own = left.filter(({ tool }) => tool === filled.tool);
    const call = own.find((each) => canonicalJson(each.arguments as Json) === wanted) ?? own[0];
    if (call) {
      left.splice(left.indexOf(call), 1);
      results.push(call.content);
    }
    return filled;
  });
}
