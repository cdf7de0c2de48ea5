import { basename } from 'node:path';
import type { Policy } from '../../core/domain/domain.ts';
import type { Rule } from '../../core/domain/rule.ts';
import { listOf, numberType, type Type, textsFrom, textType } from '../../core/expression/type.ts';
import { isExpression } from '../../core/rules/confirmed.ts';
import { binds, boundTools, type RuleName, ruleNames, type Tools } from '../../core/rules/seen.ts';
import { numbersIn, phrasesIn } from '../../core/text/phrase.ts';
import { withDigits } from '../../core/text/text.ts';
import type { Location } from '../files/diagnostic.ts';
import type { DomainTypes } from '../load/expressionTypes.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { replacing, respelt } from '../source/edit.ts';
import { type Placed, placeOf, textIn } from '../source/items.ts';
import { didYouMean, nearest } from '../source/nearest.ts';
import { argumentsOf, checkToolName, type KnownTools, type Note } from '../source/note.ts';
import { locate, type Source } from '../source/source.ts';
import { checkExpression } from './checkExpression.ts';

/** Checks the checks of rules.yaml against the policy, the tools and the database. */
export function checkRules(parts: Parts, types: DomainTypes, known: KnownTools, note: Note): void {
  for (const placed of parts.rules) {
    checkRule(placed, parts, types, known, note);
    checkDemand(placed, note);
    checkPhrases(placed, note);
    checkNumbers(placed, parts.policy.policy, note);
  }
}

/** Matches what looks like an expression or a slot in a phrase, whose words are matched as they are. */
const readsValue = /\{[^{}]*\}|\b(?:args|db|facts|expected)(?:\.[a-z_]|\[)/i;

/** Notes an expression in a phrase: it is not evaluated, so no one says it. */
function checkPhrases(placed: Placed<Rule>, note: Note): void {
  const { value } = placed;
  const lists = value.check === 'confirmed' ? (['asks', 'yes', 'no'] as const) : (['says'] as const);
  for (const key of lists) {
    const phrases = (value as Partial<Record<typeof key, string | readonly string[]>>)[key];
    for (const [index, phrase] of phrasesIn(phrases ?? []).entries()) {
      const [found] = readsValue.exec(phrase) ?? [];
      if (found === undefined) continue;
      note(
        typeof phrases === 'string' ? placeOf(placed, key) : placeOf(placed, key, index),
        'warning',
        'rule/phrase-template',
        `A phrase in ${key}: is matched word by word, so ${found.trim()} in "${phrase}" is not evaluated.`,
        'Write the words of the message, with ... for others between them. For a value, write a condition such as names(message, args.title), or names: in a confirmed check.',
      );
    }
  }
}

/** Notes a number in what the agent must say where the sentence of the policy has other numbers: one of them is old. */
function checkNumbers(placed: Placed<Rule>, { rules }: Policy, note: Note): void {
  const { value } = placed;
  if (value.check !== 'mustSay') return;
  const stated = numbersIn(withDigits(rules.find(({ id }) => id === value.rule)?.text ?? ''));
  if (stated.length === 0) return;
  for (const [index, phrase] of phrasesIn(value.says).entries()) {
    const other = numbersIn(withDigits(phrase)).find((number) => !stated.includes(number));
    if (other === undefined) continue;
    note(
      typeof value.says === 'string' ? placeOf(placed, 'says') : placeOf(placed, 'says', index),
      'warning',
      'rule/other-number',
      `The agent must say "${phrase}", but the rule in the policy says ${stated.join(' and ')}, not ${other}.`,
      'Correct the phrase here or the sentence in policy.md.',
    );
  }
}

/**
 * Checks each key of a check that refers to another part of the domain.
 * @param lost the keys that could not be read: without its tools, nothing is known of the arguments
 */
export function checkRule(
  placed: Placed<Rule>,
  { policy, policySource }: Pick<Parts, 'policy' | 'policySource'>,
  types: DomainTypes,
  known: KnownTools,
  note: Note,
  lost: ReadonlySet<string> = new Set(),
): void {
  const ids = policy.policy.rules.map(({ id }) => id);
  const { rule } = placed.value;
  const isQuote = lost.size > 0 && /\s/.test(rule);
  const isPolicyRead = policySource !== null && policySource.text.trim() !== '';
  if (isPolicyRead && !isQuote && !ids.includes(rule)) {
    const mark = policySource && unreadMark(rule, policySource);
    noteUnknownRule(rule, placeOf(placed, 'rule'), ids, mark, note);
  }
  checkTools(placed, known, note);
  if (['check', 'tools', 'before', 'after'].some((key) => lost.has(key))) return;
  checkArguments(placed, known, note);
  checkExpressions(placed, types, known, note);
}

function checkTools(placed: Placed<Rule>, known: KnownTools, note: Note): void {
  const { value } = placed;
  const lists: readonly (readonly [string, Tools | undefined])[] =
    value.check === 'before'
      ? [
          ['tools', value.tools],
          ['require', value.require],
        ]
      : value.check === 'mustSay'
        ? [
            ['before', value.before],
            ['after', value.after],
          ]
        : 'tools' in value
          ? [['tools', value.tools]]
          : [];
  for (const [key, names] of lists) {
    if (typeof names === 'string' || names === undefined) continue;
    for (const [index, name] of names.entries()) {
      const at = placeOf(placed, key, index);
      if (!checkToolName(name, at, 'rule', known, note) || key === 'require') continue;
      if (known.tools.get(name)?.owner !== 'user') continue;
      const hint = 'Name tools of the agent here; what the user did is in `calls`, and in require: of `before`.';
      const message = `${name} belongs to the user, and rules apply only to the agent.`;
      note(at, 'warning', 'rule/user-tool', message, hint);
    }
  }
}

/** The tools whose calls a check is about, where they are known. */
function knownToolsOf({ value }: Placed<Rule>, known: KnownTools) {
  const tools = boundTools(value);
  const all = [...known.tools.values()];
  if (value.check === 'handOff') return all.filter(({ handsOff }) => handsOff);
  return tools === undefined ? [] : all.filter(({ name }) => binds(tools, name, all));
}

function checkArguments(placed: Placed<Rule>, known: KnownTools, note: Note): void {
  const { value } = placed;
  const key = value.check === 'confirmed' ? 'names' : value.check === 'before' ? 'same' : null;
  if (key === null) return;
  const bound = knownToolsOf(placed, known);
  const named = [...new Set(bound.flatMap(argumentsOf))];
  const list = value.check === 'confirmed' ? value.names : value.check === 'before' ? (value.same ?? []) : [];
  for (const [index, name] of list.entries()) {
    if (bound.length === 0 || named.includes(name) || isExpression(name)) continue;
    const others = [...known.tools.values()]
      .filter((tool) => argumentsOf(tool).includes(name))
      .map((tool) => tool.name);
    const meant = others.length > 0 ? undefined : (nearest(name, named) ?? named.find((each) => each === `${name}_id`));
    const hint =
      others.length > 0
        ? `${others.join(', ')} ${others.length > 1 ? 'have' : 'has'} it: name a tool in tools:, declare effect: write for a tool that changes something, or remove ${name}.`
        : meant === undefined
          ? `Their arguments are ${named.join(', ')}.`
          : `Did you mean "${meant}"?`;
    const message = `None of the tools of this check has an argument ${name}.`;
    const at = placeOf(placed, key, index);
    note(
      at,
      'error',
      'rule/unknown-argument',
      message,
      hint,
      meant === undefined ? undefined : replacing(at, name, meant),
    );
  }
}

function checkExpressions(placed: Placed<Rule>, types: DomainTypes, known: KnownTools, note: Note): void {
  const { value } = placed;
  const check = (key: 'when' | 'condition' | 'onlyWhen' | 'always', text: string | undefined) => {
    if (text === undefined) return;
    const all = typesOfNames(placed, types, known);
    const names = Object.fromEntries(namesFor(value, key).map((name) => [name, all[name]]));
    checkExpression(textIn(placed, text, key), { kind: 'rule', names, types, note });
  };
  if (value.check === 'confirmed') checkNames(placed, types, known, note);
  check('when', value.when);
  if (value.check === 'onlyIf') check('condition', value.condition);
  if (value.check === 'handOff') {
    check('onlyWhen', value.onlyWhen);
    check('always', value.always);
  }
}

/** Expressions among what a proposal must name read the call that is about to be made. */
function checkNames(placed: Placed<Rule>, types: DomainTypes, known: KnownTools, note: Note): void {
  const { value } = placed;
  if (value.check !== 'confirmed') return;
  const all = typesOfNames(placed, types, known);
  const names = Object.fromEntries(namesFor(value, 'when').map((name) => [name, all[name]]));
  for (const [index, name] of value.names.entries())
    if (isExpression(name)) checkExpression(textIn(placed, name, 'names', index), { kind: 'rule', names, types, note });
}

function typesOfNames(placed: Placed<Rule>, types: DomainTypes, known: KnownTools): Readonly<Record<RuleName, Type>> {
  const { agent, user, calls, messages, facts, expected, phrases } = types;
  const bound = knownToolsOf(placed, known);
  return {
    db: agent,
    user,
    calls,
    messages,
    now: textType,
    timeZone: textType,
    turn: numberType,
    facts,
    expected,
    policy: textType,
    sourced: listOf(textType),
    phrases,
    args: types.argumentsOf(bound),
    tool: known.complete ? textsFrom('tools', known.names) : textType,
    message: textType,
  };
}

/** At a call there are its arguments, after an utterance its text, and at the end neither. */
function namesFor(rule: Rule, key: 'when' | 'condition' | 'onlyWhen' | 'always'): readonly RuleName[] {
  const isEnd =
    rule.check === 'judge' ||
    key === 'always' ||
    (rule.check === 'mustSay' && rule.before === undefined && rule.after === undefined);
  const isUtterance = rule.check === 'never' && rule.tools === undefined;
  return ruleNames.filter((name) => {
    if (name === 'args' || name === 'tool') return !isEnd && !isUtterance;
    return name === 'message' ? isUtterance : true;
  });
}

/** A check that can never find anything. */
function checkDemand(placed: Placed<Rule>, note: Note): void {
  const { value } = placed;
  const empty = (hint: string) =>
    note(placeOf(placed, 'check'), 'error', 'rule/empty-check', `This ${value.check} requires nothing.`, hint);
  if (value.check === 'never' && value.tools === undefined && value.says === undefined && value.when === undefined)
    empty('Add tools:, says: or when:.');
  if (value.check === 'handOff' && value.onlyWhen === undefined && value.always === undefined)
    empty('Add onlyWhen: or always:.');
  const isTwice =
    (value.check === 'mustSay' && value.before !== undefined && value.after !== undefined) ||
    (value.check === 'never' && value.tools !== undefined && value.says !== undefined);
  if (isTwice) {
    const [one, other] = value.check === 'never' ? ['tools', 'says'] : ['before', 'after'];
    const message = `${one} and ${other} are in one check.`;
    note(placeOf(placed, 'check'), 'error', 'rule/two-checks', message, 'Write two checks of the same rule.');
  }
}

/** Returns the place of a mark in the policy that lacks its braces, such as `(#identify)`; null without one. */
function unreadMark(rule: string, source: Source): { readonly text: string; readonly at: Location } | null {
  const found = [...source.text.matchAll(/(?<![{\w])[([<]?#([\w-]+)[)\]>]?(?!\})/g)].find(([, id]) => id === rule);
  return found ? { text: found[0], at: locate(source, found.index, found[0].length) } : null;
}

function noteUnknownRule(
  rule: string,
  at: Location,
  ids: readonly string[],
  mark: ReturnType<typeof unreadMark>,
  note: Note,
): void {
  if (/\s/.test(rule)) {
    note(
      at,
      'error',
      'rule/unknown-rule',
      'The policy does not say this.',
      'Quote words from one list item, heading or paragraph of the policy, or write the id of a rule.',
    );
    return;
  }
  const all =
    ids.length === 0
      ? `Mark the rule in the policy with {#${rule}}, or quote its text here.`
      : `The rules are ${ids.join(', ')}.`;
  note(
    at,
    'error',
    'rule/unknown-rule',
    `The policy has no rule ${rule}.`,
    mark
      ? `${basename(mark.at.file)}:${mark.at.line} has ${mark.text}. Write the mark as {#${rule}}.`
      : didYouMean(rule, ids, all),
    mark ? undefined : respelt(at, rule, ids),
  );
}
