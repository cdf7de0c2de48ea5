import { namesValue } from '../dialogue/dialogue.ts';
import type { Domain } from '../domain/domain.ts';
import { factOf, type GoldAction, type Task } from '../domain/task.ts';
import { isWrite } from '../domain/tool.ts';
import { type Facts, factsBehind } from '../events/facts.ts';
import { weekdayIn } from '../text/calendar.ts';
import { clockTimesIn, isClockTime } from '../text/clockTime.ts';
import { wordsOf } from '../text/text.ts';
import { isObject } from '../values/json.ts';
import { type Database, readView } from '../world/database.ts';
import { kindsOf, namedOf, type ValueSource } from './knownValues.ts';
import type { SeatView } from './seat.ts';

/** Why a user can't say yes to a proposal. */
export type Disagreement = { readonly type: 'wrongValue'; readonly fact: string } | { readonly type: 'wrongAction' };

type Desk = Pick<SeatView, 'domain' | 'database' | 'task'>;
type ValueDesk = Omit<Desk, 'domain'> & { readonly domain: ValueSource };

/**
 * Returns what in a proposal contradicts the user's requests: another value where the user has said or knows one, or an
 * action that was not asked for. A proposal that names less than it should contradicts nothing. `insisted` is what the
 * user insists on against the policy; the values in it are requests too.
 */
export function disagreementWith(proposal: string, desk: Desk, facts: Facts, insisted: string): Disagreement | null {
  const { domain, task } = desk;
  const said = wordsOf(proposal);
  const spared = `${insisted} ${valuesOf(facts)}`;
  const wrong = Object.keys(facts).find((name) => hasOtherValue(name, proposal, said, desk, facts, spared));
  if (wrong !== undefined) return { type: 'wrongValue', fact: wrong };
  return insisted === '' && isOtherAction(proposal, said, domain, task, facts) ? { type: 'wrongAction' } : null;
}

const valuesOf = (facts: Facts) =>
  Object.values(facts)
    .map(({ value }) => value)
    .join(' , ');

/** Whether the user corrects a value that a proposal has for a fact, although the user knows another. */
export function isCorrected(value: string, fact: string, desk: ValueDesk, facts: Facts): boolean {
  return hasOtherValue(fact, value, wordsOf(value), desk, facts, valuesOf(facts));
}

/** Returns the fact of which a proposal names the value that the user had before its change of mind, and not the new one. */
export function withdrawnIn(proposal: string, { user }: Task, facts: Facts): string | undefined {
  const isNamed = (form: string) => namesValue(proposal, form);
  const current = Object.values(facts).flatMap(formsOf).join(' , ');
  return Object.keys(user.change?.known ?? {}).find((name) => {
    const [before, after] = [user.known[name], facts[name]];
    if (before === undefined || after === undefined || formsOf(after).some(isNamed)) return false;
    const former = formsOf(factOf(before)).filter((form) => isTelling(form) && !namesValue(current, form));
    return former.some(isNamed);
  });
}

/** Returns the texts by which a fact is named: its value, the user's words for it, and the weekday of a date. */
function formsOf({ value, say }: Facts[string]): readonly string[] {
  return [...new Set([String(value), say, weekdayIn(String(value)) ?? say])];
}

/** One digit or letter says too little: "at 2" does not name two people. */
const isTelling = (form: string) => /[\p{L}\d]{2}/u.test(form) && form !== 'true' && form !== 'false';

function hasOtherValue(
  name: string,
  proposal: string,
  said: readonly string[],
  { domain, database, task }: ValueDesk,
  facts: Facts,
  spared: string,
): boolean {
  const value = String(facts[name]?.value);
  if (namesValue(proposal, value) || namesValue(proposal, facts[name]?.say ?? value)) return false;
  const code = /^#?([a-z]{1,4})-?\d+$/i.exec(value);
  if (code)
    return (
      others(proposal, new RegExp(`#?\\b${code[1]}-?\\d+\\b`, 'gi'), spared) ||
      // After a change of another request, what was done last may be about another code.
      hasOtherCode(value, proposal, `${spared} ${JSON.stringify(task.actions)}`, database)
    );
  if (isClockTime(value)) return clockTimesIn(proposal).some((time) => !clockTimesIn(spared).includes(time));
  if (value.includes('@')) return others(proposal, /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, spared);
  const words = wordsOf(value);
  const shared = words.filter((word) => said.includes(word)).length / words.length;
  if (words.length >= 3 && /\d/.test(value) && shared >= 0.5) return true;
  const own = `${spared} ${task.user.goal} ${task.user.opening ?? ''}`;
  return kindsOf(domain, database, name, value).some(({ values, from }) =>
    namedOf(values, said).some((each) => !namesValue(from === 'tasks' ? spared : own, each)),
  );
}

/** Reports whether a proposal has a code of the same form: A1 in place of C7, but not the id of something else. */
function hasOtherCode(value: string, proposal: string, spared: string, database: Database | undefined): boolean {
  const shape = value.replace(/[a-z]/gi, '[a-z]').replace(/\d+/, (digits) => `\\d{${digits.length}}`);
  const tables = database ? Object.values(readView(database)).filter(isObject) : [];
  const isOther = (found: string) => tables.some((rows) => Object.hasOwn(rows, found) && !Object.hasOwn(rows, value));
  return [...proposal.matchAll(new RegExp(`#?\\b${shape.replace('#', '')}\\b`, 'gi'))].some(
    ([found]) => !isOther(found) && !isOther(found.toUpperCase()) && !namesValue(spared, found),
  );
}

function others(proposal: string, shape: RegExp, spared: string): boolean {
  return [...proposal.matchAll(shape)].some(([found]) => !namesValue(spared, found));
}

/** Whether the proposal names a tool that the request does not need, and leaves out what the request is about. */
function isOtherAction(proposal: string, said: readonly string[], domain: Domain, task: Task, facts: Facts): boolean {
  const writes = writesOf(domain, task);
  if (writes.length === 0) return false;
  const meant = toolMeant(said, domain);
  if (meant === null || writes.some(({ tool }) => tool === meant)) return false;
  return writes.some((write) =>
    factsBehind(facts, write).some((fact) => !namesValue(proposal, String(facts[fact]?.value))),
  );
}

/** The write calls that the agent has to make for this user. */
export function writesOf(domain: Domain, task: Task): readonly GoldAction[] {
  return task.actions.filter(
    ({ tool, by }) => by === 'agent' && domain.tools.some((each) => each.name === tool && isWrite(each)),
  );
}

const common = new Set(
  'shall i you the to in on is it that this with for from and of a an can do will be your want would like me should order item done right not go ahead reason'.split(
    ' ',
  ),
);

/** The write tool whose words the text uses most, or null when no tool is used most. */
function toolMeant(said: readonly string[], domain: Domain): string | null {
  const ranked = wordedTools(domain)
    .map(({ name, words }) => ({ name, hits: said.filter((word) => words.has(word)).length }))
    .sort((one, other) => other.hits - one.hits);
  const [first, second] = ranked;
  return first && first.hits > (second?.hits ?? 0) ? first.name : null;
}

type WordedTool = { readonly name: string; readonly words: ReadonlySet<string> };
const worded = new WeakMap<Domain, readonly WordedTool[]>();

/** The agent's write tools, each with the words that tell it from others. */
function wordedTools(domain: Domain): readonly WordedTool[] {
  const known = worded.get(domain);
  if (known) return known;
  const made = domain.tools
    .filter((tool) => isWrite(tool) && tool.owner === 'agent')
    .map(({ name }) => {
      const template = (domain.lexicon.tools[name]?.propose ?? []).join(' ').replace(/\{\w+\}/g, ' ');
      return { name, words: new Set([...wordsOf(name), ...wordsOf(template)].filter((word) => !common.has(word))) };
    });
  worded.set(domain, made);
  return made;
}
