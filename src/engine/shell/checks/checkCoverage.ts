import type { Rule } from '../../core/domain/rule.ts';
import { boundTools } from '../../core/rules/seen.ts';
import type { Location } from '../files/diagnostic.ts';
import { accepted } from '../load/drafts.ts';
import type { Parts } from '../load/loadedDomain.ts';
import type { KnownTools, Note } from '../source/note.ts';
import type { Declared } from '../source/scan.ts';
import { refusedTools } from './checkUser.ts';

/** Tools and rules that no task tries: what is never rehearsed is never measured. */
export function checkCoverage(parts: Parts, known: KnownTools, note: Note): void {
  const tasks = accepted(parts.tasks);
  if (tasks.length === 0) return;
  const used = new Set(tasks.flatMap(({ value }) => value.actions.map(({ tool }) => tool)));
  checkUse(parts, known, used, note);
  const tried = new Set([
    ...used,
    ...tasks.flatMap(({ value }) => refusedTools(value, known)),
    ...tasks.flatMap(({ value }) =>
      (value.script ?? []).flatMap((turn) => (typeof turn === 'string' ? [] : turn.map(({ tool }) => tool))),
    ),
  ]);
  for (const { id } of parts.policy.policy.rules) {
    const checks = parts.rules.filter(({ value }) => value.rule === id);
    if (checks.length === 0 || checks.some(({ value }) => isTried(value, tried, known))) continue;
    const names = [...new Set(checks.flatMap(({ value }) => boundTools(value) ?? []))];
    noteUncovered(parts, id, `no task calls ${names.map((name) => words[name] ?? name).join(' or ')}`, note);
  }
}

const words: Readonly<Record<string, string>> = { writes: 'a tool that writes', all: 'a tool' };

/** The finding about a rule that no task tries; `why` is the reason as part of a sentence. */
export function noteUncovered(parts: Parts, rule: string, why: string, note: Note): void {
  note(
    placeOfRule(parts, rule),
    'info',
    'policy/uncovered-rule',
    `No task tests the rule ${rule}: ${why}.`,
    'Write a task in which an agent could break it.',
  );
}

/** Returns where a rule of the policy is. */
export function placeOfRule({ policy, policyFile }: Parts, id: string): Location {
  const block = policy.blocks.find((each) => each.id === id);
  const { line = 1, column = 1, endLine = 1, endColumn = 1 } = block ?? {};
  return { file: policyFile, line, column, endLine, endColumn };
}

function checkUse({ scan }: Parts, { declared }: KnownTools, used: ReadonlySet<string>, note: Note): void {
  for (const [name, { effect, generic, handsOff }] of declared) {
    const at = scan.tools.get(name);
    if (!at || generic || handsOff || used.has(name)) continue;
    note(
      at,
      'info',
      'tool/unused',
      `No task has ${name} among its gold actions.`,
      `Write a task that needs it, ${effect === 'write' ? 'or remove the tool' : 'or mark it generic'}.`,
    );
  }
}

/**
 * The tasks that try a rule: they call a tool that one of its checks is about. `every` where a check is about every
 * conversation.
 */
export function tasksThatTry(
  { tasks, rules, scan }: Parts,
  id: string,
): { readonly every: boolean; readonly tasks: readonly string[] } {
  const checks = rules.filter(({ value }) => value.rule === id).map(({ value }) => value);
  const trying = tasks.filter(({ value }) => {
    const used = new Set(value.actions.map(({ tool }) => tool));
    return checks.some((check) => boundTools(check) && isTried(check, used, scan));
  });
  return { every: checks.some((check) => !boundTools(check)), tasks: trying.map(({ value }) => value.id) };
}

/** Returns whether one of the tools that a check is about was called; true for a check of every conversation. */
export function isTried(rule: Rule, tried: ReadonlySet<string>, { declared }: Pick<KnownTools, 'declared'>): boolean {
  const bound = boundTools(rule);
  if (typeof bound !== 'string') return !bound || bound.some((name) => tried.has(name));
  return [...tried].some((name) => isMeant(bound, declared.get(name)));
}

/** A tool of which nothing is known may be meant. */
function isMeant(tools: 'writes' | 'all', tool: Declared | undefined): boolean {
  if (!tool) return true;
  return tools === 'writes' ? tool.effect !== 'read' && !tool.handsOff : !tool.generic && !tool.handsOff;
}
