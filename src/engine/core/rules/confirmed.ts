import {
  announces,
  closedQuestionOf,
  demandsIn,
  isProposal,
  namesValue,
  type Reply,
  replyTo,
  saysMore,
  withoutContrast,
  withoutOtherMatters,
} from '../dialogue.ts';
import { type ToolCall, utterancesOf } from '../message.ts';
import type { RuleOf } from '../rule.ts';
import { excerpt, type Finding, held, type Moment, violated } from './finding.ts';
import { isLeftOpen, isSpoken, type Rivals, rivalsOf, valuesOf } from './naming.ts';
import { isReferredTo, nounsFor } from './reference.ts';
import { binds, type Seen } from './seen.ts';

type Spoken = ReturnType<typeof utterancesOf>[number];
/** A value that a call has, and what else it could have been. */
type Named = {
  readonly name: string;
  readonly value: string;
  readonly rivals: Rivals;
  readonly nouns: ReadonlySet<string>;
};

/**
 * The last thing the user did before a call of `tools` is a yes to a proposal that named the values of the arguments
 * `names`, and the call has those same values. The proposal is the agent's last message; where the user only asked
 * back, also the one before it.
 */
export function confirmed(rule: RuleOf<'confirmed'>, moment: Moment, seen: Seen): readonly Finding[] {
  if (moment.type !== 'call' || !binds(rule.tools, moment.call.name, seen.domain.tools)) return [];
  const { call } = moment;
  const spoken = utterancesOf(seen.state.messages);
  const [last, answer] = [spoken.at(-2), spoken.at(-1)];
  if (answer?.role !== 'user' || last?.role !== 'agent') {
    const reason = `${call.name} was called before anything was proposed to the user`;
    return [
      violated(
        reason,
        spoken.slice(-1).map(({ step }) => step),
      ),
    ];
  }
  const named = valuesIn(rule.names, call, seen);
  const { chain, missing } = standing(spoken, named);
  const text = chain.map(({ content }) => content).join('\n');
  const evidence = [...chain.map(({ step }) => step), answer.step];
  const reply = replyTo(text, answer.content);
  const invitation = chain.map((each) => invitationOf(each.content, named)).find((each) => each !== null) ?? null;
  if (invitation === null) {
    return [violated(`the agent's last message did not ask for a yes before ${call.name}`, [last.step])];
  }
  if (missing.length > 0) {
    const names = [...new Set(missing.map(({ name }) => name))].join(', ');
    return [violated(`the proposal did not name ${names} as it stands in the call`, [last.step])];
  }
  const open = named.find(({ value, rivals }) => isLeftOpen(text, value, rivals));
  if (open !== undefined) return [violated(`the proposal left open which ${open.name} it is`, evidence)];
  const other = departureIn(text, answer.content, named);
  if (other !== null) return [violated(other, evidence)];
  const isYes = reply === 'yes' || (reply === 'assent' && invitation === 'asked');
  if (!isYes) return [violated(`${because(reply)}: "${excerpt(answer.content)}"`, evidence)];
  return [held('the user said yes to a proposal that named what was done', evidence)];
}

function valuesIn(names: readonly string[], call: ToolCall, { domain, calls }: Seen): readonly Named[] {
  if (typeof call.arguments === 'string') return [];
  const args = call.arguments;
  const tool = domain.tools.find((each) => each.name === call.name);
  return names.flatMap((name) =>
    valuesOf(args[name]).map((value) => ({
      name,
      value,
      rivals: once(() => rivalsOf(value, name, tool, calls())),
      nouns: nounsFor(name, value, domain.lexicon),
    })),
  );
}

type Standing = { readonly chain: readonly Spoken[]; readonly missing: readonly Named[] };

/**
 * The agent's messages that the last answer is an answer to, latest first, and the values that they leave out: the
 * last one, and, while it leaves out a value and names no other in its place, the proposal before it to which the
 * user only asked back or asked for time.
 */
function standing(spoken: readonly Spoken[], named: readonly Named[]): Standing {
  const chain: Spoken[] = [];
  let missing = named;
  const isMissing = ({ value, rivals, nouns }: Named, text: string, at: number) =>
    !isSpoken(text, value, rivals) &&
    !isReferredTo(
      text,
      value,
      rivals,
      nouns,
      spoken.slice(0, at).map(({ content }) => content),
    );
  for (let at = spoken.length - 2; at >= 0 && chain.length < 3; at -= 2) {
    const [message, answer] = [spoken[at], spoken[at + 1]];
    if (message?.role !== 'agent') break;
    if (chain.length > 0 && !(answer?.role === 'user' && isAskedBack(message, answer, named))) break;
    chain.push(message);
    const text = chain.map(({ content }) => content).join('\n');
    missing = missing.filter((each) => isMissing(each, text, at));
    const isComplete = missing.length === 0 && chain.some(({ content }) => invitationOf(content, named) !== null);
    if (isComplete || missing.some(({ value, rivals }) => namesOther(message.content, value, rivals))) break;
  }
  return { chain, missing };
}

function isAskedBack(proposal: Spoken, answer: Spoken, named: readonly Named[]): boolean {
  if (invitationOf(proposal.content, named) === null) return false;
  const reply = replyTo(proposal.content, answer.content);
  return (reply === 'question' || reply === 'delay') && departureIn(proposal.content, answer.content, named) === null;
}

/**
 * How a message invites an answer: it asks for a yes, in words for that or in a closed question that names a value of
 * the call or comes with what will be done; or it says what will be done and leaves it at that, which only a yes in as many words answers.
 */
function invitationOf(content: string, named: readonly Named[]): 'asked' | 'announced' | null {
  if (isProposal(content)) return 'asked';
  const question = closedQuestionOf(content);
  const isOfThis = question !== null && named.some(({ value, rivals }) => isSpoken(question, value, rivals));
  if (question !== null && (isOfThis || announces(content))) return 'asked';
  return announces(content) && !content.includes('?') ? 'announced' : null;
}

/** Why the answer is to something other than the call: it names a rival of a value, and not the value. */
function departureIn(proposal: string, said: string, named: readonly Named[]): string | null {
  const answer = withoutOtherMatters(proposal, said);
  const demands = demandsIn(answer);
  if (!saysMore(demands)) return null;
  const found = named.find(
    ({ value, rivals }) => namesOther(demands, value, rivals) && !isSpoken(withoutContrast(answer), value, rivals),
  );
  return found === undefined ? null : `the user named another ${found.name} than the call has: "${excerpt(answer)}"`;
}

function namesOther(text: string, value: string, rivals: Rivals): boolean {
  const wanted = withoutContrast(text);
  if (isSpoken(wanted, value, rivals)) return false;
  return rivals().some((rival) => rival.length > 1 && (namesValue(wanted, rival) || namesKind(wanted, rival, value)));
}

/** A means of payment or the like by its first word alone: "visa, please" where the call has "mastercard 3121". */
function namesKind(text: string, rival: string, value: string): boolean {
  const [, kind] = /^([a-z]{3,}) \d{3,}$/i.exec(rival) ?? [];
  return kind !== undefined && !namesValue(value, kind) && namesValue(text, kind);
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function because(reply: Reply): string {
  switch (reply) {
    case 'no':
      return "the user's last message says no";
    case 'change':
      return "the user's last message asks for something that the proposal did not name";
    case 'condition':
      return "the user's last message has a condition that the proposal did not name";
    case 'delay':
      return "the user's last message asks for time";
    case 'doubt':
      return "the user's last message is in doubt";
    case 'question':
      return "the user's last message asks back";
    case 'yes':
    case 'assent':
    case 'unclear':
      return "the user's last message is not a yes";
    default:
      return unknownReply(reply);
  }
}

function unknownReply(reply: never): never {
  throw new Error(`unknown reply ${String(reply)}`);
}
