import { type Database, diffDatabases, getAt, keysAt } from '../../engine/core/database.ts';
import { verdictWord } from '../../engine/core/event.ts';
import type { Json, JsonObject, Path } from '../../engine/core/json.ts';
import { callsIn, type Message } from '../../engine/core/message.ts';
import type { RolloutState } from '../../engine/core/state.ts';
import type { Side } from '../../engine/core/tool.ts';
import type { Step } from '../../engine/shell/driver.ts';
import type { GuardNote } from '../../engine/shell/guardNotes.ts';
import { parseTurn } from '../../engine/shell/seats/typedTurn.ts';
import type { Edit } from './edit.ts';

/** A variable as a debugger shows it; children are made when they are looked at. */
export type Variable = {
  readonly name: string;
  readonly value: string;
  readonly type?: string;
  readonly children?: () => readonly Variable[];
  /** The edit that a new value makes, or a sentence why it can't. */
  readonly edit?: (text: string) => Edit | string;
  /** Expression that reads it again. */
  readonly expression?: string;
  /** Where it stands in the database, for a data breakpoint. */
  readonly place?: { readonly side: Side; readonly path: Path };
};

/** What the guard did on the way to the step of a number. */
export type GuardAt = (step: number) => GuardNote | undefined;

export type Scope = Variable & { readonly children: () => readonly Variable[] };

const pageSize = 100;

/**
 * Everything there is to see at a step.
 * @param before the step before it, for what changed
 * @param guardAt what the guard of a model in the user's seat did on the way to a step
 */
export function scopesAt(step: Step, before: Step | undefined, guardAt: GuardAt): readonly Scope[] {
  const { state } = step;
  const changes = before ? changed(before, step) : [];
  const user = keysAt(state.world.user, []).total;
  const refused = refusedVariables(guardAt(step.n));
  return [
    scope('Messages', () => state.messages.map((message, index) => messageVariable(message, index, guardAt))),
    ...(refused.length > 0 ? [scope('Refused by the guard', () => refused)] : []),
    scope('Database', () => databaseVariables(state.world.agent, 'agent', [], before?.state.world.agent)),
    ...(user > 0
      ? [scope("User's database", () => databaseVariables(state.world.user, 'user', [], before?.state.world.user))]
      : []),
    ...(changes.length > 0 ? [scope('Changed in this step', () => changes)] : []),
    scope('Rules', () => state.ruleVerdicts.map(ruleVariable)),
    scope('Rollout', () => rolloutVariables(step)),
  ];
}

function ruleVariable({
  rule,
  verdict,
  reason,
  step,
  gate,
  check,
  evidence,
}: RolloutState['ruleVerdicts'][number]): Variable {
  const value = `${verdict} at step ${step}${gate ? ' (gates the reward)' : ''}: ${reason}`;
  const children = () => [
    leaf('check', check),
    leaf('gates the reward', gate ? 'yes' : 'no'),
    leaf('evidence', evidence.length > 0 ? `step ${evidence.join(', ')}` : 'none'),
  ];
  return { name: rule, value, children };
}

/** Messages that the guard refused, in their order, and a stop that was taken back. */
export function refusedVariables({ flaws = [], withheld }: GuardNote = {}): readonly Variable[] {
  return [
    ...flaws.map(({ code, message, content }, index) => ({
      name: `${index + 1} ${code}`,
      value: content,
      type: 'refused message',
      children: () => [leaf('why', message), leaf('content', content)],
    })),
    ...(withheld === undefined ? [] : [leaf('stop taken back', withheld)]),
  ];
}

const whoIsNext: Readonly<Record<RolloutState['phase']['type'], string>> = {
  worldAwaited: 'the world is prepared',
  syncAwaited: 'both sides of the world are brought into step',
  userAwaited: 'the user speaks',
  agentAwaited: 'the agent responds',
  rulesAwaited: 'the rules are checked',
  remarksAwaited: 'what was said is held against the rules',
  callAwaited: 'the tool is called',
  resultAwaited: 'the tool returns',
  endAwaited: 'the rollout ends',
  verdictsAwaited: 'the verifiers decide',
  closed: 'nothing: it is over',
};

function rolloutVariables({ n, event, state }: Step): readonly Variable[] {
  const { started } = state;
  return [
    leaf('step', `${n} ${event.type}`),
    leaf('next', whoIsNext[state.phase.type]),
    leaf('turn', `${state.turn} of at most ${started.turnCap}`),
    leaf('task', started.task.id),
    leaf('agent', started.seats.agent),
    leaf('user', started.seats.user),
    leaf('seed', started.seed),
    leaf('trial', String(started.trial)),
    leaf('basis', started.basis),
    leaf('now', started.now),
    leaf('tool errors', `${state.toolErrors} of at most ${started.toolErrorCap}`),
    ...(started.parent
      ? [leaf('fork of', `${started.parent.recording}, step ${started.parent.event}: ${started.parent.edit}`)]
      : []),
    ...(state.ended ? [leaf('ended', state.ended.reason)] : []),
    ...state.verdicts.map((verdict) => leaf(verdict.verifier, `${verdictWord(verdict)}: ${verdict.detail}`)),
    ...(state.reward ? [leaf('reward', `${state.reward.value ?? 'none'}: ${state.reward.reason}`)] : []),
  ];
}

function messageVariable(message: Message, index: number, guardAt: GuardAt): Variable {
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
    return { name, expression, value: message.content ?? '', type, edit, ...children };
  }
  return {
    name,
    expression,
    value: calls,
    type,
    edit,
    children: () => [
      ...(message.content ? [leaf('said aloud', message.content)] : []),
      ...made.map(
        (call): Variable => ({
          name: call.name,
          value: JSON.stringify(call.arguments),
          type: 'call',
          ...(typeof call.arguments === 'string'
            ? {}
            : {
                children: () =>
                  jsonChildren(call.arguments as JsonObject, [], (path, value) => ({
                    type: 'arguments',
                    step: message.step,
                    callId: call.id,
                    path: path.map(String),
                    value,
                  })),
              }),
        }),
      ),
    ],
  };
}

/** Rows of a database by page; what changed in this step is marked. */
function databaseVariables(
  database: Database,
  side: Side,
  path: readonly (string | number)[],
  before: Database | undefined,
): readonly Variable[] {
  const { keys, total } = keysAt(database, path);
  if (total <= pageSize) return keys.map((key) => databaseVariable(database, side, [...path, key], before));
  return Array.from({ length: Math.ceil(total / pageSize) }, (_, page): Variable => {
    const mine = keys.slice(page * pageSize, (page + 1) * pageSize);
    return {
      name: `${mine[0]} … ${mine.at(-1)}`,
      value: `${mine.length} rows`,
      children: () => mine.map((key) => databaseVariable(database, side, [...path, key], before)),
    };
  });
}

function databaseVariable(
  database: Database,
  side: Side,
  path: readonly (string | number)[],
  before: Database | undefined,
): Variable {
  const value = getAt(database, path);
  const name = String(path.at(-1));
  const expression = expressionOf(side, path);
  if (typeof value === 'object' && value !== null) {
    return {
      name,
      expression,
      place: { side, path },
      value: shortened(value),
      children: () => databaseVariables(database, side, path, before),
    };
  }
  const old = before ? getAt(before, path) : value;
  const mark = old === value ? '' : `   (was ${JSON.stringify(old) ?? 'missing'})`;
  return {
    name,
    expression,
    place: { side, path },
    value: `${JSON.stringify(value)}${mark}`,
    type: typeof value,
    edit: (text) => edited(name, text, value, (to) => ({ type: 'database', side, path, value: to })),
  };
}

/** The path that a console, a watch or a hover reads a value by. */
function expressionOf(side: Side, path: Path): string {
  const keys = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return [side === 'user' ? 'user' : 'db', ...keys].join('');
}

function changed(before: Step, { state }: Step): readonly Variable[] {
  return (['agent', 'user'] as const).flatMap((side) =>
    diffDatabases(before.state.world[side], state.world[side]).map(({ path, before: old, after }) =>
      leaf(`${side === 'user' ? 'user: ' : ''}${path.join('.')}`, changeText(old, after)),
    ),
  );
}

/** Variables of any JSON value. */
export function jsonChildren(
  value: Json,
  path: readonly (string | number)[] = [],
  edit?: (path: readonly (string | number)[], value: Json) => Edit,
): readonly Variable[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, each]) => {
    const here = [...path, name];
    if (typeof each === 'object' && each !== null)
      return { name, value: shortened(each), children: () => jsonChildren(each, here, edit) };
    return {
      name,
      value: JSON.stringify(each),
      ...(edit ? { edit: (text: string) => edited(name, text, each, (to) => edit(here, to)) } : {}),
    };
  });
}

/** The edit to a typed value of the same kind as before, or a sentence that says which kind that is. */
function edited(name: string, text: string, was: Json | undefined, edit: (value: Json) => Edit): Edit | string {
  // The mark of a value that changed still stands behind it in the edit box.
  const bare = text.replace(/ {3}\(was .*\)$/, '');
  const value = typeof was === 'string' ? unquoted(bare) : parsed(bare);
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
  const value = parsed(text);
  return typeof value === 'string' ? value : text;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** What became of a value; undefined is one that is not there. */
export function changeText(before: Json | undefined, after: Json | undefined): string {
  if (before === undefined) return `added ${shortened(after)}`;
  if (after === undefined) return `removed ${shortened(before)}`;
  return `${shortened(before)} -> ${shortened(after)}`;
}

/** A value as one line of JSON that fits beside its name. */
export function shortened(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

function scope(name: string, children: () => readonly Variable[]): Scope {
  return { name, value: '', children };
}

function leaf(name: string, value: string): Variable {
  return { name, value };
}
