import type { Offered } from '../../engine/core/domain/tool.ts';
import { functionNames, signatures } from '../../engine/core/expression/signature.ts';
import { isObject, type Json, type JsonObject, objectOf } from '../../engine/core/values/json.ts';
import { getAt, keysAt } from '../../engine/core/world/database.ts';
import { toolsOf } from '../../engine/shell/models/typedTurn.ts';
import { sentRequests } from '../../engine/shell/records/sentRequests.ts';
import type { Step } from '../../engine/shell/rollout/ports.ts';
import { commands } from './console.ts';
import type { Debuggee } from './rollout/debuggee.ts';
import { evaluate, roots } from './variables/expression.ts';

/** A completion in the Debug Console. It replaces `length` characters from `start`, which counts from 0. */
export type Completion = {
  readonly label: string;
  readonly text?: string;
  readonly detail?: string;
  readonly type: 'property' | 'function' | 'keyword' | 'value' | 'snippet' | 'module';
  readonly start: number;
  readonly length: number;
};

type Choice = Omit<Completion, 'start' | 'length'>;

const most = 200;

/**
 * Returns what fits behind what was typed into the Debug Console: keys below a path, names that a path begins with,
 * functions; commands and what follows them.
 * @param step the one that is looked at
 */
export function completionsOf(
  typed: string,
  step: Step | undefined,
  debuggee?: Pick<Debuggee, 'steps' | 'recording'>,
): readonly Completion[] {
  if (!typed.startsWith('/')) return expressionCompletions(typed, step);
  const [, command, rest] = /^(\/\S+)\s+(.*)$/s.exec(typed) ?? [];
  if (command === undefined || rest === undefined)
    return placed(
      typed,
      typed,
      commands.map((label) => ({ label, type: 'keyword' })),
    );
  switch (command) {
    case '/call':
      return step ? callCompletions(typed, rest, toolsAt(step)) : [];
    case '/take':
      return placed(
        typed,
        rest,
        ['user', 'agent'].map((label) => ({ label, type: 'value' })),
      );
    case '/turn':
      return placed(typed, rest, turnsOf(debuggee?.steps ?? []));
    case '/request': {
      const requests = debuggee ? sentRequests(debuggee.recording) : [];
      return placed(
        typed,
        rest,
        requests.map(({ name, step: n }) => ({ label: name, type: 'value', detail: `step ${n}` })),
      );
    }
    default:
      return [];
  }
}

function turnsOf(steps: readonly Step[]): readonly Choice[] {
  return steps.flatMap(({ n, event, state }) =>
    event.type === 'agentReplied' ? [{ label: String(state.turn), type: 'value' as const, detail: `step ${n}` }] : [],
  );
}

/** Returns the tools of the seat that is next, or the agent's if no seat is next. */
function toolsAt({ state }: Step): readonly Offered[] {
  return toolsOf(state.phase.type === 'userAwaited' ? 'user' : 'agent', state);
}

function callCompletions(typed: string, rest: string, tools: readonly Offered[]): readonly Completion[] {
  const [, name = '', given] = /^(\S*)(?:\s+(.*))?$/s.exec(rest) ?? [];
  if (given === undefined)
    return placed(
      typed,
      name,
      tools.map((tool) => ({ label: tool.name, type: 'function', detail: tool.description })),
    );
  const tool = tools.find((each) => each.name === name);
  const properties = Object.entries(objectOf(tool?.parameters['properties']));
  if (given === '') return placed(typed, '', [{ label: skeleton(tool, properties), type: 'snippet' }]);
  const value = /"(\w+)"\s*:\s*("?[^",{}]*)$/.exec(given);
  if (value)
    return placed(typed, value[2] ?? '', valuesOf(objectOf(objectOf(tool?.parameters['properties'])[value[1] ?? ''])));
  const key = /[{,]\s*("?\w*)$/.exec(given);
  if (!key) return [];
  const isFree = ([each]: readonly [string, unknown]) => !given.includes(`"${each}":`);
  const choices = properties.filter(isFree).map(([label, schema]): Choice => {
    const { description } = objectOf(schema);
    return {
      label,
      text: `"${label}": `,
      type: 'property',
      ...(typeof description === 'string' ? { detail: description } : {}),
    };
  });
  return placed(typed, key[1] ?? '', choices);
}

/** The arguments that a tool must have, to be filled in. */
function skeleton(tool: Offered | undefined, properties: readonly (readonly [string, Json])[]): string {
  const required = tool?.parameters['required'];
  const names = properties.filter(([name]) => Array.isArray(required) && required.includes(name));
  return `{${names.map(([name, schema]) => `"${name}": ${objectOf(schema)['type'] === 'string' ? '""' : 'null'}`).join(', ')}}`;
}

function valuesOf(schema: JsonObject): readonly Choice[] {
  const values = Array.isArray(schema['enum']) ? schema['enum'] : schema['type'] === 'boolean' ? [true, false] : [];
  return values.map((value) => ({ label: JSON.stringify(value), type: 'value' }));
}

function expressionCompletions(typed: string, step: Step | undefined): readonly Completion[] {
  const path = /((?:[A-Za-z_$][\w$]*)(?:\.[\w$]+|\[[^\][]*\])*)(?:\.([\w$]*)|\["([^"\]]*))$/s.exec(typed);
  if (path) {
    const [, parent = '', member, quoted] = path;
    const found = step ? evaluate(parent, step) : '';
    const keys = typeof found === 'string' ? [] : keysOf(found.value);
    const fitting = keys.filter((key) => key.startsWith(member ?? quoted ?? ''));
    const isName = (key: string) => member !== undefined && /^[A-Za-z_$][\w$]*$/.test(key);
    // A key that is not a name is in brackets, in the place of the point before it.
    const behind = member === undefined ? `["${quoted ?? ''}` : `.${member}`;
    const bracketed = fitting
      .filter((key) => !isName(key))
      .map((label): Choice => ({ label, text: `[${JSON.stringify(label)}]`, type: 'property' }));
    const names = fitting.filter(isName).map((label): Choice => ({ label, type: 'property' }));
    return [...placed(typed, member ?? '', names), ...placed(typed, behind, bracketed, () => true)].slice(0, most);
  }
  const last = /[\w$]*$/.exec(typed)?.[0] ?? '';
  const tables = step ? keysAt(step.state.world.agent, []).keys.map(String) : [];
  return placed(typed, last, [
    ...roots.map((label): Choice => ({ label, type: 'module' })),
    ...tables.map((label): Choice => ({ label, type: 'property', detail: kindOf(step, label) })),
    ...functionNames.map(
      (label): Choice => ({ label, text: `${label}(`, type: 'function', detail: signatures[label].usage }),
    ),
  ]);
}

function keysOf(value: Json): readonly string[] {
  return isObject(value) ? Object.keys(value) : [];
}

function kindOf(step: Step | undefined, table: string): string {
  const value = step && getAt(step.state.world.agent, [table]);
  return Array.isArray(value) ? 'a list of the database' : 'a table of the database';
}

/** The choices that fit what is at the end, in its place. */
function placed(
  typed: string,
  last: string,
  choices: readonly Choice[],
  fits = ({ label, text = label }: Choice) => [label, text].some((each) => each.startsWith(last)),
): readonly Completion[] {
  const at = { start: typed.length - last.length, length: last.length };
  return choices
    .filter(fits)
    .slice(0, most)
    .map((choice) => ({ ...choice, ...at }));
}
