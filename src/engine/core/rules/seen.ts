import type { Domain } from '../domain/domain.ts';
import type { Rule, RuleOf } from '../domain/rule.ts';
import type { Task } from '../domain/task.ts';
import { taskIn } from '../domain/taskVariant.ts';
import { isWrite, type Tool } from '../domain/tool.ts';
import { factsOf, isChangeSaid } from '../events/facts.ts';
import { messagesOf, readArguments } from '../events/message.ts';
import { filledActions, succeededIn } from '../events/quotedResults.ts';
import type { RolloutState } from '../events/state.ts';
import { conditionHolds, type Evaluated, evaluateExpression, type Scope } from '../expression/expression.ts';
import { timeZoneOf } from '../text/calendar.ts';
import { impossible } from '../values/impossible.ts';
import type { Json } from '../values/json.ts';
import { readView } from '../world/database.ts';
import { callsOf, type MadeCall } from './calls.ts';
import type { Moment } from './finding.ts';

/** The data that a check may read. */
export type Seen = {
  readonly domain: Domain;
  readonly state: RolloutState;
  /** The calls that have a result. */
  readonly calls: () => readonly MadeCall[];
  /** Whether a condition holds at a moment, or why that is unknown. */
  readonly holds: (condition: string, moment: Moment | MadeCall) => boolean | { readonly problem: string };
  /** Returns the value of an expression at a moment, or the reason why it has no value. */
  readonly valueOf: (expression: string, moment: Moment) => Evaluated;
};

/** The tools that a rule binds: by their names, or by what they do. */
export type Tools = RuleOf<'before'>['tools'];

/** Returns the tools that a rule binds; undefined for a rule about every conversation. */
export function boundTools(rule: Rule): Tools | undefined {
  if (rule.check === 'mustSay') return rule.before ?? rule.after;
  return 'tools' in rule ? rule.tools : undefined;
}

/** Names that every expression of rules.yaml can start with. */
export const ruleNames = [
  'db',
  'user',
  'calls',
  'messages',
  'now',
  'timeZone',
  'turn',
  'facts',
  'expected',
  'policy',
  'sourced',
  'phrases',
  'args',
  'tool',
  'message',
] as const;
export type RuleName = (typeof ruleNames)[number];

/** The view of a state; what is costly is made when it is asked for. */
export function seenIn(domain: Domain, state: RolloutState): Seen {
  let made: readonly MadeCall[] | undefined;
  const calls = () => {
    made ??= callsOf(state.messages);
    return made;
  };
  return {
    domain,
    state,
    calls,
    holds: (condition, moment) => conditionHolds(condition, scopeAt(domain, state, calls, moment)),
    valueOf: (expression, moment) => evaluateExpression(expression, scopeAt(domain, state, calls, moment)),
  };
}

function scopeAt(
  domain: Domain,
  state: RolloutState,
  calls: () => readonly MadeCall[],
  moment: Moment | MadeCall,
): Scope {
  return (name) => {
    const known = ruleNames.find((each) => each === name);
    return known === undefined ? undefined : namedValue(known, domain, state, calls, moment);
  };
}

function namedValue(
  name: RuleName,
  domain: Domain,
  state: RolloutState,
  calls: () => readonly MadeCall[],
  moment: Moment | MadeCall,
): Json | undefined {
  switch (name) {
    case 'calls':
      return calls();
    case 'facts':
      return factsAt(domain, state);
    case 'expected':
      return filledActions(taskOf(domain, state)?.actions ?? [], () => succeededIn(state.messages)).map(
        ({ tool, arguments: args, by }) => ({ tool, args: args as Json, by }),
      );
    case 'policy':
      return domain.policy.text;
    case 'sourced':
      return sourcedTexts(domain, state);
    case 'phrases':
      return domain.phrases;
    case 'args':
      return argumentsAt(moment);
    case 'tool':
      return toolAt(moment);
    case 'message':
      return 'type' in moment && moment.type === 'utterance' ? moment.text : undefined;
    default:
      return stateValue(name, state);
  }
}

type StateName = 'db' | 'user' | 'messages' | 'now' | 'timeZone' | 'turn';

/** Returns the value of a name that is that of the state alone. */
export function stateValue(name: StateName, { world, messages, started, turn }: RolloutState): Json {
  switch (name) {
    case 'db':
      return readView(world.agent);
    case 'user':
      return readView(world.user);
    case 'messages':
      return messages as unknown as Json;
    case 'now':
      return started.now;
    case 'timeZone':
      return timeZoneOf(started);
    case 'turn':
      return turn;
    default:
      return impossible('name', name);
  }
}

/** Everything that an agent may quote: what its tools returned, what the user said, and the policy. */
function sourcedTexts(domain: Domain, { messages }: RolloutState): readonly string[] {
  const heard = messagesOf('agent', messages).flatMap((each) => (each.role === 'agent' ? [] : [each.content]));
  return [...heard, domain.policy.text];
}

function argumentsAt(moment: Moment | MadeCall): Json | undefined {
  if (!('type' in moment)) return moment.args;
  if (moment.type !== 'call') return undefined;
  return readArguments(moment.call);
}

function toolAt(moment: Moment | MadeCall): string | undefined {
  if (!('type' in moment)) return moment.tool;
  return moment.type === 'call' ? moment.call.name : undefined;
}

function factsAt(domain: Domain, state: RolloutState): Json {
  const task = taskOf(domain, state);
  if (!task) return {};
  const facts = factsOf(task, isChangeSaid(task, state.messages));
  return Object.fromEntries(Object.entries(facts).map(([name, { value }]) => [name, value]));
}

/** The task that is played; undefined where the domain no longer has it. */
export function taskOf(domain: Domain, { started }: RolloutState): Task | undefined {
  return taskIn(domain, started.task.id);
}

/** Whether a rule's `tools` mean this tool. What a rule requires is not bound by it. */
export function binds(tools: Tools, name: string, known: readonly Tool[], required: readonly string[] = []): boolean {
  if (typeof tools !== 'string') return tools.includes(name);
  const tool = known.find((each) => each.name === name);
  if (!tool || tool.owner === 'user' || required.includes(name)) return false;
  return tools === 'writes' ? isWrite(tool) : !tool.generic && !tool.handsOff;
}
