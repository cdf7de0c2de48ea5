import { resolve } from 'node:path';
import { type Path, showPath } from '../../engine/core/json.ts';
import type { Side } from '../../engine/core/tool.ts';
import type { Step } from '../../engine/shell/driver.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';

/** What a breakpoint stops on. */
export type Target =
  | { readonly type: 'rule'; readonly id: string }
  | { readonly type: 'tool'; readonly name: string }
  | { readonly type: 'task'; readonly id: string }
  | { readonly type: 'role'; readonly role: 'user' | 'agent' }
  | { readonly type: 'turn'; readonly turn: number }
  /** A value of the database is written, it or a part of it. */
  | { readonly type: 'data'; readonly side: Side; readonly path: Path };

/** A breakpoint as it was set: its line, and what it stops on or why it can't. */
export type Placed =
  | { readonly line: number; readonly target: Target }
  | { readonly line: number; readonly problem: string };

/** Why the debugger stops at a step. `rule` is the one that a breakpoint is on. */
export type Hit = {
  readonly reason: 'breakpoint' | 'exception';
  readonly text: string;
  readonly ids: readonly number[];
  readonly rule?: string;
};

export const filters = [
  {
    filter: 'violation',
    label: 'Policy violation',
    description: 'Stop when a rule of the policy is violated',
    default: true,
  },
  { filter: 'toolError', label: 'Tool error', description: 'Stop when a tool returns an error', default: false },
  {
    filter: 'reward0',
    label: 'Reward 0',
    description: 'Stop at the end of a rollout whose reward is 0',
    default: false,
  },
] as const;

type Numbered = { readonly id: number; readonly target: Target };

/** The breakpoints of a session, of every kind. A client sends each kind whole, so setting one replaces it. */
export class Breakpoints {
  readonly #sets = new Map<string, readonly Numbered[]>();
  #filters: ReadonlySet<string> = new Set();
  #next = 1;

  /** @param kind a source file's path, or another kind of breakpoint. Gives each its number, in order. */
  set(kind: string, targets: readonly (Target | null)[]): readonly (number | null)[] {
    const numbered = targets.map((target) => target && { id: this.#next++, target });
    this.#sets.set(
      kind,
      numbered.filter((each) => each !== null),
    );
    return numbered.map((each) => each?.id ?? null);
  }

  stopOn(names: readonly string[]): void {
    this.#filters = new Set(names);
  }

  /** Why to stop at a step, or null. A breakpoint goes before an exception: a person put it there. */
  hitAt(step: Step): Hit | null {
    const all = [...this.#sets.values()].flat().filter(({ target }) => stopsAt(step, target));
    const [first] = all;
    const exception = exceptionAt(step, this.#filters);
    if (!first) return exception === null ? null : { reason: 'exception', text: exception, ids: [] };
    const { target } = first;
    const ids = all.map(({ id }) => id);
    return {
      reason: 'breakpoint',
      text: words(step, target),
      ids,
      ...(target.type === 'rule' ? { rule: target.id } : {}),
    };
  }
}

/** What a line of a domain's file (from 1) stops on: the rule, tool or task that stands there or above it. */
export function place(domain: LoadedDomain, file: string, line: number): Placed {
  const { locations, parts } = domain;
  const path = resolve(file);
  if (path === resolve(parts.policyFile)) return placeRule(domain, line);
  const tool = nearest([...locations.tools], path, line);
  if (tool) return { line: tool.line, target: { type: 'tool', name: tool.id } };
  const task =
    nearest([...locations.tasks], path, line) ?? nearest([...locations.tasks], path, Number.POSITIVE_INFINITY);
  if (task) return { line: task.line, target: { type: 'task', id: task.id } };
  return {
    line,
    problem: 'nothing of this domain stops here: set breakpoints on rules of the policy, on tools and on tasks',
  };
}

/** Lines of a file (from 1) where a breakpoint can stand. */
export function lines(domain: LoadedDomain, file: string): readonly number[] {
  const path = resolve(file);
  const { locations, parts } = domain;
  if (path === resolve(parts.policyFile))
    return domain.domain.policy.rules.filter(({ id }) => isChecked(domain, id)).map(({ line }) => line);
  const all = [...locations.tools.values(), ...locations.tasks.values()];
  return all.filter((at) => resolve(at.file) === path).map(({ line }) => line);
}

function placeRule(domain: LoadedDomain, line: number): Placed {
  const rule = domain.domain.policy.rules.findLast((each) => each.line <= line && line <= each.endLine);
  if (!rule)
    return {
      line,
      problem: 'there is no rule on this line: a rule is a list item or heading with an id mark such as {#confirm}',
    };
  if (isChecked(domain, rule.id)) return { line: rule.line, target: { type: 'rule', id: rule.id } };
  return { line: rule.line, problem: `rule ${rule.id} has no machine check in rules.yaml, so nothing can stop here` };
}

function isChecked(domain: LoadedDomain, id: string): boolean {
  return domain.domain.rules.some(({ rule }) => rule === id);
}

function nearest(
  entries: readonly (readonly [string, { readonly file: string; readonly line: number }])[],
  path: string,
  line: number,
) {
  const above = entries.filter(([, at]) => resolve(at.file) === path && at.line <= line);
  const [first] = above.toSorted(([, a], [, b]) => b.line - a.line);
  return first && { id: first[0], line: first[1].line };
}

/** Reads a function breakpoint: `tool:NAME`, `rule:ID`, `task:ID`, `role:user`, `turn:5`. Names that the domain lacks are refused. */
export function parseTarget(domain: LoadedDomain | null, text: string): Target | string {
  const [kind, rest = ''] = text.trim().split(/:(.*)/s);
  const known = (what: string, names: readonly string[]) =>
    domain === null || names.includes(rest) ? null : `there is no ${what} "${rest}" in this domain`;
  if (kind === 'tool' && rest) {
    const servers = Object.keys(domain?.file.mcpServers ?? {}).length;
    return (servers > 0 ? null : known('tool', domain?.toolNames ?? [])) ?? { type: 'tool', name: rest };
  }
  if (kind === 'rule' && rest) {
    const problem = known('rule', domain?.domain.policy.rules.map(({ id }) => id) ?? []);
    if (problem) return problem;
    if (domain && !isChecked(domain, rest))
      return `rule ${rest} has no machine check in rules.yaml, so nothing can stop here`;
    return { type: 'rule', id: rest };
  }
  if (kind === 'task' && rest)
    return known('task', domain?.tasks.map(({ id }) => id) ?? []) ?? { type: 'task', id: rest };
  if (kind === 'role' && (rest === 'user' || rest === 'agent')) return { type: 'role', role: rest };
  if (kind === 'turn' && /^[0-9]+$/.test(rest)) return { type: 'turn', turn: Number(rest) };
  return `"${text}" is no place to stop: expected tool:NAME, rule:ID, task:ID, role:user, role:agent or turn:N`;
}

/** A data breakpoint's identity, which a client keeps and sends back. */
export function dataIdOf(side: Side, path: Path): string {
  return JSON.stringify([side, ...path]);
}

/** The place that such an identity names, or a sentence that says it is none. */
export function parseDataId(id: string): Target | string {
  const unreadable = `"${id}" is no value of the database`;
  try {
    const [side, ...path] = JSON.parse(id) as [string, ...(string | number)[]];
    return side === 'agent' || side === 'user' ? { type: 'data', side, path } : unreadable;
  } catch {
    return unreadable;
  }
}

/** Whether a step is where a target stops: rules at their check, tools at the call, before anything happened. */
function stopsAt({ event, state }: Step, target: Target): boolean {
  switch (target.type) {
    case 'rule':
      return event.type === 'rulesChecked' && event.verdicts.some(({ rule }) => rule === target.id);
    case 'tool':
      return event.type === 'toolCalled' && event.call.name === target.name;
    case 'task':
      return event.type === 'rolloutStarted' && event.task.id === target.id;
    case 'role':
      return event.type === (target.role === 'user' ? 'userReplied' : 'agentReplied');
    case 'turn':
      return event.type === 'agentReplied' && state.turn === target.turn;
    case 'data':
      return writesOf(event).some(
        ({ side, patches }) => side === target.side && patches.some(({ path }) => isInside(path, target.path)),
      );
  }
}

function words({ event }: Step, target: Target): string {
  switch (target.type) {
    case 'rule': {
      const verdicts = event.type === 'rulesChecked' ? event.verdicts : [];
      const verdict = verdicts.find(({ rule }) => rule === target.id);
      return `rule ${target.id} ${verdict?.verdict}: ${verdict?.reason}`;
    }
    case 'tool':
      return `tool ${target.name} is called`;
    case 'task':
      return `task ${target.id} begins`;
    case 'role':
      return `the ${target.role} speaks`;
    case 'turn':
      return `turn ${target.turn} begins`;
    case 'data':
      return `${showPath(target.path)} is written`;
  }
}

function writesOf(event: Step['event']) {
  return event.type === 'databaseWritten' || event.type === 'worldEdited' || event.type === 'worldSynced'
    ? event.writes
    : [];
}

/** Whether one of two paths leads to the other. */
function isInside(a: Path, b: Path): boolean {
  const length = Math.min(a.length, b.length);
  return a.slice(0, length).every((key, index) => String(key) === String(b[index]));
}

/** Why a step stops by an exception filter, in words, or null. */
function exceptionAt({ event }: Step, active: ReadonlySet<string>): string | null {
  if (active.has('violation') && event.type === 'rulesChecked') {
    const violated = event.verdicts.find(({ verdict }) => verdict === 'violated');
    if (violated) return `rule ${violated.rule} violated: ${violated.reason}`;
  }
  if (active.has('toolError') && event.type === 'toolReturned' && event.isError) return event.content;
  if (active.has('reward0') && event.type === 'rewarded' && event.reward === 0) return `reward 0: ${event.reason}`;
  return null;
}
