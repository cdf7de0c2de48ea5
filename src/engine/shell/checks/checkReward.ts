import type { Task, VerifierName } from '../../core/domain/task.ts';
import { hasInput } from '../../core/verifiers/verify.ts';
import { type Fix, placeAt } from '../files/diagnostic.ts';
import { fixOf } from '../source/edit.ts';
import { keyOf, type Placed, placeOf } from '../source/items.ts';
import type { KnownTools, Note } from '../source/note.ts';

/** The key that a verifier's input is written under, if it is not the verifier's name. */
const keysOf: Partial<Record<VerifierName, string>> = { custom: 'verifiers', turns: 'user.script' };

type Basis = 'evaluate' | 'train';

const defaults: Readonly<Record<Basis, readonly VerifierName[]>> = {
  evaluate: ['database', 'communicate'],
  train: ['database'],
};

/** Checks that the reward's inputs exist, that each requirement counts, and that something is required at all. */
export function checkReward(placed: Placed<Task>, known: KnownTools, note: Note): void {
  checkGates(placed, note);
  checkUse(placed, note);
  checkNeed(placed, known, note);
}

/** A verifier of the basis that has nothing to verify holds for every agent. */
function checkGates(placed: Placed<Task>, note: Note): void {
  for (const name of ['evaluate', 'train'] as const) {
    const basis = placed.value[name];
    for (const [index, verifier] of basis.entries()) {
      const isOnly = basis.length === 1;
      if (hasInput(verifier, placed.value) || (verifier === 'communicate' && !isOnly)) continue;
      note(
        placeOf(placed, name, index),
        'error',
        'task/empty-basis',
        `${name} uses ${verifier}, but the task does not have it, so it always holds.`,
        `Write ${keysOf[verifier] ?? verifier}:, or remove it from ${name}:.`,
        without(placed, name),
      );
    }
  }
}

/** The basis without the verifiers that have nothing to verify; the default where none is left. */
function without(placed: Placed<Task>, name: Basis): Fix | undefined {
  const left = placed.value[name].filter((verifier) => hasInput(verifier, placed.value));
  const basis = left.length === 0 ? defaults[name] : left;
  const at = placeOf(placed, name);
  if (at.line !== at.endLine) return undefined;
  return fixOf(`Rest ${name} on ${basis.join(' and ')}`, { ...placeAt(at), text: `[${basis.join(', ')}]` });
}

function checkUse(placed: Placed<Task>, note: Note): void {
  const { evaluate, train } = placed.value;
  for (const demand of ['assertions', 'communicate', 'receipts', 'custom', 'judge'] as const) {
    if (!hasInput(demand, placed.value) || evaluate.includes(demand) || train.includes(demand)) continue;
    const key = demand === 'custom' ? 'verifiers' : demand;
    const isWritten = placed.places.insert([...placed.path, 'evaluate'], demand);
    const added = `evaluate: [${[...evaluate, demand].join(', ')}]`;
    note(
      keyOf(placed, key),
      'warning',
      'task/unused-demand',
      `${key} has no effect: it is in neither evaluate nor train.`,
      `Add ${demand} to evaluate:.`,
      fixOf(`Add ${demand} to evaluate`, isWritten ?? placed.places.insert(placed.path, added)),
    );
  }
}

/** Reports a task on which an agent that does nothing gets the full reward. */
function checkNeed(placed: Placed<Task>, known: KnownTools, note: Note): void {
  const { actions, script, evaluate } = placed.value;
  const doesNothing = actions.every(({ tool }) => known.declared.get(tool)?.effect === 'read');
  const isSilent = evaluate.every((verifier) => verifier === 'database' || !hasInput(verifier, placed.value));
  if (!doesNothing || !isSilent || script) return;
  note(
    placeOf(placed, 'id'),
    'warning',
    'task/nothing-to-do',
    'An agent that does nothing gets reward 1 on this task.',
    actions.length === 0
      ? 'Add actions: that change something, assertions: or communicate:.'
      : `Its actions call only tools with effect: read (${[...new Set(actions.map(({ tool }) => tool))].join(', ')}). If one of them changes the database, declare effect: write. Otherwise add assertions: or communicate:.`,
  );
}
