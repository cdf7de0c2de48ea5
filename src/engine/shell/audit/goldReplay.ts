import { type ComparedFields, comparedFields } from '../../core/domain/comparedFields.ts';
import type { DomainFile } from '../../core/domain/domain.ts';
import type { Rule, RuleVerdict } from '../../core/domain/rule.ts';
import type { GoldAction, Task } from '../../core/domain/task.ts';
import { rewardText } from '../../core/events/displayText.ts';
import { readsAsError } from '../../core/events/errorText.ts';
import type { RolloutEvent } from '../../core/events/event.ts';
import { fieldsOf, type ToolCall } from '../../core/events/message.ts';
import { filledActions } from '../../core/events/quotedResults.ts';
import { underPresentRules } from '../../core/rollout/regrade.ts';
import { isExpression } from '../../core/rules/confirmed.ts';
import { contentHash } from '../../core/values/hash.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { underSource } from '../../core/verifiers/assertions.ts';
import { renamingText } from '../../core/verifiers/database.ts';
import { type Comparable, comparable, differenceBetween, pairsOf } from '../../core/verifiers/volatile.ts';
import { isTried, noteUncovered } from '../checks/checkCoverage.ts';
import { quotable } from '../checks/checkTasks.ts';
import type { Location } from '../files/diagnostic.ts';
import type { RolloutClosed } from '../liveRollout.ts';
import type { LoadedDomain, Parts } from '../load/loadedDomain.ts';
import { quotingLeavesIn } from '../load/taskWorld.ts';
import { settingOf } from '../replay.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { type Note, notebook } from '../source/note.ts';
import { lastOf } from '../supervisedRollout.ts';
import type { WorkerEvent } from '../workers/workerMessage.ts';
import { busyNote, needsModel } from './stage.ts';

/** One task, played twice by the gold seat in their own workers. */
export type Replayed = {
  readonly placed: Placed<Task>;
  readonly first: RolloutClosed;
  readonly second: RolloutClosed;
};

/** A call with its result. */
export type Made = { readonly call: ToolCall; readonly content: string; readonly isError: boolean };

/** The calls of a rollout that have a result, in order. */
export function madeIn(arrived: readonly Pick<WorkerEvent, 'event'>[]): readonly Made[] {
  const calls = new Map<string, ToolCall>();
  return arrived.flatMap(({ event }): Made[] => {
    if (event.type === 'toolCalled') calls.set(event.call.id, event.call as ToolCall);
    if (event.type !== 'toolReturned') return [];
    const call = calls.get(event.callId);
    return call ? [{ call, content: event.content, isError: event.isError }] : [];
  });
}

/** Why a rollout says nothing of its task, and whether a model, as a judge or a simulated tool, would have told. */
export type Undecided = { readonly reason: string; readonly needsModel: boolean };

/** Returns null where the rollout says something, which a failed gold action also does. */
export function undecided({ reward, failure, arrived }: RolloutClosed): Undecided | null {
  if (reward !== null || failure?.who === 'environment' || isGoldFailed(arrived)) return null;
  if (failure?.code === needsModel) return { reason: 'a model answers for a simulated tool', needsModel: true };
  const why = lastOf(arrived, 'rewarded')?.reason.replace(/^not scored: /, '');
  return { reason: failure?.message ?? why ?? 'it was cancelled', needsModel: !failure && isLeftToJudge(arrived) };
}

/** Whether the expected database is unknown. */
const isGoldFailed = (arrived: readonly WorkerEvent[]): boolean =>
  arrived.some(
    ({ event }) => event.type === 'verdictReached' && event.verdict.verifier === 'database' && event.verdict.unknown,
  );

/** Whether everything that could not be evaluated is for a judge to tell. */
function isLeftToJudge(arrived: readonly WorkerEvent[]): boolean {
  const open = arrived.flatMap(({ event }): readonly string[] => {
    if (event.type === 'verdictReached') return event.verdict.unknown ? [event.verdict.verifier] : [];
    if (event.type !== 'rulesChecked') return [];
    return event.verdicts.flatMap(({ check, gate, verdict }) => (gate && verdict === 'unknown' ? [check] : []));
  });
  return open.length > 0 && open.every((each) => each === 'judge');
}

const checkOf = ({ rule, check }: RuleVerdict) => `${rule} ${check}`;

/** Returns the checks of rules that some gold rollout evaluated. */
export const evaluatedChecks = (replayed: readonly Replayed[]): ReadonlySet<string> =>
  new Set(verdictsIn(replayed).flatMap((each) => (each.verdict === 'unknown' ? [] : [checkOf(each)])));

/**
 * Notes a gold rollout without a reward that no model would give one: a value is missing or wrong. Says whether it is so.
 * A check that no gold rollout evaluated is reported at its rule.
 */
export function noteUnscored(
  replayed: Replayed,
  { reason, needsModel }: Undecided,
  evaluated: ReadonlySet<string>,
  note: Note,
): boolean {
  const { placed, first } = replayed;
  if (needsModel || first.failure || !lastOf(first.arrived, 'rewarded')) return false;
  const open = verdictsIn([replayed]).filter(({ gate, verdict }) => gate && verdict === 'unknown');
  if (open.some((each) => !evaluated.has(checkOf(each)))) return false;
  note(
    placeOf(placed, 'id'),
    'error',
    'task/gold-fails',
    `The gold rollout cannot be scored: ${reason}.`,
    'Correct the row, or the `when:` of the rule.',
  );
  return true;
}

/** Whether a gold action failed before the gold path broke a rule. */
export function failsFirst({ placed, first }: Replayed): boolean {
  const failed = failedAction(placed.value, madeIn(first.arrived));
  if (failed === null) return false;
  const violation = first.arrived.findIndex(
    ({ event }) =>
      event.type === 'rulesChecked' &&
      (event.verdicts as readonly RuleVerdict[]).some(({ verdict }) => verdict === 'violated'),
  );
  const failure = first.arrived.findIndex(
    ({ event }) => event.type === 'toolReturned' && event.isError && event.content === failed.content,
  );
  return violation < 0 || (failure >= 0 && failure < violation);
}

/**
 * Rules that the gold path breaks. Says whether there are any: its reward is then no second finding.
 * @param isKnown whether the same was found without running anything
 * @param isRepeated whether a violation of the rule needs no further finding
 */
export function noteViolations(
  { placed, first }: Replayed,
  parts: Parts,
  isKnown: (at: Location) => boolean,
  isRepeated: (rule: string) => boolean,
  note: Note,
): boolean {
  const made = madeIn(first.arrived);
  const actions = actionsIn(placed.value, made);
  const said = new Set<string>();
  for (const { event } of first.arrived) {
    if (event.type !== 'rulesChecked') continue;
    const call = made.find((each) => each.call.id === event.callId)?.call;
    for (const verdict of event.verdicts as readonly RuleVerdict[]) {
      if (verdict.verdict !== 'violated') continue;
      const index = call ? actions.findIndex((action) => isSame(action, call)) : -1;
      const at = index < 0 ? placeOf(placed, 'id') : placeOf(placed, 'actions', index);
      const key = `${verdict.rule} ${index}`;
      if (said.has(key)) continue;
      said.add(key);
      if (isKnown(at) || isRepeated(verdict.rule)) continue;
      note(
        at,
        'error',
        'task/gold-violates',
        `${index < 0 ? 'The gold rollout' : 'This gold action'} violates the rule ${verdict.rule}: ${verdict.reason}.`,
        adviceOn(verdict, call?.name, parts),
      );
    }
  }
  return said.size > 0;
}

/** Returns what to do about a violation: what the gold seat did not say, it says with a sentence of the lexicon. */
function adviceOn({ rule, check, reason }: RuleVerdict, tool: string | undefined, { rules, file }: Parts): string {
  if (/\bsaid\b/.test(reason))
    return 'Let the gold seat say it, with `propose` or `tell` for the tool under `lexicon` in domain.yaml, or correct the check.';
  const names = rules.flatMap(({ value }) => (value.rule === rule && value.check === 'confirmed' ? value.names : []));
  const [, unnamed = ''] = /^the proposal did not name (.+) with the value in the call: /.exec(reason) ?? [];
  const isMissing = (name: string) =>
    `, ${unnamed}, `.includes(`, ${name}, `) || reason.startsWith(`the proposal named ${name} `);
  const missing = check === 'confirmed' ? [...new Set(names)].filter(isMissing).map(slotOf) : [];
  if (tool !== undefined && missing.length > 0) {
    const has = (file.value.lexicon.tools[tool]?.propose ?? []).length > 0;
    return `${has ? 'Correct' : 'Add'} lexicon.tools.${tool}.propose in domain.yaml: a sentence that says ${missing.join(' and ')} and asks for a yes. Otherwise correct names: of the check.`;
  }
  return 'Correct the actions or the check. Until then, an agent is wrong whether or not it does this.';
}

/** Returns the slot of a sentence that says what a check wants named: `{slot_id.day}` for the field of a row. */
function slotOf(name: string): string {
  const [, argument, field] = /^db\.\w+\[args\.(\w+)\]\.(\w+)$/.exec(name) ?? [];
  return argument !== undefined ? `{${argument}.${field}}` : isExpression(name) ? name : `{${name}}`;
}

type FailureContext = {
  readonly isDraft: boolean;
  /** Whether another finding says why the gold path of the task fails. */
  readonly isExplained: boolean;
  readonly logged: readonly string[];
};

/**
 * Returns what goes wrong when the gold actions are done, or is different the second time. Says whether anything is. In
 * a draft, a result that reads as the message of an error is one. What another finding explains is left out, except an
 * action that fails.
 */
export function noteFailures(
  { placed, first, second }: Replayed,
  domain: DomainFile,
  { isDraft, isExplained, logged }: FailureContext,
  note: Note,
): boolean {
  const made = madeIn(first.arrived);
  const read = isDraft ? made.map((each) => ({ ...each, isError: each.isError || readsAsError(each.content) })) : made;
  const failed = noteFailedAction(placed, read, logged, note);
  const difference = firstDifference(first, second, comparedFields(domain));
  if (failed) return true;
  if (first.reward !== 1) {
    if (isExplained) return true;
    const reason = first.failure?.message ?? lastOf(first.arrived, 'rewarded')?.reason ?? first.endReason;
    const message = `The gold seat, which performs the gold actions according to the policy, gets ${rewardText(first.reward)}: ${reason}.${busyNote(first.failure)}`;
    const hint = 'Debug the task with the seat gold to see why.';
    note(placeOf(placed, 'id'), 'error', 'task/gold-fails', message, hint);
  } else if (difference !== null) {
    const { n, ids, what } = difference;
    const event = (first.arrived[n] ?? second.arrived[n])?.event;
    const message = `Played twice with the same seed, the gold rollout differs from step ${n} on (${event?.type ?? 'the end'})${what}${ids}.`;
    const shared = Object.keys(domain.mcpServers).find((name) => domain.mcpServers[name]?.sharedState);
    const hint =
      shared === undefined
        ? 'Look for a clock or random numbers in the code of your tools and verifiers. For an MCP server, list under volatile: the field that differs, the list if only the order of its rows differs, or the tool if its whole result differs.'
        : `An earlier rollout may have changed the state of ${shared}, which rollouts share: reset it with setUp.${shared}.calls of the task. List what still differs under volatile: of the server.`;
    note(placeOf(placed, 'id'), 'error', 'task/gold-differs', message, hint);
  }
  return first.reward !== 1 || difference !== null;
}

/** Notes what gold actions quote and no result before them has: the tool gets the quote itself. Says whether there is any. */
export function noteUnfilled(placed: Placed<Task>, made: readonly Made[], note: Note): boolean {
  const results = new Set(made.map(({ content }) => content));
  const isText = ![...results].some((content) => Object.keys(fieldsOf(content)).length > 0);
  const unfilled = actionsIn(placed.value, made).flatMap((action, index) =>
    made.some(({ call }) => isSame(action, call))
      ? quotingLeavesIn(action.arguments).map(({ leaf, path }) => ({
          leaf,
          at: ['actions', index, 'arguments', ...path],
        }))
      : [],
  );
  for (const { leaf, at } of unfilled) {
    const message = `${leaf} is passed on as this text: ${isText ? 'all results before it are texts' : 'no result before it has this field'}.`;
    note(placeOf(placed, ...at), 'error', 'task/unknown-name', message, quotable);
  }
  return unfilled.length > 0;
}

/** Notes the first gold action that fails. Says whether there is one. */
function noteFailedAction(placed: Placed<Task>, made: readonly Made[], logged: readonly string[], note: Note): boolean {
  const failed = failedAction(placed.value, made);
  if (failed === null) return false;
  const { at, tool, content } = failed;
  const reason = content.replace(/^Error: /, '');
  const crash = placeOfCrash(tool, reason, logged);
  const message = `The gold action ${tool} ${crash === null ? 'fails' : 'crashes'}: ${reason}${crash ?? ''}.`;
  const isOfData = /\b(?:undefined|null|None)\b/.test(reason);
  const hint =
    crash === null
      ? 'Correct its arguments, the database or the tool.'
      : `Correct the tool${isOfData ? ', or the data that it reads' : ''}.`;
  note(placeOf(placed, 'actions', at), 'error', 'task/gold-fails', message, hint);
  return true;
}

/** Returns the finding about the gold action that fails first in a recording of the gold seat, or that quotes nothing. */
export function failedGoldAction({ parts }: LoadedDomain, task: string, events: readonly RolloutEvent[]) {
  const placed = parts.tasks.find(({ value }) => value.id === task);
  if (!placed) return null;
  const made = madeIn(events.map((event) => ({ event })));
  const { found, note } = notebook();
  if (!noteUnfilled(placed, made, note)) noteFailedAction(placed, made, [], note);
  return found[0] ?? null;
}

/** Whether gold actions call a wrong tool, which explains everything except that an action of another tool fails. */
export function callsWrongTool(
  { placed, first }: Replayed,
  wrong: ReadonlySet<string>,
  logged: readonly string[],
  note: Note,
): boolean {
  // A call of a tool that does not return has no result.
  if (!first.arrived.some(({ event }) => event.type === 'toolCalled' && wrong.has(event.call.name))) return false;
  const made = madeIn(first.arrived);
  const failed = failedAction(placed.value, made);
  if (failed !== null && !wrong.has(failed.tool)) noteFailedAction(placed, made, logged, note);
  return true;
}

/** Returns where a tool threw an error that is not a `ToolError`, such as ` (tools.ts:12:5)`; null where it refused. */
function placeOfCrash(tool: string, reason: string, logged: readonly string[]): string | null {
  const line = `${tool}: ${reason}`;
  // What a tool in Python prints comes after the name of its file.
  const own = logged.find((each) => each.startsWith(line) || each.includes(`: ${line}`));
  return own === undefined ? null : own.slice(own.indexOf(line) + line.length);
}

/** The first gold action that was tried and never succeeded. */
function failedAction(task: Task, made: readonly Made[]) {
  for (const [at, action] of actionsIn(task, made).entries()) {
    const tries = made.filter(({ call }) => isSame(action, call));
    const last = tries.at(-1);
    if (last?.isError && tries.every(({ isError }) => isError)) return { at, tool: action.tool, content: last.content };
  }
  return null;
}

/**
 * Returns where the second rollout is another one, up to ids that tools created and volatile fields; which field, and
 * what is which id.
 */
function firstDifference(
  first: RolloutClosed,
  second: RolloutClosed,
  { volatile, compare }: ComparedFields,
): { readonly n: number; readonly ids: string; readonly what: string } | null {
  const isSame = first.arrived.length === second.arrived.length;
  if (isSame && first.arrived.every(({ text }, n) => text === second.arrived[n]?.text)) return null;
  const [one, other] = [first, second].map(({ arrived }) =>
    comparable(comparedEvents(arrived, volatile), volatile, compare),
  ) as [Comparable, Comparable];
  const length = Math.max(one.texts.length, other.texts.length);
  for (let n = 0; n < length; n++) {
    const [before, after] = [one.texts[n], other.texts[n]];
    if (before === after) continue;
    const what = before === undefined || after === undefined ? null : differenceBetween(before, after, compare);
    if (before !== undefined && after !== undefined && what === null) continue;
    return { n, ids: renamingText(pairsOf(one, other)), what: what === null ? '' : `: ${what}` };
  }
  return null;
}

/** Returns the events without the results of tools that are volatile as a whole, and with states under their source. */
function comparedEvents(arrived: readonly WorkerEvent[], volatile: readonly string[]): readonly Json[] {
  const ids = new Set(madeIn(arrived).flatMap(({ call }) => (volatile.includes(call.name) ? [call.id] : [])));
  const compared = arrived.map(({ event }) => {
    if (event.type === 'sourceRead') return { type: event.type, ...underSource(event.source, event.state as Json) };
    return event.type === 'toolReturned' && ids.has(event.callId) ? { ...event, content: '' } : event;
  });
  return compared as unknown as readonly Json[];
}

/** Returns what the rules said in the gold rollouts. */
const verdictsIn = (replayed: readonly Replayed[]) =>
  replayed.flatMap(({ first }) => ruleVerdictsIn(first.arrived.map(({ event }) => event)));

const ruleVerdictsIn = (events: readonly WorkerEvent['event'][]) =>
  events.flatMap((event) => (event.type === 'rulesChecked' ? (event.verdicts as readonly RuleVerdict[]) : []));

/** Returns the verdicts of one of several checks of a rule: the recorded verdicts do not show which check they are of. */
function verdictsAlone(rule: Rule, loaded: LoadedDomain, replayed: readonly Replayed[]): readonly RuleVerdict[] {
  const setting = settingOf({ ...loaded, domain: { ...loaded.domain, rules: [rule] } });
  return replayed.flatMap(({ first: { events } }) => {
    const [started] = events;
    return started?.type === 'rolloutStarted' ? ruleVerdictsIn(underPresentRules(setting, started, events)) : [];
  });
}

/**
 * Rules that were never evaluated: nothing shows that they can hold or be violated. Of those without a gate, only the ones
 * that a gold rollout tried.
 * @param isWhole whether every gold rollout says something, so that a rule without a verdict was not tried
 */
export function noteNeverEvaluated(
  loaded: LoadedDomain,
  replayed: readonly Replayed[],
  isWhole: boolean,
  note: Note,
): void {
  const { parts } = loaded;
  const verdicts = verdictsIn(replayed);
  const called = new Set(replayed.flatMap(({ first }) => madeIn(first.arrived).map(({ call }) => call.name)));
  for (const placed of parts.rules) {
    const { rule, check, gate } = placed.value;
    const isOwn = (each: Pick<Rule, 'rule' | 'check'>) => each.rule === rule && each.check === check;
    const isReached = isTried(placed.value, called, parts.scan);
    const isOnly = parts.rules.filter(({ value }) => isOwn(value)).length === 1;
    const own = isReached ? (isOnly ? verdicts.filter(isOwn) : verdictsAlone(placed.value, loaded, replayed)) : [];
    const [open] = own;
    const isKnown = check === 'judge' || own.some(({ verdict }) => verdict !== 'unknown');
    if (isKnown || !(open || (gate && isWhole))) continue;
    const reason = open?.reason ?? 'no gold actions reach what it checks';
    const message = `The ${gate ? 'gated rule' : 'rule'} ${rule} was not evaluated in any gold rollout: ${reason}.`;
    const hint = open
      ? 'Correct its condition.'
      : 'Write a task whose gold actions make the call that the rule is about. A task in which the call must be refused does not reach the rule.';
    note(placeOf(placed, 'rule'), gate ? 'error' : 'warning', 'rule/never-evaluated', message, hint);
  }
}

/** Rules with checks of which no gold rollout says anything, although one was played for every task. */
export function noteUntried(parts: Parts, replayed: readonly Replayed[], known: ReadonlySet<string>, note: Note): void {
  const verdicts = verdictsIn(replayed);
  for (const { id } of parts.policy.policy.rules) {
    const checks = parts.rules.filter(({ value }) => value.rule === id);
    if (checks.length === 0 || checks.some(({ value }) => value.check === 'judge' || value.gate)) continue;
    if (verdicts.some(({ rule }) => rule === id) || known.has(id)) continue;
    noteUncovered(parts, id, 'its checks had nothing to check in any gold rollout', note);
  }
}

const actionsIn = ({ actions }: Task, made: readonly Made[]) =>
  filledActions(actions, () =>
    made.flatMap(({ call, content, isError }) =>
      isError ? [] : [{ tool: call.name, arguments: call.arguments, content }],
    ),
  );

function isSame({ tool, arguments: args }: GoldAction, { name, arguments: given }: ToolCall): boolean {
  return tool === name && typeof given !== 'string' && contentHash(given) === contentHash(args as JsonObject);
}
