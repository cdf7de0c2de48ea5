import { isConfirmation, isProposal, namesValue } from '../dialogue/dialogue.ts';
import type { GoldAction } from '../domain/task.ts';
import { requiredIn } from '../domain/tool.ts';
import { factsBehind, recogniserOf } from '../events/facts.ts';
import { numberFormsOf, utterancesOf } from '../events/message.ts';
import { leavesOf } from '../text/value.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { isFound } from '../verifiers/communicate.ts';
import { type Plan, planOf } from './goldPlan.ts';
import { goldSpeech, instructionOf, proposalOf, reportOf } from './goldSpeech.ts';
import type { AgentReply, PureAgent, SeatView } from './seat.ts';
import { ownNames, saysName, slotsBeside } from './seenRows.ts';
import { resultSlots } from './template.ts';

/**
 * The gold seat: an agent without a model that does the task's gold actions as the policy wants them done. It asks for
 * what it needs, proposes, waits for a yes, acts, reports, and takes changes of mind. Its reply depends on the
 * conversation alone, so it continues from any message, also one that a person has edited.
 */
export const goldAgent: PureAgent = (view) => {
  const plan = planOf(view);
  const { next } = plan;
  if (plan.isRefusalDue && (next === null || next.by === 'user' || plan.isWrite(next))) return refusal(view, plan);
  if (next === null) return closing(view, plan);
  const missing = plan.missing(next);
  if (missing.length > 0) return asking(view, plan, missing);
  if (plan.isHopeless(next)) return surrender(view, plan);
  if (next.by === 'user') return instructing(view, plan, next);
  if (!plan.isWrite(next)) return calling(view, next);
  if (isAgreed(view, plan, next)) return calling(view, next);
  return proposing(view, plan, next, '');
};

function refusal(view: SeatView, plan: Plan): AgentReply {
  const speak = goldSpeech(view.domain.lexicon, view.random);
  const reason = plan.status === null || view.task.user.insist ? '' : ` Its status is ${plan.status}.`;
  const refused = `${speak.refuse()}${reason}`;
  if (plan.next === null) return closing(view, plan, refused);
  if (plan.next.by === 'user') return instructing(view, plan, plan.next, `${refused} `);
  const missing = plan.missing(plan.next);
  if (missing.length > 0) return asking(view, plan, missing, `${refused} `);
  return proposing(view, plan, plan.next, `${refused} `);
}

/** Asks for one fact, or for two at once; what the following calls need may come with it. */
function asking(view: SeatView, plan: Plan, missing: readonly string[], lead = ''): AgentReply {
  const speak = goldSpeech(view.domain.lexicon, view.random);
  const { labelOf } = recogniserOf(view.domain, view.task);
  const later =
    missing.length === 1 && view.random.chance(0.5) ? plan.missingLater.filter((fact) => !missing.includes(fact)) : [];
  const facts = [...missing, ...later].slice(0, 2);
  return saying(`${lead}${news(view, plan)}${speak.ask(facts, labelOf)}`);
}

/** Asks the user to do something that only the user can do. */
function instructing(view: SeatView, plan: Plan, action: GoldAction, lead = ''): AgentReply {
  const { labelOf } = recogniserOf(view.domain, view.task);
  const text = instructionOf(action.tool, valuesOf(action.arguments), view.domain.lexicon, labelOf, view.random);
  return saying(`${lead}${news(view, plan)}${text}`);
}

function proposing(view: SeatView, plan: Plan, action: GoldAction, lead: string): AgentReply {
  const speak = goldSpeech(view.domain.lexicon, view.random);
  if (plan.denials(action) > 1) return closing(view, plan, speak.leftAlone());
  const last = utterancesOf(view.messages).at(-1);
  const isDenied =
    plan.denials(action) === 1 &&
    last?.role === 'user' &&
    recogniserOf(view.domain, view.task).user(last.content).denies;
  if (
    isDenied &&
    factsBehind(plan.facts, action).every((name) => !namesValue(last.content, plan.facts[name]?.say ?? ''))
  ) {
    return saying(`${lead}${speak.whatElse()}`);
  }
  const { labelOf } = recogniserOf(view.domain, view.task);
  const values = valuesOf(action.arguments);
  const required = Object.fromEntries(
    plan.namesToConfirm(action.tool).flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
  const slots = { ...values, ...slotsBeside(view.messages, values) };
  const isNamed = namingIn(view, values);
  const text = proposalOf(action.tool, slots, required, isNamed, view.domain.lexicon, labelOf, view.random);
  return saying(`${lead}${news(view, plan)}${text}`);
}

/** Returns whether a text says what people call the row of an argument, as far as the tools returned it. */
function namingIn({ messages, database }: SeatView, values: Readonly<Record<string, string>>) {
  const slots = slotsBeside(messages, values);
  return (text: string, argument: string) =>
    saysName(text, argument, slots, ownNames(values[argument] ?? '', argument, database));
}

/** Whether the user's last words are a yes to a proposal of exactly this call, not used up by another. */
function isAgreed(view: SeatView, plan: Plan, action: GoldAction): boolean {
  const spoken = utterancesOf(view.messages);
  const [proposal, answer] = [spoken.at(-2), spoken.at(-1)];
  if (proposal?.role !== 'agent' || answer?.role !== 'user') return false;
  if (!isProposal(proposal.content, view.domain.lexicon) || !isConfirmation(answer.content, proposal.content))
    return false;
  const values = valuesOf(action.arguments);
  const names = plan.namesToConfirm(action.tool).filter((name) => values[name] !== undefined);
  const isNamed = names.every(
    (name) =>
      leavesOf(action.arguments[name]).every((leaf) => namesValue(proposal.content, leaf)) ||
      namingIn(view, values)(proposal.content, name),
  );
  return isNamed && (names.length > 0 || !plan.hasWrittenSince(answer.step));
}

/** Reports what was done, says what has to be said, and offers more help. */
function closing(view: SeatView, plan: Plan, lead = ''): AgentReply {
  const speak = goldSpeech(view.domain.lexicon, view.random);
  const done = reports(view, plan);
  const isBrief = view.persona.style === 'brief';
  const said = `${plan.spoken} ${done} ${lead}`;
  const { communicate, communicateBy } = view.task;
  // What has to be said is about what the user wants in the end.
  const notes = plan.isChangeOpen
    ? []
    : communicate.filter((text) => !isFound(text, said, communicateBy)).map(speak.say);
  const found =
    lead !== '' || done !== '' || notes.length > 0 || plan.hasClosed
      ? ''
      : plan.hasInstructed
        ? speak.worked()
        : plan.findings.length > 0
          ? speak.found(plan.findings)
          : '';
  const parts = [lead, done, found, ...notes].filter((part) => part !== '');
  if (parts.length === 0)
    parts.push(plan.isThanked ? speak.welcome() : plan.hasClosed ? speak.noMore() : speak.failed());
  const offers = !isBrief || (done === '' && (found === '' || plan.hasInstructed));
  return saying([...parts, ...(offers ? [speak.offer()] : [])].join(' '));
}

/** Nothing sensible is left to try: hands over to a person where the domain can, else says so. */
function surrender(view: SeatView, plan: Plan): AgentReply {
  const handOff = view.domain.tools.find(({ handsOff, owner }) => handsOff && owner === 'agent');
  if (handOff && !plan.hasFailedToHandOff) {
    return calling(view, {
      tool: handOff.name,
      by: 'agent',
      arguments: handOffArguments(handOff.parameters, plan) as GoldAction['arguments'],
    });
  }
  return closing(view, plan, plan.hasClosed ? '' : goldSpeech(view.domain.lexicon, view.random).failed());
}

function handOffArguments(parameters: JsonObject, plan: Plan): Record<string, Json> {
  const properties = (parameters['properties'] ?? {}) as Record<
    string,
    { readonly type?: string; readonly enum?: readonly Json[] }
  >;
  const required = requiredIn(parameters);
  const values = Object.entries(properties).flatMap(([name, schema]): [string, Json][] => {
    const known = plan.valueSeen(name);
    if (known !== undefined) return [[name, known]];
    if (!required.includes(name)) return [];
    if (schema.enum?.[0] !== undefined) return [[name, schema.enum[0]]];
    if (schema.type === 'number' || schema.type === 'integer') return [[name, 0]];
    return schema.type === 'boolean' ? [[name, true]] : [[name, plan.summary]];
  });
  return Object.fromEntries(values);
}

/** Returns what was done and not reported yet, to put before other words. */
function news(view: SeatView, plan: Plan): string {
  return plan.unreported.length > 0 ? `${reports(view, plan)} ` : '';
}

function reports(view: SeatView, plan: Plan): string {
  const { labelOf } = recogniserOf(view.domain, view.task);
  return plan.unreported
    .map(({ action: { tool, arguments: values }, content }) => {
      const own = valuesOf(values);
      const slots = { ...slotsBeside(view.messages, own), ...resultSlots(content) };
      return reportOf(tool, own, slots, view.domain.lexicon, labelOf, view.random);
    })
    .join(' ');
}

/** The arguments of a call as words, by name. */
function valuesOf(values: Readonly<Record<string, Json>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, leavesOf(value).join(', ')]));
}

function calling({ messages }: SeatView, { tool, arguments: values, ...forms }: GoldAction): AgentReply {
  const call = { id: `call_${messages.length}`, name: tool, arguments: values as JsonObject };
  return { content: null, toolCalls: [{ ...call, ...numberFormsOf(forms) }] };
}

function saying(content: string): AgentReply {
  return { content: content.trim(), toolCalls: [] };
}
