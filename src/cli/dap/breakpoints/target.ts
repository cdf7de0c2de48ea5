import { resolve } from 'node:path';
import { verifierNames } from '../../../engine/core/domain/task.ts';
import { baseTask, variantId } from '../../../engine/core/domain/taskVariant.ts';
import type { Side } from '../../../engine/core/domain/tool.ts';
import { isRead } from '../../../engine/core/events/reads.ts';
import { isObject, type Json, type Path, showPath } from '../../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import type { InWords } from '../../../engine/shell/domain/reasonInWords.ts';
import type { ReadsAt } from '../../../engine/shell/records/stepNotes.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { suggestion } from '../../../engine/shell/source/nearest.ts';
import { calledIn } from '../rollout/frames.ts';
import { placeNamed } from '../variables/assignment.ts';
import { ruleReasons } from './ruleReasons.ts';

/** The target that a breakpoint stops on. */
export type Target =
  | { readonly type: 'rule'; readonly id: string }
  | { readonly type: 'tool'; readonly name: string }
  | { readonly type: 'task'; readonly id: string }
  /** The user speaks as a persona, in one of these tasks. */
  | { readonly type: 'persona'; readonly id: string; readonly tasks: ReadonlySet<string> }
  | { readonly type: 'verifier'; readonly name: string }
  | { readonly type: 'role'; readonly role: 'user' | 'agent' }
  | { readonly type: 'turn'; readonly turn: number }
  /** A value of the database is written, it or a part of it; or a call reads it. */
  | { readonly type: 'data'; readonly access: Access; readonly side: Side; readonly path: Path };

/** The kinds of access to a value that a data breakpoint can stop on, named as in the protocol. */
export const accesses = ['read', 'write', 'readWrite'] as const;
export type Access = (typeof accesses)[number];

type DataTarget = Extract<Target, { readonly type: 'data' }>;

/** A breakpoint as it was set: its line, and what it stops on or why it can't. */
export type Placed =
  | { readonly line: number; readonly target: Target }
  | { readonly line: number; readonly problem: string };

/** Returns what a line of a domain's file (from 1) stops on: the rule, tool or task that is there or above it. */
export function place(domain: LoadedDomain, file: string, line: number): Placed {
  const { locations, parts } = domain;
  const path = resolve(file);
  if (path === resolve(parts.policyFile)) return placeRule(domain, line);
  const tool = nearest([...locations.tools], path, line);
  if (tool) return placeKnown({ type: 'tool', name: tool.id }, tool.line, domain.toolNames.includes(tool.id));
  const [persona] = [...locations.personas].filter(([, at]) => resolve(at.file) === path);
  if (persona) {
    const [id, at] = persona;
    return placeKnown(personaTarget(domain, id), at.line, isAmong(parts.personas, id));
  }
  const task =
    nearest([...locations.tasks], path, line) ?? nearest([...locations.tasks], path, Number.POSITIVE_INFINITY);
  if (task) return placeKnown({ type: 'task', id: task.id }, task.line, isAmong(parts.tasks, task.id));
  return {
    line,
    problem: 'nothing of this domain stops here: set breakpoints on rules of the policy, on tools, personas and tasks',
  };
}

/** Places a breakpoint again after its file has changed: on what it was on, which may have moved. */
export function placeAgain(domain: LoadedDomain, target: Target, line: number): Placed {
  const { policyRules, tools, personas, tasks } = domain.locations;
  const at =
    target.type === 'rule'
      ? policyRules.get(target.id)
      : target.type === 'tool'
        ? tools.get(target.name)
        : target.type === 'persona'
          ? personas.get(target.id)
          : target.type === 'task'
            ? tasks.get(target.id)
            : undefined;
  if (at) return place(domain, at.file, at.line);
  const name = 'name' in target ? target.name : 'id' in target ? target.id : '';
  return { line, problem: `${target.type} ${name} is no longer in the files of the domain` };
}

/** A part that the rollout does not know was added after it began. */
function placeKnown(
  target: Target & ({ readonly id: string } | { readonly name: string }),
  line: number,
  isKnown: boolean,
): Placed {
  if (isKnown) return { line, target };
  return { line, problem: addedLater(target.type, 'id' in target ? target.id : target.name) };
}

const addedLater = (type: string, name: string) =>
  `${type} ${name} was added after this rollout began, so nothing can stop here. Use "Fork with Changed Files" (/swap)`;

const isAmong = (parts: readonly { readonly value: { readonly id: string } }[], id: string) =>
  parts.some(({ value }) => value.id === id);

/** Lines of a file (from 1) where a breakpoint can be. */
export function lines(domain: LoadedDomain, file: string): readonly number[] {
  const path = resolve(file);
  const { locations, parts } = domain;
  if (path === resolve(parts.policyFile))
    return [...locations.policyRules].filter(([id]) => isChecked(domain, id)).map(([, { line }]) => line);
  const all = [...locations.tools.values(), ...locations.personas.values(), ...locations.tasks.values()];
  return all.filter((at) => resolve(at.file) === path).map(({ line }) => line);
}

function placeRule(domain: LoadedDomain, line: number): Placed {
  const found = [...domain.locations.policyRules].findLast(([, each]) => each.line <= line && line <= each.endLine);
  if (!found)
    return {
      line,
      problem: 'there is no rule on this line: a rule is a list item or heading with an id mark such as {#confirm}',
    };
  const [id, at] = found;
  if (isChecked(domain, id)) return { line: at.line, target: { type: 'rule', id } };
  const isKnown = domain.domain.policy.rules.some((each) => each.id === id);
  return {
    line: at.line,
    problem: isKnown
      ? `rule ${id} has no machine check in rules.yaml, so nothing can stop here`
      : addedLater('rule', id),
  };
}

function personaTarget({ tasks }: LoadedDomain, id: string): Extract<Target, { type: 'persona' }> {
  return { type: 'persona', id, tasks: new Set(tasks.filter(({ persona }) => persona === id).map((task) => task.id)) };
}

function isChecked(domain: LoadedDomain, id: string): boolean {
  return domain.domain.rules.some(({ rule }) => rule === id);
}

function nearest(
  entries: readonly (readonly [string, { readonly file: string; readonly line: number }])[],
  path: string,
  line: number,
) {
  const preceding = entries.filter(([, at]) => resolve(at.file) === path && at.line <= line);
  const [first] = preceding.toSorted(([, a], [, b]) => b.line - a.line);
  return first && { id: first[0], line: first[1].line };
}

/** Returns the names that function breakpoints of a domain can have, by their kind. */
export function targetNames({ domain, tasks, toolNames }: LoadedDomain): Readonly<Record<string, readonly string[]>> {
  return {
    tool: [...new Set([...toolNames, ...domain.tools.map(({ name }) => name)])],
    rule: [...new Set(domain.rules.map(({ rule }) => rule))],
    task: tasks.map(({ id }) => id),
    persona: domain.personas.map(({ id }) => id),
    role: ['user', 'agent'],
    verifier: verifierNames,
  };
}

/** Reads a function breakpoint: `tool:NAME`, `rule:ID`, `task:ID`, `persona:ID`, `role:user`, `turn:5`, `verifier:NAME`, `write:orders.W1`, `read:orders.W1`. Names that the domain lacks are refused. */
export function parseTarget(domain: LoadedDomain | null, text: string): Target | string {
  const [kind, rest = ''] = text.trim().split(/:(.*)/s);
  const known = (what: string, names: readonly string[]) => {
    if (domain === null || names.includes(rest)) return null;
    return `there is no ${what} "${rest}" in this domain${suggestion(rest, names)}`;
  };
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
  if (kind === 'persona' && rest)
    return (
      known('persona', domain?.domain.personas.map(({ id }) => id) ?? []) ??
      (domain ? personaTarget(domain, rest) : { type: 'persona', id: rest, tasks: new Set() })
    );
  if (kind === 'verifier' && rest) return { type: 'verifier', name: rest };
  if (kind === 'role' && (rest === 'user' || rest === 'agent')) return { type: 'role', role: rest };
  if (kind === 'turn' && /^[1-9][0-9]*$/.test(rest)) return { type: 'turn', turn: Number(rest) };
  if ((kind === 'read' || kind === 'write') && rest) {
    const named = placeNamed(rest);
    return typeof named === 'string' ? named : { type: 'data', access: kind, ...named };
  }
  return `"${text}" is not a breakpoint: expected tool:NAME, rule:ID, task:ID, persona:ID, role:user, role:agent, turn:N, write:PATH, read:PATH or verifier:NAME`;
}

/**
 * Returns a note on a value that the base database lacks in a table that it has: it may be misspelt, or come later. Null
 * for other values.
 */
export function missingValueNote({ world }: LoadedDomain, { side, path }: Target & { type: 'data' }): string | null {
  const [table = '', ...keys] = path;
  let value: Json | undefined = world[side][table];
  for (const [at, key] of keys.entries()) {
    if (!Array.isArray(value) && !isObject(value)) return null;
    const known: readonly string[] = Object.keys(value);
    if (!known.includes(String(key))) {
      const missing = showPath(path.slice(0, at + 2));
      return `the database has no ${missing}, so it stops when that is added${suggestion(String(key), known)}`;
    }
    value = Array.isArray(value) ? value[Number(key)] : value[key];
  }
  return null;
}

/** A data breakpoint's identity, which a client keeps and sends back. */
export function dataIdOf(side: Side, path: Path): string {
  return JSON.stringify([side, ...path]);
}

/** The place that such an identity names, or a sentence that says it is not one. */
export function parseDataId(id: string, access: Access = 'write'): Target | string {
  const unreadable = `"${id}" is not a value of the database`;
  try {
    const [side, ...path] = JSON.parse(id) as [string, ...(string | number)[]];
    return side === 'agent' || side === 'user' ? { type: 'data', access, side, path } : unreadable;
  } catch {
    return unreadable;
  }
}

/**
 * Whether a step is where a target stops: rules at their check, tools at the call, before anything happened; values at
 * the write, and at the result of a call that read them.
 */
export function stopsAt(step: Step, target: Target, readsAt: ReadsAt = () => undefined): boolean {
  const { event, state } = step;
  switch (target.type) {
    case 'rule':
      return event.type === 'rulesChecked' && event.verdicts.some(({ rule }) => rule === target.id);
    case 'tool':
      return event.type === 'toolCalled' && event.call.name === target.name;
    case 'task':
      return event.type === 'rolloutStarted' && event.task.id === target.id;
    case 'persona':
      return event.type === 'userReplied' && isUnder(state.started.task.id, target);
    case 'verifier':
      return event.type === 'verdictReached' && event.verdict.verifier === target.name;
    case 'role':
      return event.type === (target.role === 'user' ? 'userReplied' : 'agentReplied');
    case 'turn':
      return event.type === 'agentReplied' && state.turn === target.turn;
    case 'data':
      return (
        (target.access !== 'read' && isWritten(event, target)) ||
        (target.access !== 'write' && isReadBy(step, target, readsAt))
      );
  }
}

function isWritten(event: Step['event'], { side, path }: DataTarget): boolean {
  return writesOf(event).some(
    (written) => written.side === side && written.patches.some((patch) => isInside(patch.path, path)),
  );
}

function isReadBy({ n, event }: Step, { side, path }: DataTarget, readsAt: ReadsAt): boolean {
  const reads = event.type === 'toolReturned' ? readsAt(n) : undefined;
  return reads !== undefined && isRead(reads, side, path);
}

/** Why a breakpoint stops at a step, in words. */
export function reasonOf(step: Step, target: Target, inWords: InWords): string {
  const { event, state } = step;
  switch (target.type) {
    case 'rule':
      return ruleReasons(step, inWords).find(({ rule }) => rule === target.id)?.text ?? '';
    case 'tool':
      return `tool ${target.name} is called`;
    case 'task':
      return `task ${target.id} begins`;
    case 'persona':
      return `the user speaks as ${target.id}`;
    case 'verifier':
      return `verifier ${target.name}: ${event.type === 'verdictReached' ? event.verdict.detail : ''}`;
    case 'role':
      return `the ${target.role} speaks`;
    case 'turn':
      return `turn ${target.turn} begins`;
    case 'data':
      return event.type === 'toolReturned'
        ? `${showPath(target.path)} is read by ${calledIn(state.messages, event.callId)}`
        : `${showPath(target.path)} is written`;
  }
}

/** A task under another persona than its own says so in its id. */
function isUnder(task: string, { id, tasks }: Extract<Target, { type: 'persona' }>): boolean {
  return baseTask(task) === task ? tasks.has(task) : task === variantId(baseTask(task), id);
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
