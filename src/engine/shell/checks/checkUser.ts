import type { Persona } from '../../core/domain/persona.ts';
import type { Task } from '../../core/domain/task.ts';
import { factsBehind, factsOf } from '../../core/events/facts.ts';
import { wordsOf } from '../../core/text/text.ts';
import { type Edit, type Location, placeAt } from '../files/diagnostic.ts';
import { fixOf } from '../source/edit.ts';
import { keyOf, type Placed, placeOf } from '../source/items.ts';
import type { KnownTools, Note } from '../source/note.ts';

/** Words of a goal that say when the user leaves it at that. */
const exit =
  /\b(?:giv(?:e|es|ing) (?:in|up)|accept\w*|otherwise|unless|settle|content with|drop it|leave it|let it (?:go|be)|once more|stop|hang up|thank\w*|goodbye|end (?:the|this) (?:chat|conversation|call)|if (?:the agent|the desk|they|it|that|this|he|she|you are|refused|not|nothing)\b|when (?:the agent|you are) refuse[sd]?)/i;

const ending = /###[A-Z]|\b(?:stop|end|ends|ending|finish|close|leave|quit|hang up|say (?:good)?bye|goodbye)\b/i;
const confirming =
  /\b(?:when(?:ever)?|once|after|as soon as|if|upon|on|the moment|immediately after|right after)\b[^.!?]*?\b(?:you(?: have| had|'ve)? (?:confirm|agree|approve|accept|said yes|say yes)\w*|your (?:confirmation|yes|approval|agreement)|confirming|agreeing|saying yes|asks? (?:you )?(?:to confirm|for (?:your |a )?(?:confirmation|yes|approval))|(?:agent|desk) proposes)/i;
/** Matches a sentence about another end: only later, or when the agent refuses. */
const notYet =
  /\b(?:not|never|only when|until|cannot|can't|impossible|refus\w*|reject\w*|declin\w*|den(?:y|ies|ied))\b/i;

const leave = ' If the agent refuses, accept that and end the conversation.';
const finish = 'End the conversation only when the agent has said that it is done.';

/** The instructions of a simulated user must let it end, and not before the work is done. */
export function checkGoal(placed: Placed<Task>, known: KnownTools, note: Note): void {
  const { user } = placed.value;
  checkEnding(user.goal, placeOf(placed, 'user', 'goal'), 'task', note);
  if (!isRefused(placed.value, known) || exit.test(user.goal)) return;
  const at = placeOf(placed, 'user', 'goal');
  note(
    at,
    'warning',
    'task/endless-goal',
    'What the user wants is refused, and the goal does not say when to stop: a model in this seat continues, or makes up another goal.',
    'Say in the goal what the user does when it is refused.',
    fixOf('Let the user accept a refusal', appended(at, user.goal, leave)),
  );
}

export function checkPersonaEnding(placed: Placed<Persona>, note: Note): void {
  checkEnding(placed.value.description, placeOf(placed, 'description'), 'persona', note);
}

/** Whether nothing that the user asks for is ever done: no gold action changes anything, and a change was asked for. */
function isRefused(task: Task, known: KnownTools): boolean {
  return !isDone(task, known) && (task.user.insist !== undefined || namedWrites(task, known).length > 0);
}

function isDone({ actions, assertions, receipts = [], endState }: Task, { declared }: KnownTools): boolean {
  return (
    assertions.length > 0 ||
    endState !== undefined ||
    receipts.some(({ times }) => times !== 0) ||
    actions.some(({ tool }) => declared.get(tool)?.effect !== 'read' || declared.get(tool)?.handsOff)
  );
}

/** Returns the tools that a task's user asks for in vain: an agent that calls one breaks the rule that refuses it. */
export function refusedTools(task: Task, known: KnownTools): readonly string[] {
  return isDone(task, known) ? [] : namedWrites(task, known);
}

/** Returns the tools that write and whose verb is in the user's goal or opening. */
function namedWrites({ user }: Task, { declared }: KnownTools): readonly string[] {
  const said = new Set(wordsOf(`${user.goal} ${user.opening ?? ''}`));
  return [...declared].flatMap(([name, { effect, handsOff }]) =>
    effect === 'write' && !handsOff && said.has(wordsOf(name)[0] ?? '') ? [name] : [],
  );
}

/** The gold seat takes the former values for the new ones in its calls, so one changed fact has to fill an argument. */
export function checkChange(placed: Placed<Task>, known: KnownTools, note: Note): void {
  const task = placed.value;
  const { change, known: before } = task.user;
  const changed = Object.keys(change?.known ?? {}).filter((name) => Object.hasOwn(before, name));
  const [fact] = changed;
  if (fact === undefined || !isDone(task, known) || task.actions.length === 0) return;
  const [former, facts] = [factsOf(task, false), factsOf(task, true)];
  const same = changed.find((name) => facts[name]?.value === former[name]?.value);
  if (same !== undefined) {
    const message = `The change has the value that the user has before it: ${same} is ${facts[same]?.value}.`;
    const at = placeOf(placed, 'user', 'change', 'known', same);
    const hint = 'Write the new value in user.change.known, or the former one in user.known.';
    note(at, 'warning', 'task/same-change', message, hint);
    return;
  }
  const names = new Set(changed);
  if (task.actions.some((action) => factsBehind(facts, action).some((name) => names.has(name)))) return;
  for (const [index, { tool, arguments: given }] of task.actions.entries()) {
    const name = Object.keys(given).find((each) => names.has(each) && given[each] === former[each]?.value);
    if (name === undefined) continue;
    const at = placeOf(placed, 'actions', index, 'arguments', name);
    const message = `${tool} gets ${name} ${former[name]?.value}, which the user changes to ${facts[name]?.value}.`;
    note(at, 'warning', 'task/former-value', message, 'Gold actions have the value after the change.');
    return;
  }
  note(
    keyOf(placed, 'user', 'change', 'known', fact),
    'warning',
    'task/change-without-argument',
    `No gold action has the new value of ${fact} as an argument, so the gold seat proposes the end result before the user changes anything.`,
    `Name a fact after an argument that the change replaces, in user.known and in user.change.known: animal_id: { value: A1, say: ${facts[fact]?.say} }.`,
  );
}

/** A user that stops on saying yes leaves before the change is made, and the agent fails without its own fault. */
function checkEnding(text: string, at: Location, kind: 'task' | 'persona', note: Note): void {
  for (const sentence of text.split(/(?<=[.!?])\s+/)) {
    if (!ending.test(sentence) || !confirming.test(sentence) || notYet.test(sentence)) continue;
    note(
      at,
      'warning',
      `${kind}/stops-early`,
      `The instructions tell the user to stop when confirming ("${sentence.slice(0, 80)}"), before the agent has done what was agreed.`,
      'Let it stop when the agent says that it is done.',
      fixOf('Let the user stop when it is done', replaced(at, text, sentence)),
    );
  }
}

/** A text that is on one line as it is, with or without quotes. */
function inner(at: Location, text: string): Location | null {
  const written = at.endColumn - at.column;
  if (at.line !== at.endLine) return null;
  const place = placeAt(at);
  if (written === text.length) return place;
  return written === text.length + 2 ? { ...place, column: at.column + 1, endColumn: at.endColumn - 1 } : null;
}

function appended(at: Location, text: string, more: string): Edit | null {
  const place = inner(at, text);
  return place && { ...place, column: place.endColumn, text: more };
}

function replaced(at: Location, text: string, sentence: string): Edit | null {
  const place = inner(at, text);
  const from = text.indexOf(sentence);
  if (!place || from < 0) return null;
  const column = place.column + from;
  return { ...place, column, endColumn: column + sentence.length, text: finish };
}
