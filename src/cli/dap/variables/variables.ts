import { callsIn, type Message, type ToolCall } from '../../../engine/core/events/message.ts';
import type { RolloutState } from '../../../engine/core/events/state.ts';
import { excerpt } from '../../../engine/core/text/excerpt.ts';
import { type Json, type JsonObject, jsonOf, type Path } from '../../../engine/core/values/json.ts';
import type { InWords } from '../../../engine/shell/domain/reasonInWords.ts';
import { parseTurn } from '../../../engine/shell/models/typedTurn.ts';
import type { GuardNote } from '../../../engine/shell/records/stepNotes.ts';
import type { Edit } from '../rollout/edit.ts';
import { pageSize, rowsOf, type Variable, type WholeValue } from './rows.ts';

/** Returns what the guard did on the way to a step, by the number of the step. */
export type GuardAt = (step: number) => GuardNote | undefined;

/** A verdict of a rule, with its evidence. */
export function ruleVariable(
  { rule, verdict, reason, step, gate, check, evidence }: RolloutState['ruleVerdicts'][number],
  inWords: InWords,
): Variable {
  const value = `${verdict} at step ${step}${gate && verdict === 'violated' ? ' (makes the reward 0)' : ''}: ${inWords(rule, reason)}`;
  const children = () => [
    leaf('check', check),
    leaf('a violation makes the reward 0', gate ? 'yes' : 'no'),
    leaf('evidence', evidence.length > 0 ? `step ${evidence.join(', ')}` : 'none'),
  ];
  return { name: rule, value, children };
}

/** Messages that the guard refused, in their order, a stop that was taken back, and how a result differs from its schema. */
export function refusedVariables({ flaws = [], withheld, mismatch }: GuardNote = {}): readonly Variable[] {
  return [
    ...flaws.map(({ code, message, content }, index) => ({
      name: `${index + 1} ${code}`,
      value: content,
      type: 'refused message',
      children: () => [leaf('why', message), leaf('content', content)],
    })),
    ...(withheld === undefined ? [] : [leaf('stop taken back', withheld)]),
    ...(mismatch === undefined ? [] : [leaf('output schema', mismatch)]),
  ];
}

/** A message of the conversation; another text for it makes a fork. */
export function messageVariable(message: Message, index: number, guardAt: GuardAt): Variable {
  const name = `${index + 1} ${message.role === 'tool' && message.by ? "user's tool" : message.role}`;
  const expression = `messages[${index}]`;
  if (message.role === 'tool')
    return {
      name,
      expression,
      value: `${message.name}: ${message.content}`,
      type: message.isError ? 'tool error' : 'tool result',
    };
  const edit = (text: string): Edit | string => {
    const turn = parseTurn(asCall(unquoted(text)));
    return typeof turn === 'string' ? turn : { type: 'message', step: message.step, ...turn };
  };
  const made = callsIn(message);
  const calls = made.map((call) => `${call.name}(${JSON.stringify(call.arguments)})`).join(', ');
  const type = `${message.role} message`;
  const refused = message.role === 'user' ? refusedVariables(guardAt(message.step)) : [];
  if (calls === '') {
    const children = refused.length > 0 ? { children: () => refused } : {};
    const whole: WholeValue = { text: () => message.content ?? '', language: 'markdown', edit };
    return { name, expression, value: message.content ?? '', type, edit, whole, ...children };
  }
  return {
    name,
    expression,
    value: calls,
    type,
    edit,
    ...typedCall(made, edit),
    children: () => [
      ...(message.content ? [leaf('said aloud', message.content)] : []),
      ...made.map((call): Variable => {
        const editAt = (path: Path, value: Json): Edit => ({
          type: 'arguments',
          step: message.step,
          callId: call.id,
          path: path.map(String),
          value,
        });
        const { name: tool, arguments: given } = call;
        const row = { name: tool, value: JSON.stringify(given), type: 'call' };
        if (typeof given === 'string') return row;
        const whole = wholeOf(tool, given, (value) => editAt([], value));
        return { ...row, whole, children: () => jsonChildren(given, [], editAt) };
      }),
    ],
  };
}

/** A message that makes one call, as a person types such a turn. */
function typedCall([call, ...more]: readonly ToolCall[], edit: WholeValue['edit']): { readonly whole?: WholeValue } {
  if (!call || !edit || more.length > 0 || typeof call.arguments === 'string') return {};
  const text = `/call ${call.name} ${JSON.stringify(call.arguments, null, 2)}`;
  return { whole: { text: () => text, language: 'markdown', edit } };
}

/** A message of the conversation, as VARIABLES shows it. */
export function messageValue(message: Message, index: number): Variable {
  return messageVariable(message, index, () => undefined);
}

/** Returns a text unchanged, and anything else as JSON on several lines. */
export function wholeOf(name: string, value: Json, edit: (to: Json) => Edit): WholeValue {
  if (typeof value === 'string') return { text: () => value, language: 'plaintext', edit };
  return {
    text: () => JSON.stringify(value, null, 2),
    language: 'json',
    edit: (text) => {
      const to = jsonOf(text) as Json | undefined;
      return to === undefined ? `${name} is not JSON: ${jsonProblem(text)}` : edit(to);
    },
  };
}

function jsonProblem(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

type MakeEdit = (path: readonly (string | number)[], value: Json) => Edit;

/** Variables of any JSON value. */
export function jsonChildren(
  value: Json,
  path: readonly (string | number)[] = [],
  edit?: MakeEdit,
): readonly Variable[] {
  return isContainer(value) ? Object.keys(value).map((key) => jsonVariable(value, key, path, edit)) : [];
}

/** Returns what is in a JSON value: all of it, or where that is much a page at a time. */
export function jsonContents(
  value: Json,
  path: readonly (string | number)[] = [],
  edit?: MakeEdit,
): Pick<Variable, 'children' | 'rows'> {
  if (!isContainer(value)) return {};
  const keys = Object.keys(value);
  if (keys.length <= pageSize) return { children: () => jsonChildren(value, path, edit) };
  return { rows: () => rowsOf(keys, Array.isArray(value), (key) => jsonVariable(value, key, path, edit)) };
}

function jsonVariable(parent: object, name: string, path: Path, edit: MakeEdit | undefined): Variable {
  const value = (parent as Readonly<Record<string, Json>>)[name] as Json;
  const here = [...path, name];
  const to = edit && ((next: Json) => edit(here, next));
  const whole = to && (typeof value === 'string' || isContainer(value)) ? { whole: wholeOf(name, value, to) } : {};
  if (isContainer(value)) return { name, value: shortened(value), ...whole, ...jsonContents(value, here, edit) };
  return {
    name,
    value: JSON.stringify(value),
    ...whole,
    ...(to ? { edit: (text: string) => edited(name, text, value, to) } : {}),
  };
}

function isContainer(value: Json | undefined): value is JsonObject | readonly Json[] {
  return typeof value === 'object' && value !== null;
}

/** The edit to a typed value of the same kind as before, or a sentence that says which kind that is. */
export function edited(name: string, text: string, was: Json | undefined, edit: (value: Json) => Edit): Edit | string {
  // The mark of a value that changed still is behind it in the edit box.
  const bare = text.replace(/ {3}\(was .*\)$/, '');
  const value = typeof was === 'string' ? unquoted(bare) : (jsonOf(bare) as Json | undefined);
  if (typeof was === 'number' && typeof value !== 'number') return `${name} is a number: type a number`;
  if (typeof was === 'boolean' && typeof value !== 'boolean') return `${name} is true or false: type one of them`;
  return value === undefined ? `${name} is null: type a value in JSON, a text in quotes` : edit(value);
}

/** A call as it is shown, `get_order({"order_id": "W1"})`, is a call when it is typed, too. */
function asCall(text: string): string {
  return text.replace(/^([A-Za-z_][\w-]*)\((\{.*\})\)$/s, '/call $1 $2');
}

/** People type texts with or without quotes. */
function unquoted(text: string): string {
  const value = jsonOf(text);
  return typeof value === 'string' ? value : text;
}

/** Returns what became of a value; undefined is one that is not there. */
export function changeText(before: Json | undefined, after: Json | undefined): string {
  if (before === undefined) return `added ${shortened(after)}`;
  if (after === undefined) return `removed ${shortened(before)}`;
  return `${shortened(before)} -> ${shortened(after)}`;
}

const longestValue = 120;

/** Returns a value as one line of JSON that fits next to its name. */
export function shortened(value: Json | undefined): string {
  return excerpt(beginning(value) ?? 'missing', longestValue);
}

/** The JSON text of a value, at least as far as it is shown: a large one is not read through. */
function beginning(value: Json | undefined): string | undefined {
  if (!isContainer(value)) return JSON.stringify(value);
  const isList = Array.isArray(value);
  let text = '';
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const each = beginning((value as Readonly<Record<string | number, Json>>)[key]);
    text += `${text === '' ? '' : ','}${isList ? '' : `${JSON.stringify(key)}:`}${each}`;
    if (text.length > longestValue) break;
  }
  return isList ? `[${text}]` : `{${text}}`;
}

/** Returns a row without children. */
export function leaf(name: string, value: string): Variable {
  return { name, value };
}
