import type { Diagnostic } from '../diagnostic.ts';
import { checkRules } from './checkRules.ts';
import { checkSides } from './checkSides.ts';
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
  checkRules(parts, bases, known, note);
  checkDuplicates(parts.personas, 'persona', note);
  checkTasks(parts, bases, known, note);
  checkTools(parts, known, note);
  checkSources(parts, folder, known, note);
  checkSides(parts, known, note);
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
    for (const key of ['propose', 'done', 'instruct'] as const) {
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
