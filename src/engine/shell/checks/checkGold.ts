import { namesValue } from '../../core/dialogue/dialogue.ts';
import type { RuleOf } from '../../core/domain/rule.ts';
import type { GoldAction, Task } from '../../core/domain/task.ts';
import { externalSource, type Tool, worksOnDatabase } from '../../core/domain/tool.ts';
import { factsOf } from '../../core/events/facts.ts';
import { quotedNameIn, quotes } from '../../core/events/quotedResults.ts';
import { conditionHolds, parseExpression, pathsIn, scopeOf } from '../../core/expression/expression.ts';
import { before } from '../../core/rules/before.ts';
import type { MadeCall } from '../../core/rules/calls.ts';
import { binds, type Seen } from '../../core/rules/seen.ts';
import { isCorrected } from '../../core/seats/disagreement.ts';
import type { ValueSource } from '../../core/seats/knownValues.ts';
import { timeZoneOf } from '../../core/text/calendar.ts';
import { withoutSpace } from '../../core/text/text.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Fix } from '../files/diagnostic.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { isBetweenIds, isRowOrField, type Table, tableOf } from '../load/tables.ts';
import { namedLeavesIn, wordsIn, worldOf } from '../load/taskWorld.ts';
import { fixOf, replacing, yamlScalar } from '../source/edit.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { closeEnough, didYouMean, nearest } from '../source/nearest.ts';
import type { Bases, KnownTools, Note } from '../source/note.ts';
import { remembered } from '../source/source.ts';

type Context = {
  readonly placed: Placed<Task>;
  readonly parts: Parts;
  readonly world: Bases;
  readonly known: KnownTools;
  readonly note: Note;
  /** The gold actions as expressions see them. */
  readonly expected: readonly JsonObject[];
  readonly earlier: EarlierActions;
};

/** Collects what is known of the gold actions before one, because a task can have thousands. */
class EarlierActions {
  readonly calls: MadeCall[] = [];
  hasQuotes = false;
  /** Whether the databases may no longer be as they were at the start. */
  mayHaveWritten = false;
  /** Whether they read nothing but the engine's databases: what others answer is not known here. */
  isNear = true;
  readonly #named = new Set<string>();
  readonly #known: KnownTools;

  constructor(known: KnownTools) {
    this.#known = known;
  }

  add(action: GoldAction): void {
    const { tool, by, arguments: given } = action;
    const { tools, declared } = this.#known;
    const found = tools.get(tool);
    this.calls.push({ tool, by, args: given as JsonObject, result: null, failed: false, step: this.calls.length });
    this.hasQuotes ||= quotes(action);
    this.mayHaveWritten ||= declared.get(tool)?.effect !== 'read';
    this.isNear &&= declared.has(tool) && (!found || worksOnDatabase(found));
    for (const { name, leaf } of namedLeavesIn(given)) this.#named.add(`${name}\0${leaf}`);
  }

  /** Reports whether one of them has a value under the name of an argument. */
  has(name: string, value: string): boolean {
    return this.#named.has(`${name}\0${value}`);
  }
}

/** Checks a task's gold actions against the policy's checks, the database, and the facts that its user knows. */
export function checkGold(placed: Placed<Task>, parts: Parts, bases: Bases, known: KnownTools, note: Note): void {
  const { actions } = placed.value;
  if (actions.length === 0) return;
  const expected = actions.map(({ tool, arguments: args, by }) => ({ tool, args: args as JsonObject, by }));
  const earlier = new EarlierActions(known);
  const context: Context = { placed, parts, world: worldOf(bases, placed.value), known, note, expected, earlier };
  for (const [index, action] of actions.entries()) {
    if (action.by === 'agent' && known.names.has(action.tool)) checkAction(context, action, index);
    earlier.add(action);
  }
}

function checkAction(context: Context, action: GoldAction, index: number): void {
  const { earlier } = context;
  // What a result holds is known when it is there: the audit plays the actions.
  if (!earlier.hasQuotes && !quotes(action)) checkPolicy(context, action, index);
  checkRows(context, action, index);
  const untold = earlier.mayHaveWritten ? [] : checkUntold(context, action, index);
  checkFacts(context, action, index, untold);
}

/** Checks that can be decided before anything has run: an order of calls, a condition on the start of the task. */
function checkPolicy(context: Context, action: GoldAction, index: number): void {
  const { placed, parts, note } = context;
  for (const { value: rule } of parts.rules) {
    const reason =
      rule.check === 'before'
        ? unprepared(rule, context, action)
        : rule.check === 'onlyIf' || (rule.check === 'never' && rule.tools !== undefined)
          ? forbidden(rule, context, action)
          : null;
    if (reason === null) continue;
    const line = parts.policy.policy.rules.find(({ id }) => id === rule.rule)?.line;
    note(
      placeOf(placed, 'actions', index),
      'error',
      'task/gold-violates',
      `This gold action violates the rule ${rule.rule}${line === undefined ? '' : ` (line ${line} of the policy)`}: ${reason}.`,
      'Correct the actions or the check. Until then, an agent is wrong whether or not it does this.',
    );
  }
}

function unprepared(rule: RuleOf<'before'>, { known, earlier }: Context, action: GoldAction): string | null {
  if (rule.when !== undefined) return null;
  const seen = { domain: { tools: toolsOf(known) }, calls: () => earlier.calls } as unknown as Seen;
  const call = { id: '', name: action.tool, arguments: action.arguments as JsonObject };
  const [finding] = before(rule, { type: 'call', call, isFirst: true }, seen);
  return finding?.verdict === 'violated' ? finding.reason : null;
}

/** Conditions that read only what is there before the first write: arguments, databases, the time, the task. */
const readable = ['args', 'tool', 'db', 'user', 'now', 'timeZone', 'facts', 'expected'];

function forbidden(
  rule: RuleOf<'onlyIf'> | RuleOf<'never'>,
  { placed, parts, world, known, expected, earlier }: Context,
  action: GoldAction,
): string | null {
  const task = placed.value;
  if (!binds(rule.tools ?? [], action.tool, toolsOf(known)) || earlier.mayHaveWritten) return null;
  const condition = rule.check === 'onlyIf' ? rule.condition : undefined;
  if (![rule.when, condition].every((text) => text === undefined || isReadable(text, world))) return null;
  const facts = Object.entries(factsOf(task, true)).map(([name, { value }]) => [name, value]);
  const scope = scopeOf({
    args: action.arguments as JsonObject,
    tool: action.tool,
    db: world.agent,
    user: world.user,
    now: task.now ?? parts.file.value.now,
    timeZone: timeZoneOf(parts.file.value),
    facts: Object.fromEntries(facts) as JsonObject,
    expected,
  });
  if (rule.when !== undefined && conditionHolds(rule.when, scope) !== true) return null;
  if (condition === undefined) return `${action.tool} must never be called${rule.when ? `, where ${rule.when}` : ''}`;
  return conditionHolds(condition, scope) === false ? `this does not hold: ${condition}` : null;
}

function isReadable(text: string, { agent, user }: Bases): boolean {
  const parsed = parseExpression(text);
  if ('problem' in parsed) return false;
  return pathsIn(parsed.expression).every(({ name, keys: [table] }) => {
    const database = name === 'db' ? agent : name === 'user' ? user : null;
    return readable.includes(name) && (database === null || table === undefined || Object.hasOwn(database, table));
  });
}

/** Tools as the rules need them: by what is known of their effect, where they are not described yet. */
function toolsOf(known: KnownTools): readonly Tool[] {
  return remembered(ruleTools, known, () =>
    [...known.declared].map(
      ([name, { effect, generic, handsOff }]) =>
        known.tools.get(name) ?? ({ name, effect: effect ?? 'read', generic, handsOff } as unknown as Tool),
    ),
  );
}

const ruleTools = new WeakMap<KnownTools, readonly Tool[]>();

/** An argument that has the name of a fact has its value, unless the user names the other value too. */
function checkFacts(context: Context, action: GoldAction, index: number, untold: readonly string[]): void {
  const { placed, note } = context;
  const { user } = placed.value;
  const facts = [factsOf(placed.value, false), factsOf(placed.value, true)];
  const said = [user.goal, user.opening, user.change?.say, user.insist?.say];
  for (const [name, argument] of Object.entries(action.arguments)) {
    const value = String(argument);
    const known = [...new Set(facts.flatMap((each) => (each[name] ? [String(each[name].value)] : [])))];
    if (known.length === 0 || typeof argument === 'object' || quotedNameIn(argument) !== null || untold.includes(name))
      continue;
    const isTold = facts.some((each) => Object.values(each).some((fact) => isAlike(String(fact.value), value)));
    if (isTold) continue;
    const at = placeOf(placed, 'actions', index, 'arguments', name);
    const other = `other_${name}`;
    if (said.some((text) => text !== undefined && namesValue(text, value))) {
      if (!isRefused(context, action, name, value)) continue;
      note(
        at,
        'warning',
        'task/second-value',
        `The user asks for ${name} ${value}, too, but knows only ${name} ${known.join(', then ')}: the agenda user says no to a proposal of ${value}.`,
        `Add a fact for the second value to user.known, such as ${other}: ${yamlScalar(value)}.`,
        toldFix(placed, other, argument, true),
      );
      continue;
    }
    note(
      at,
      'warning',
      'task/other-fact',
      `${action.tool} gets ${name} ${value}, but the user knows ${name} ${known.join(', then ')}.`,
      `Correct one of them. For a second ${name}, name ${value} in the goal and add ${other}: ${yamlScalar(value)} to user.known.`,
      known.length === 1 ? replacing(at, value, known[0] as string) : undefined,
    );
  }
}

/** Whether the agenda user takes the value of a write for a wrong one of the fact of the same name. */
function isRefused({ placed, parts, known }: Context, { tool }: GoldAction, name: string, value: string): boolean {
  if (known.declared.get(tool)?.effect === 'read') return false;
  const task = placed.value;
  const domain = remembered(valueSources, parts, () => ({
    tasks: parts.tasks.map((each) => each.value),
    tools: [...known.tools.values()],
  }));
  const desk = { domain, task };
  return [false, true].every((isChanged) => isCorrected(value, name, desk, factsOf(task, isChanged)));
}

const valueSources = new WeakMap<Parts, ValueSource>();

const isAlike = (one: string, other: string) => withoutSpace(one).toLowerCase() === withoutSpace(other).toLowerCase();

/**
 * An argument that is named after a table, such as `order_id` after `orders`, names one of its rows. After a write, a
 * row may be new; an id between those of other rows is not one of a new row.
 */
function checkRows(context: Context, action: GoldAction, index: number): void {
  const { placed, note, earlier } = context;
  for (const { name, leaf: value, path } of namedLeavesIn(action.arguments)) {
    const table = tableWithout(context, action, name, value);
    if (table === null || quotedNameIn(value) !== null) continue;
    if (earlier.mayHaveWritten && !isBetweenIds(table, value)) continue;
    const at = placeOf(placed, 'actions', index, 'arguments', ...path);
    const rows = Object.keys(table.rows);
    const meant = /\d/.test(value) ? undefined : nearest(value, rows);
    note(
      at,
      'warning',
      'task/missing-row',
      `There is no ${value} in ${table.name} of the database, so ${action.tool} has nothing to work on.`,
      meant === undefined
        ? `It has ${rows.slice(0, 5).join(', ')}${rows.length > 5 ? ', ...' : ''}.`
        : `Did you mean "${meant}"?`,
      meant === undefined ? undefined : replacing(at, value, meant),
    );
  }
}

/** The table that should have a row for the value of an argument and has none; null where nothing is missing. */
function tableWithout(
  { world, known, earlier }: Context,
  action: GoldAction,
  name: string,
  value: string,
): Table | null {
  const tool = known.tools.get(action.tool);
  if (tool && externalSource(tool) !== null) return null;
  const table = tableOf(name, world);
  return !table || earlier.has(name, value) || isRowOrField(table, value) ? null : table;
}

/**
 * Notes the arguments whose values an agent cannot learn from the user's words, the policy or an earlier result. Returns
 * their names.
 */
function checkUntold(context: Context, action: GoldAction, index: number): readonly string[] {
  const { placed, parts, known, note, earlier } = context;
  const declared = known.declared.get(action.tool);
  const task = placed.value;
  // What the user says turn by turn is all that it knows.
  const isTurnByTurn = task.evaluate.includes('turns');
  if (!declared || declared.generic || declared.handsOff || isTurnByTurn || !earlier.isNear) return [];
  const untold: string[] = [];
  const said = [
    task.user.goal,
    task.user.opening,
    task.user.change?.say,
    task.user.insist?.say,
    parts.policy.policy.text,
  ];
  const changed = factsOf(task, true);
  const facts = [factsOf(task, false), changed].flatMap((each) => Object.values(each));
  for (const { leaf: value, path } of namedLeavesIn(action.arguments)) {
    const name = String(path[0]);
    if (!isNeeded(known.tools.get(action.tool), name, value)) continue;
    if (facts.some((fact) => String(fact.value) === value)) continue;
    // Speech is read whatever its spaces are, but what the user knows is written as tools take it.
    const isRespaced = facts.some((fact) => withoutSpace(String(fact.value)) === withoutSpace(value));
    if (!isRespaced && said.some((text) => text !== undefined && namesValue(text, value))) continue;
    if (index > 0 && isFound(context, value)) continue;
    // A value that is wrong is not for the user to know.
    if (tableWithout(context, action, name, value) !== null) continue;
    untold.push(name);
    const at = placeOf(placed, 'actions', index, 'arguments', name);
    const other = changed[name]?.value;
    note(
      at,
      'warning',
      'task/untold-argument',
      `${action.tool} needs ${name} ${value}, but the user does not know it and no earlier call returns it.`,
      didYouMean(
        value,
        /\d/.test(value)
          ? []
          : [...facts.map((fact) => String(fact.value)), ...wordsIn(context.world.agent)].filter(
              (each) => each !== value,
            ),
        other === undefined
          ? `Add ${name} to user.known, or an action that looks it up.`
          : `The user knows ${name} as ${other}. Correct one of the two, or add an action that looks it up.`,
        closeEnough(value),
      ),
      toldFix(placed, name, value, action.arguments[name] === value),
    );
  }
  return untold;
}

/**
 * Whether somebody has to tell an argument. No one tells one that may be left out, is one of a few words of its schema,
 * is a path in the folder of a server's rollout, or is a text that the agent writes itself.
 */
function isNeeded(tool: Tool | undefined, name: string, value: string): boolean {
  if (['', 'true', 'false'].includes(value) || value.split(/\s+/).length > 5) return false;
  if (value.startsWith('${instanceFolder}')) return false;
  if (!tool) return true;
  const { required, properties } = tool.parameters as {
    readonly required?: readonly string[];
    readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[] }>>;
  };
  return (required ?? []).includes(name) && properties?.[name]?.enum === undefined;
}

/** A row, a value of one, or a number, which may have been worked out. */
function isFound({ placed, world }: Context, value: string): boolean {
  const own = placed.value.state.flatMap((entry) => [...entry.path.map(String), JSON.stringify(entry.value)]);
  return (
    /^-?\d+(?:\.\d+)?$/.test(value) ||
    wordsIn(world.agent).has(value) ||
    wordsIn(world.user).has(value) ||
    own.some((text) => text.includes(value))
  );
}

function toldFix(
  placed: Placed<Task>,
  name: string,
  value: string | number | boolean,
  isPlain: boolean,
): Fix | undefined {
  const { known, unknown } = placed.value.user;
  if (!isPlain || Object.hasOwn(known, name) || unknown.includes(name)) return undefined;
  const entry = `${name}: ${yamlScalar(value)}`;
  const { path, places } = placed;
  const edit =
    places.insert([...path, 'user', 'known'], entry) ?? places.insert([...path, 'user'], `known: { ${entry} }`);
  return fixOf(`Let the user know ${name}`, edit);
}
