import type { World } from '../domain/domain.ts';
import type { Task } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import { callsIn, isUnreadable, type Message } from '../events/message.ts';
import type { RolloutState } from '../events/state.ts';
import { shownValue } from '../text/value.ts';
import { type Json, showPath } from '../values/json.ts';
import { diffDatabases, getAt } from '../world/database.ts';
import { sameValue } from './pythonEquality.ts';

/** The result of a gold action, played on its own instance. */
export type GoldStep = { readonly turn: number; readonly content: string; readonly world: World };

/** The agent's response to one message of the user. */
type Turn = {
  readonly step: number;
  /** The world when the next message came, or at the end. */
  readonly world: World;
  readonly calls: number;
  /** The results of all calls up to the end of this turn. */
  readonly results: readonly string[];
};

/**
 * Whether every message of the user was answered as the gold actions answer it (after the multi-turn checker of BFCL).
 * At the end of each turn the public state is that of the gold actions, and what those returned in this turn is among
 * what the agent's calls returned so far. A turn without gold actions is not looked at.
 */
export function turnsVerdict(task: Task, state: RolloutState, gold: readonly GoldStep[]): Verdict {
  const expected = task.user.script?.length ?? 0;
  const turns = turnsOf(state);
  const problems = turns.flatMap((turn, at) => {
    const problem = problemOf(turn, at, gold);
    return problem === null ? [] : [{ step: turn.step, text: `turn ${at}: ${problem}` }];
  });
  const isWhole = turns.length === expected;
  const missing = isWhole ? [] : [`the conversation has ${turns.length} of the user's ${expected} messages`];
  const said = [...missing, ...problems.map(({ text }) => text)];
  return {
    verifier: 'turns',
    held: said.length === 0,
    detail: said.length === 0 ? `${expected} turns came out as the gold actions do` : said.join('; '),
    evidence: problems.map(({ step }) => step),
    met: Math.max(0, Math.min(turns.length, expected) - problems.length),
    of: expected,
  };
}

function turnsOf({ heard, messages, world, next, started }: RolloutState): readonly Turn[] {
  return heard.map(({ step }, at) => {
    const end = heard[at + 1]?.step ?? next;
    const made = messages.filter((message) => message.role === 'agent' && message.step > step && message.step < end);
    // What is not a call at all was never made: its arguments can't be read.
    const isRead = (message: Message) => !isUnreadable(message, started.callSyntax);
    const read = started.unreadableCalls === 'endTurn' ? made.filter(isRead) : made;
    const calls = read.flatMap(callsIn).filter((call) => typeof call.arguments !== 'string').length;
    const results = messages.flatMap((message) =>
      message.role === 'tool' && message.by === undefined && message.step < end ? [message.content] : [],
    );
    return { step, world: heard[at + 1]?.world ?? world, calls, results };
  });
}

function problemOf(turn: Turn, at: number, gold: readonly GoldStep[]): string | null {
  const own = gold.filter((each) => each.turn === at);
  const last = own.at(-1);
  if (!last) return null;
  if (turn.calls === 0) return 'the agent called nothing';
  const [difference] = differences(last.world, turn.world);
  if (difference !== undefined) return difference;
  const missing = withoutEach(
    own.map(({ content }) => content),
    turn.results,
  );
  return missing.length === 0 ? null : `no call returned ${missing.map((each) => each.slice(0, 200)).join(' or ')}`;
}

/** Returns where the public attributes of the gold objects are others in a world. What begins with _ is private. */
function differences(gold: World, made: World): readonly string[] {
  return diffDatabases(gold.agent, made.agent).flatMap(({ path, before, after }) => {
    const [, attribute] = path;
    const isPrivate = typeof attribute === 'string' && attribute.startsWith('_');
    const isNew = path.length === 2 && before === undefined;
    // A reference is a place, and the place of what is equal may differ.
    if (isPrivate || isNew || path.includes('$ref') || path.length < 2 || sameAt(path, before, after)) return [];
    return [`${showPath(path)} is ${shown(getAt(made.agent, path))}, expected ${shown(before)}`];
  });
}

function sameAt(path: readonly (string | number)[], before: Json | undefined, after: Json | undefined): boolean {
  return before !== undefined && after !== undefined && path.length > 0 && sameValue(before, after);
}

/** Returns what is left of a list when each entry of another one is taken out of it once. */
function withoutEach(list: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return list.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

const shown = (value: Json | undefined) => shownValue(value, 200);
