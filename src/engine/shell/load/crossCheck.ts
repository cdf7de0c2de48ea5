import type { Diagnostic, Location } from '../diagnostic.ts';
import { checkSources } from './checkSources.ts';
import { checkTasks } from './checkTasks.ts';
import { checkTools } from './checkTools.ts';
import { placeOf } from './items.ts';
import type { Parts } from './loadedDomain.ts';
import { didYouMean } from './nearest.ts';
import { argumentsOf, type Bases, checkDuplicates, checkToolName, type KnownTools, type Note } from './note.ts';

/** Findings that need more than one file of the domain. */
export function crossCheck(parts: Parts, bases: Bases, known: KnownTools, folder: string): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const note: Note = (at, severity, code, message, hint) => {
    const { file, line, column, endLine, endColumn } = at;
    found.push({ file, line, column, endLine, endColumn, code, severity, message, hint });
  };
  checkDomainFile(parts, known, note);
  checkRules(parts, known, note);
  checkDuplicates(parts.personas, 'persona', note);
  checkTasks(parts, bases, known, note);
  checkTools(parts, known, note);
  checkSources(parts, folder, known, note);
  return found;
}

function checkDomainFile({ file }: Parts, known: KnownTools, note: Note): void {
  if (Number.isNaN(Date.parse(file.value.now))) {
    note(
      placeOf(file, 'now'),
      'error',
      'domain/wrong-value',
      `now is "${file.value.now}", which is no date and time.`,
      'Write it as 2026-01-05T09:00:00Z.',
    );
  }
  for (const [name, words] of Object.entries(file.value.lexicon.tools)) {
    if (!checkToolName(name, file.places.key(['lexicon', 'tools', name]), 'domain', known, note)) continue;
    const tool = known.tools.get(name);
    if (!tool) continue;
    const named = argumentsOf(tool);
    for (const key of ['propose', 'done'] as const) {
      for (const [index, text] of words[key].entries()) {
        for (const [, slot = ''] of text.matchAll(/\{([A-Za-z_]\w*)\}/g)) {
          if (named.includes(slot)) continue;
          const message = `{${slot}} is no argument of ${name}.`;
          note(
            placeOf(file, 'lexicon', 'tools', name, key, index),
            'error',
            'domain/unknown-argument',
            message,
            didYouMean(slot, named, `Its arguments are ${named.join(', ')}.`),
          );
        }
      }
    }
  }
}

function checkRules({ policy, rules }: Parts, known: KnownTools, note: Note): void {
  const ids = policy.policy.rules.map(({ id }) => id);
  for (const placed of rules) {
    const { value } = placed;
    if (!ids.includes(value.rule)) noteUnknownRule(value.rule, placeOf(placed, 'rule'), ids, note);
    if (value.check === 'oneCall') continue;
    const tools = value.tools === 'writes' ? [] : value.tools;
    for (const [index, name] of tools.entries())
      checkToolName(name, placeOf(placed, 'tools', index), 'rule', known, note);
    if (value.check === 'before') {
      for (const [index, name] of value.require.entries())
        checkToolName(name, placeOf(placed, 'require', index), 'rule', known, note);
      continue;
    }
    const bound =
      value.tools === 'writes'
        ? [...known.tools.values()].filter(({ effect }) => effect === 'write')
        : tools.flatMap((name) => known.tools.get(name) ?? []);
    const named = [...new Set(bound.flatMap(argumentsOf))];
    for (const [index, name] of value.names.entries()) {
      if (bound.length === 0 || named.includes(name)) continue;
      const hint = didYouMean(name, named, `Their arguments are ${named.join(', ')}.`);
      note(
        placeOf(placed, 'names', index),
        'error',
        'rule/unknown-argument',
        `None of the tools of this check has an argument ${name}.`,
        hint,
      );
    }
  }
}

function noteUnknownRule(rule: string, at: Location, ids: readonly string[], note: Note): void {
  if (/\s/.test(rule)) {
    note(
      at,
      'error',
      'rule/unknown-rule',
      'The policy does not say this.',
      'Quote words that stand in one list item, heading or paragraph of the policy, or write the id of a rule.',
    );
    return;
  }
  const all =
    ids.length === 0
      ? `Mark the rule in the policy with {#${rule}}, or quote its text here.`
      : `The rules are ${ids.join(', ')}.`;
  note(at, 'error', 'rule/unknown-rule', `The policy has no rule ${rule}.`, didYouMean(rule, ids, all));
}
