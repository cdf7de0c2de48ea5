import { type Database, diffDatabases, getAt, keysAt } from '../../engine/core/database.ts';
import type { Json, JsonObject } from '../../engine/core/json.ts';
import type { Message } from '../../engine/core/message.ts';
import type { Side } from '../../engine/core/tool.ts';
import type { DebugStep, Edit } from './debuggee.ts';

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
};

export type Scope = Variable & { readonly children: () => readonly Variable[]; readonly isExpensive?: boolean };

const pageSize = 100;

/** Everything there is to see at a step. `before` is the step before it, for what changed. */
export function scopesAt(step: DebugStep, before: DebugStep | undefined): readonly Scope[] {
  const { state } = step;
  const changes = before ? changed(before, step) : [];
  const user = keysAt(state.world.user, []).total;
  return [
    scope('Messages', () => state.messages.map(messageVariable)),
    scope('Database', () => databaseVariables(state.world.agent, 'agent', [], before?.state.world.agent)),
    ...(user > 0
      ? [scope("User's database", () => databaseVariables(state.world.user, 'user', [], before?.state.world.user))]
      : []),
    ...(changes.length > 0 ? [scope('Changed in this step', () => changes)] : []),
    scope('Rules', () =>
      state.ruleVerdicts.map(({ rule, verdict, reason, step: at, gate }) =>
        leaf(rule, `${verdict} at step ${at}${gate ? ' (gates the reward)' : ''}: ${reason}`),
      ),
    ),
    scope('Rollout', () => rolloutVariables(step)),
  ];
}

function rolloutVariables({ n, event, state }: DebugStep): readonly Variable[] {
  const { started } = state;
  return [
    leaf('step', `${n} ${event.type}`),
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
    ...state.verdicts.map(({ verifier, held, detail }) => leaf(verifier, `${held ? 'held' : 'failed'}: ${detail}`)),
    ...(state.reward ? [leaf('reward', `${state.reward.value ?? 'none'}: ${state.reward.reason}`)] : []),
  ];
}

function messageVariable(message: Message, index: number): Variable {
  const name = `${index + 1} ${message.role}`;
  const expression = `messages[${index}]`;
  if (message.role === 'tool')
    return {
      name,
      expression,
      value: `${message.name}: ${message.content}`,
      type: message.isError ? 'tool error' : 'tool result',
    };
  const edit = (text: string): Edit => ({ type: 'message', step: message.step, content: unquoted(text) });
  if (message.role === 'user') return { name, expression, value: message.content, type: 'user message', edit };
  const calls = message.toolCalls.map((call) => `${call.name}(${JSON.stringify(call.arguments)})`).join(', ');
  if (calls === '') return { name, expression, value: message.content ?? '', type: 'agent message', edit };
  return {
    name,
    expression,
    value: calls,
    type: 'agent message',
    edit,
    children: () => [
      ...(message.content ? [leaf('said aloud', message.content)] : []),
      ...message.toolCalls.map(
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
  const expression = `${side === 'user' ? 'user' : 'db'}${path.map((key) => (typeof key === 'number' ? `[${key}]` : /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`)).join('')}`;
  if (typeof value === 'object' && value !== null) {
    return {
      name,
      expression,
      value: shortened(value),
      children: () => databaseVariables(database, side, path, before),
    };
  }
  const old = before ? getAt(before, path) : value;
  const mark = old === value ? '' : `   (was ${JSON.stringify(old) ?? 'missing'})`;
  return {
    name,
    expression,
    value: `${JSON.stringify(value)}${mark}`,
    type: typeof value,
    edit: (text) => ({ type: 'database', side, path, value: parsed(text, value) }),
  };
}

function changed(before: DebugStep, { state }: DebugStep): readonly Variable[] {
  return (['agent', 'user'] as const).flatMap((side) =>
    diffDatabases(before.state.world[side], state.world[side]).map(({ path, before: old, after }) =>
      leaf(
        path.join('.'),
        old === undefined
          ? `added ${shortened(after)}`
          : after === undefined
            ? `removed ${shortened(old)}`
            : `${shortened(old)} -> ${shortened(after)}`,
      ),
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
      ...(edit ? { edit: (text: string) => edit(here, parsed(text, each)) } : {}),
    };
  });
}

/** A typed value: JSON where it is JSON, else the text; a bare number stays a text where a text was. */
function parsed(text: string, was: Json | undefined): Json {
  try {
    const value = JSON.parse(text) as Json;
    return typeof was === 'string' && typeof value !== 'string' ? text : value;
  } catch {
    return text;
  }
}

/** People type messages with or without quotes. */
function unquoted(text: string): string {
  const value = parsed(text, '');
  return typeof value === 'string' ? value : text;
}

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
