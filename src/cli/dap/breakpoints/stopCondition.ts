import type { DebugProtocol } from '@vscode/debugprotocol';
import { parseExpression, pathsIn } from '../../../engine/core/expression/expression.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { didYouMean } from '../../../engine/shell/source/nearest.ts';
import { evaluate, roots } from '../variables/expression.ts';

/** When a breakpoint counts, and what it does then. Absent parts ask for nothing. */
export type StopCondition = {
  /** An expression over the state that has to hold. */
  readonly when?: string;
  /** Reports whether the breakpoint stops the nth time it is reached, counted from 1. */
  readonly hits?: (time: number) => boolean;
  /** It prints this, with expressions in braces, and stops nothing. */
  readonly log?: readonly LogPart[];
};

type LogPart = { readonly text: string } | { readonly expression: string };

/** The conditions that a client sends with a breakpoint. */
export type WrittenCondition = Pick<DebugProtocol.SourceBreakpoint, 'condition' | 'hitCondition' | 'logMessage'>;

/**
 * Parses a condition, or returns a sentence that says what is wrong with it.
 * @param domain the domain whose tables an expression can begin with; null where it is not read yet
 */
export function parseStopCondition(
  { condition = '', hitCondition = '', logMessage = '' }: WrittenCondition,
  domain: Pick<LoadedDomain, 'world' | 'tasks'> | null,
): StopCondition | string {
  const hits = hitCondition.trim() === '' ? undefined : parseHits(hitCondition);
  if (typeof hits === 'string') return hits;
  const log = logMessage === '' ? undefined : logParts(logMessage);
  const expressions = (log ?? []).flatMap((part) => ('expression' in part ? [part.expression] : []));
  for (const text of [...(condition.trim() === '' ? [] : [condition]), ...expressions]) {
    const parsed = parseExpression(text.trim());
    if ('problem' in parsed) return `"${text}" is not an expression: ${parsed.problem}`;
  }
  const unknown = domain === null ? null : unknownNameIn(condition, domain);
  if (unknown !== null) return unknown;
  return {
    ...(condition.trim() === '' ? {} : { when: condition }),
    ...(hits ? { hits } : {}),
    ...(log ? { log } : {}),
  };
}

/** Returns what is wrong with a condition that reads an unknown name, or null. A task can add tables. */
function unknownNameIn(condition: string, { world, tasks }: Pick<LoadedDomain, 'world' | 'tasks'>): string | null {
  const parsed = parseExpression(condition.trim());
  if ('problem' in parsed) return null;
  const added = tasks.flatMap(({ state }) =>
    state.filter(({ side }) => side === 'agent').map(({ path: [table] }) => table),
  );
  const names = [...roots, ...Object.keys(world.agent), ...added.map(String)];
  const unknown = pathsIn(parsed.expression).find(({ name }) => !names.includes(name));
  if (unknown === undefined) return null;
  const all = `A path starts with ${roots.join(', ')}, or the name of a table`;
  return `"${unknown.name}" is unknown. ${didYouMean(unknown.name, names, all)}`;
}

function parseHits(text: string): ((time: number) => boolean) | string {
  const [, sign = '==', digits = ''] = /^\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*$/.exec(text) ?? [];
  const count = Number(digits);
  if (digits === '' || (sign === '%' && count === 0))
    return `"${text}" is not a hit count: write a number, or >= 3, < 3, % 3 for every third time`;
  const tests: Readonly<Record<string, (time: number) => boolean>> = {
    '==': (time) => time === count,
    '>=': (time) => time >= count,
    '<=': (time) => time <= count,
    '>': (time) => time > count,
    '<': (time) => time < count,
    '%': (time) => time % count === 0,
  };
  return tests[sign] ?? tests['=='] ?? (() => true);
}

function logParts(message: string): readonly LogPart[] {
  return message
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('{') ? { expression: part.slice(1, -1) } : { text: part }));
}

/** Reports whether the expression is true at a step; returns an error message if it has no value, which also stops. */
export function holdsAt({ when }: StopCondition, step: Step): boolean | string {
  if (when === undefined) return true;
  const found = evaluate(when, step);
  if (typeof found === 'string') return `the condition ${found}`;
  return found.value !== null && found.value !== false && found.value !== 0 && found.value !== '';
}

/** The message of a log breakpoint at a step. */
export function messageAt(parts: readonly LogPart[], step: Step): string {
  return parts.map((part) => ('text' in part ? part.text : shown(part.expression, step))).join('');
}

function shown(expression: string, step: Step): string {
  const found = evaluate(expression, step);
  if (typeof found === 'string') return `{${found}}`;
  return typeof found.value === 'string' ? found.value : JSON.stringify(found.value);
}
