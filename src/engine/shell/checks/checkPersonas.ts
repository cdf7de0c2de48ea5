import { occasionalBehaviours, type Persona } from '../../core/domain/persona.ts';
import { placeAt } from '../files/diagnostic.ts';
import { acceptedFirst } from '../load/drafts.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { fixOf, within } from '../source/edit.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { checkDuplicates, type Note } from '../source/note.ts';

/** Reports instructions of personas that no rollout could carry out. */
export function checkPersonas({ personas, file }: Parts, note: Note): void {
  checkDuplicates(acceptedFirst(personas), 'persona', note);
  for (const placed of personas) {
    const { behaviours, attacks } = placed.value;
    for (const name of occasionalBehaviours) {
      const given = behaviours[name];
      if (typeof given === 'object') checkRange(placed, ['behaviours', name], given, file.value.turnCap, note);
    }
    for (const [index, attack] of attacks.entries())
      checkRange(placed, ['attacks', index], attack, file.value.turnCap, note);
    checkTexts(placed, note);
  }
}

type Range = { readonly from: number; readonly to: number; readonly chance?: number };

function checkRange(
  placed: Placed<Persona>,
  path: readonly PropertyKey[],
  { from, to, chance }: Range,
  turnCap: number,
  note: Note,
): void {
  const at = (key: string) => placeOf(placed, ...path, key);
  if (to < from)
    note(
      at('to'),
      'error',
      'persona/empty-range',
      `from is ${from} and to is ${to}, so there is no reply for it.`,
      `Write to: ${from} or more.`,
    );
  else if (from >= turnCap)
    note(
      at('from'),
      'warning',
      'persona/never-happens',
      `It happens at reply ${from} at the earliest, and a rollout ends after ${turnCap} turns of the agent.`,
      `Write from: ${Math.max(1, Math.min(3, turnCap - 1))}.`,
    );
  if (chance === 0)
    note(
      at('chance'),
      'warning',
      'persona/never-happens',
      'Its chance is 0, so it never happens.',
      'Write false instead.',
    );
}

/** A stop word in a persona's words would end the conversation, or be taken for a leak of its instructions. */
function checkTexts(placed: Placed<Persona>, note: Note): void {
  const { description, attacks } = placed.value;
  const texts: readonly (readonly [readonly PropertyKey[], string])[] = [
    [['description'], description],
    ...attacks.flatMap(({ aim, say, breach }, index): [PropertyKey[], string][] => [
      [['attacks', index, 'aim'], aim],
      [['attacks', index, 'breach'], breach],
      ...say.map((words, part): [PropertyKey[], string] => [['attacks', index, 'say', part], words]),
    ]),
  ];
  for (const [path, text] of texts) {
    if (!/#{2,}/.test(text)) continue;
    const message = 'This text contains ##, which marks a stop word of the simulated user.';
    const whole = placeOf(placed, ...path);
    const [marks = ''] = /#{2,}\s*/.exec(text) ?? [];
    const at = within(whole, text, text.indexOf(marks), marks.length);
    const fix = at === whole ? undefined : fixOf('Remove the ##', { ...placeAt(at), text: '' });
    note(whole, 'error', 'persona/stop-word', message, 'Remove the ##.', fix);
  }
}
