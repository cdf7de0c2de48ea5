import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import type { Rule } from '../../engine/core/domain/rule.ts';
import type { Tool } from '../../engine/core/domain/tool.ts';
import type { RolloutEvent, Writes } from '../../engine/core/events/event.ts';
import { fieldsOf, type NumberForms, numberFormsOf } from '../../engine/core/events/message.ts';
import { binds } from '../../engine/core/rules/seen.ts';
import { leavesOf } from '../../engine/core/text/value.ts';
import { canonicalJson, type JsonObject } from '../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { declaredTools } from '../../engine/shell/source/note.ts';

/** A call of a recording, with what came of it. */
export type MadeCall = {
  /** Number of the event in which it was made. */
  readonly n: number;
  readonly tool: string;
  readonly by: 'agent' | 'user';
  readonly arguments: JsonObject;
  readonly content: string;
  readonly isError: boolean;
  readonly writes: Writes;
} & NumberForms;

/** The calls of a recording that have a result, in their order. */
export function madeCalls(events: readonly RolloutEvent[]): readonly MadeCall[] {
  return events.flatMap((event, n): MadeCall[] => {
    if (event.type !== 'toolCalled') return [];
    const { id, name, arguments: args } = event.call;
    if (typeof args === 'string') return [];
    const later = events.slice(n + 1);
    const result = later.find((each) => each.type === 'toolReturned' && each.callId === id);
    if (result?.type !== 'toolReturned') return [];
    const written = later.find((each) => each.type === 'databaseWritten' && each.callId === id);
    return [
      {
        n,
        tool: name,
        by: event.by ?? 'agent',
        arguments: args as JsonObject,
        ...numberFormsOf(event.call),
        content: result.content,
        isError: result.isError,
        writes: written?.type === 'databaseWritten' ? written.writes : [],
      },
    ];
  });
}

/**
 * The calls that changed something, and those that they needed: where a value came from that the user had not told, and
 * what a rule wants done before. A write that a later one of the same tool wrote over is left out, and so is a call that
 * failed.
 * @param isTold whether the user had told a value before an event
 */
export function neededCalls(
  loaded: LoadedDomain,
  calls: readonly MadeCall[],
  isTold: (value: string, before: number) => boolean,
): readonly MadeCall[] {
  const tools = toolsOf(loaded);
  const done = calls.filter(({ isError }) => !isError);
  const effect = (name: string) => tools.find((tool) => tool.name === name);
  const changes = done.filter(
    ({ tool, writes }) => writes.length > 0 || effect(tool)?.effect === 'write' || effect(tool)?.handsOff,
  );
  const writes = changes.filter((call) => !isWrittenOver(call, changes));
  const kept = new Set<MadeCall>(writes);
  const queue = [...writes];
  for (let call = queue.pop(); call; call = queue.pop()) {
    for (const needed of neededBy(call, done, loaded, tools, isTold)) {
      if ([...kept].some((each) => each === needed || (isSame(each, needed) && each.n < call.n))) continue;
      kept.add(needed);
      queue.push(needed);
    }
  }
  return done.filter((call) => kept.has(call));
}

function toolsOf({ domain, parts }: LoadedDomain): readonly Tool[] {
  const described = new Map(domain.tools.map((tool) => [tool.name, tool]));
  return [...declaredTools(parts.scan.declared, described)].map(
    ([name, { effect, generic, handsOff, owner }]) =>
      described.get(name) ?? ({ name, effect: effect ?? 'read', generic, handsOff, owner } as unknown as Tool),
  );
}

const isSame = (one: MadeCall, other: MadeCall) =>
  one.tool === other.tool && canonicalJson(one.arguments) === canonicalJson(other.arguments);

/** Whether later writes of the same tool leave nothing of what this one wrote. */
function isWrittenOver(call: MadeCall, changes: readonly MadeCall[]): boolean {
  const places = placesOf(call);
  if (places === null || places.length === 0) return false;
  const later = changes
    .filter(({ n, tool }) => n > call.n && tool === call.tool)
    .flatMap((each) => placesOf(each) ?? []);
  return places.every((place) => later.includes(place));
}

/** Returns where a call replaced values; null where it also added or removed some. */
function placesOf({ writes }: MadeCall): readonly string[] | null {
  const patches = writes.flatMap(({ side, patches: own }) => own.map((patch) => ({ side, ...patch })));
  if (patches.some(({ op }) => op !== 'replace')) return null;
  return patches.map(({ side, path }) => JSON.stringify([side, ...path]));
}

function neededBy(
  call: MadeCall,
  done: readonly MadeCall[],
  { parts }: LoadedDomain,
  tools: readonly Tool[],
  isTold: (value: string, before: number) => boolean,
): readonly MadeCall[] {
  const before = done.filter(({ n }) => n < call.n);
  const sources = leavesOf(call.arguments).flatMap((value) => {
    if (isTold(value, call.n) || value === 'true' || value === 'false') return [];
    return before.findLast((each) => !isSame(each, call) && brings(each, value)) ?? [];
  });
  const demanded = parts.rules.flatMap(({ value }) => demandedBy(value, call, before, tools));
  return [...sources, ...demanded];
}

/** Whether a call's result holds a value. */
export function brings({ content }: MadeCall, value: string): boolean {
  const leaves = leavesOf(fieldsOf(content));
  return leaves.includes(value) || namesValue(content, value);
}

/** Calls that a check of the policy looks for when this one is made. */
function demandedBy(
  rule: Rule,
  call: MadeCall,
  before: readonly MadeCall[],
  tools: readonly Tool[],
): readonly MadeCall[] {
  if (call.by === 'user') return [];
  if (rule.check === 'before') {
    if (!binds(rule.tools, call.tool, tools, rule.require)) return [];
    const isMeant = (each: MadeCall) =>
      rule.require.includes(each.tool) &&
      (rule.same ?? []).every(
        (name) => canonicalJson(each.arguments[name] ?? null) === canonicalJson(call.arguments[name] ?? null),
      );
    const found = before.findLast(isMeant);
    return found ? [found] : [];
  }
  if (rule.check !== 'onlyIf' || !binds(rule.tools, call.tool, tools)) return [];
  const named = [...`${rule.when ?? ''} ${rule.condition}`.matchAll(/\blast\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
  );
  const found = before.findLast(({ tool }) => named.includes(tool));
  return found ? [found] : [];
}
