import { resolve } from 'node:path';
import type { StaticDomain } from '../../engine/shell/load/loadDomain.ts';
import type { DebugStep } from './debuggee.ts';

/** What a breakpoint stops on. */
export type Target =
  | { readonly type: 'rule'; readonly id: string }
  | { readonly type: 'tool'; readonly name: string }
  | { readonly type: 'task'; readonly id: string }
  | { readonly type: 'role'; readonly role: 'user' | 'agent' }
  | { readonly type: 'turn'; readonly turn: number };

export type Placed =
  | { readonly line: number; readonly target: Target }
  | { readonly line: number; readonly problem: string };

export const filters = [
  { filter: 'violation', label: 'Policy violation', description: 'Stop when a rule of the policy is violated' },
  { filter: 'toolError', label: 'Tool error', description: 'Stop when a tool returns an error' },
  { filter: 'reward0', label: 'Reward 0', description: 'Stop at the end of a rollout whose reward is 0' },
] as const;

/** What a line of a domain's file (from 1) stops on: the rule, tool or task that stands there or above it. */
export function place(domain: StaticDomain, file: string, line: number): Placed {
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
export function lines(domain: StaticDomain, file: string): readonly number[] {
  const path = resolve(file);
  const { locations, parts } = domain;
  if (path === resolve(parts.policyFile))
    return domain.domain.policy.rules.filter(({ id }) => isChecked(domain, id)).map(({ line }) => line);
  return [...locations.tools.values(), ...locations.tasks.values()]
    .filter((at) => resolve(at.file) === path)
    .map(({ line }) => line);
}

function placeRule(domain: StaticDomain, line: number): Placed {
  const rule = domain.domain.policy.rules.findLast((each) => each.line <= line && line <= each.endLine);
  if (!rule)
    return {
      line,
      problem: 'there is no rule on this line: a rule is a list item or heading with an id mark such as {#confirm}',
    };
  if (!isChecked(domain, rule.id))
    return { line: rule.line, problem: `rule ${rule.id} has no machine check in rules.yaml, so nothing can stop here` };
  return { line: rule.line, target: { type: 'rule', id: rule.id } };
}

function isChecked(domain: StaticDomain, id: string): boolean {
  return domain.domain.rules.some(({ rule }) => rule === id);
}

function nearest(
  entries: readonly (readonly [string, { readonly file: string; readonly line: number }])[],
  path: string,
  line: number,
) {
  const above = entries
    .filter(([, at]) => resolve(at.file) === path && at.line <= line)
    .sort(([, a], [, b]) => b.line - a.line)[0];
  return above && { id: above[0], line: above[1].line };
}

/** Reads a function breakpoint: `tool:NAME`, `rule:ID`, `task:ID`, `role:user`, `turn:5`. */
export function parseTarget(text: string): Target | string {
  const [kind, rest = ''] = text.split(/:(.*)/s);
  if (kind === 'tool' && rest) return { type: 'tool', name: rest };
  if (kind === 'rule' && rest) return { type: 'rule', id: rest };
  if (kind === 'task' && rest) return { type: 'task', id: rest };
  if (kind === 'role' && (rest === 'user' || rest === 'agent')) return { type: 'role', role: rest };
  if (kind === 'turn' && /^[0-9]+$/.test(rest)) return { type: 'turn', turn: Number(rest) };
  return `"${text}" is no place to stop: expected tool:NAME, rule:ID, task:ID, role:user, role:agent or turn:N`;
}

/** Whether a step is where a target stops: rules at their check, tools at the call, before anything happened. */
export function stopsAt({ event, state }: DebugStep, target: Target): boolean {
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
  }
}

/** Why a step stops by an exception filter, in words, or null. */
export function exceptionAt({ event }: DebugStep, active: ReadonlySet<string>): string | null {
  if (active.has('violation') && event.type === 'rulesChecked') {
    const broken = event.verdicts.find(({ verdict }) => verdict === 'violated');
    if (broken) return `rule ${broken.rule} violated: ${broken.reason}`;
  }
  if (active.has('toolError') && event.type === 'toolReturned' && event.isError) return event.content;
  if (active.has('reward0') && event.type === 'rewarded' && event.reward === 0) return `reward 0: ${event.reason}`;
  return null;
}
