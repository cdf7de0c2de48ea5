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
} from '../dialogue/dialogue.ts';
import type { Lexicon } from '../dialogue/lexicon.ts';
import type { RuleOf } from '../domain/rule.ts';
import { type ToolCall, utterancesOf } from '../events/message.ts';
import { parseExpression, pathsIn } from '../expression/expression.ts';
import { excerpt } from '../text/excerpt.ts';
import { phrasesIn, saysAny } from '../text/phrase.ts';
import { impossible } from '../values/impossible.ts';
import type { Json } from '../values/json.ts';
import { type Finding, held, type Moment, unknown, violated } from './finding.ts';
import { isLeftOpen, isSpoken, type Rivals, rivalsOf, valuesOf } from './naming.ts';
import { isReferredTo, nounsFor } from './reference.ts';
import { namesOfRow, type SharedName, sharedNamesOfRow } from './rowNames.ts';
import { binds, type Seen } from './seen.ts';

type Spoken = ReturnType<typeof utterancesOf>[number];
/** The phrases of a rule and of the domain's lexicon beside the English wordings. */
type Wordings = Pick<RuleOf<'confirmed'>, 'asks' | 'yes' | 'no'> & { readonly lexicon: Lexicon };
/** A way to name a value, and what the same way names otherwise. */
type Form = { readonly value: string; readonly rivals: Rivals };
/** A value that a call has. */
type Named = {
  readonly name: string;
  readonly value: string;
  /** The value itself, then what people call the row that it is the id of. */
  readonly forms: () => readonly Form[];
  /** The texts that other rows are called by as well. */
  readonly shared: () => readonly SharedName[];
  readonly nouns: ReadonlySet<string>;
};

/**
 * Checks that the last thing the user did before a call of `tools` is a yes to a proposal that named the values of the arguments
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
  const open = rule.names.filter(isExpression).map((text) => ({ text, ...seen.valueOf(text, moment) }));
  const failed = open.find((each) => 'problem' in each);
  if (failed && 'problem' in failed)
    return [unknown(`it is unknown what has to be named: ${failed.text}: ${failed.problem}`)];
  const named = [
    ...valuesIn(rule.names, call, seen),
    ...open.flatMap((each) => ('value' in each ? expressed(each.text, each.value, call, seen, moment) : [])),
  ];
  const wordings = { ...rule, lexicon: seen.domain.lexicon };
  const { chain, missing } = standing(spoken, named, wordings);
  const text = chain.map(({ content }) => content).join('\n');
  const evidence = [...chain.map(({ step }) => step), answer.step];
  const reply = replyIn(wordings, text, answer.content);
  const invitation =
    chain.map((each) => invitationOf(each.content, named, wordings)).find((each) => each !== null) ?? null;
  if (invitation === null) {
    return [violated(`the agent's last message did not ask for a yes before ${call.name}`, [last.step])];
  }
  if (missing.length > 0) {
    const names = [...new Set(missing.map(({ name }) => name))].join(', ');
    const values = missing.map(({ value }) => excerpt(value)).join(', ');
    const ambiguous = missing.map((each) => ambiguityIn(text, each)).find((each) => each !== null);
    const reason = ambiguous ?? `the proposal did not name ${names} with the value in the call: ${values}`;
    return [violated(reason, [last.step])];
  }
  const undecided = named.find((each) => isOpen(text, each));
  if (undecided !== undefined) return [violated(`the proposal left open which ${undecided.name} it is`, evidence)];
  const other = departureIn(text, answer.content, named);
  if (other !== null) return [violated(other, evidence)];
  const isYes = reply === 'yes' || (reply === 'assent' && invitation === 'asked');
  if (!isYes) return [violated(`${because(reply)}: "${excerpt(answer.content)}"`, evidence)];
  return [held('the user said yes to a proposal that named what was done', evidence)];
}

/** Whether an entry of `names` is an expression, and not the name of an argument. */
export const isExpression = (name: string): boolean => !/^[A-Za-z_$][\w$-]*$/.test(name);

function valuesIn(names: readonly string[], call: ToolCall, { domain, calls, state }: Seen): readonly Named[] {
  if (typeof call.arguments === 'string') return [];
  const args = call.arguments;
  const tool = domain.tools.find((each) => each.name === call.name);
  return names.flatMap((name) =>
    valuesOf(args[name]).map((value): Named => {
      const rivals = once(() => rivalsOf(value, name, tool, calls()));
      const namesOf = (id: string, others: readonly string[]) => namesOfRow(id, name, state.world, others);
      const called = once(() => namesOf(value, rivals()));
      const others = once(() => rivals().flatMap((rival) => namesOf(rival, [])));
      const forms = once(() => [{ value, rivals }, ...called().map((text) => ({ value: text, rivals: others }))]);
      const shared = once(() => sharedNamesOfRow(value, name, state.world, rivals()));
      return { name, value, forms, shared, nouns: nounsFor(name, value, domain.lexicon) };
    }),
  );
}

/** The values of an expression; what it is for the other values of the arguments that it reads is what it could have been. */
function expressed(text: string, found: Json, call: ToolCall, seen: Seen, moment: Moment): readonly Named[] {
  const { arguments: args } = call;
  if (typeof args === 'string' || moment.type !== 'call') return [];
  const tool = seen.domain.tools.find((each) => each.name === call.name);
  const parsed = parseExpression(text);
  const read = 'problem' in parsed ? [] : pathsIn(parsed.expression).filter(({ name }) => name === 'args');
  const rivals = once(() =>
    [...new Set(read.map(({ keys: [key] }) => String(key)))].flatMap((key) =>
      valuesOf(args[key])
        .flatMap((value) => rivalsOf(value, key, tool, seen.calls()))
        .flatMap((rival) => {
          const other = seen.valueOf(text, { ...moment, call: { ...call, arguments: { ...args, [key]: rival } } });
          return 'value' in other ? valuesOf(other.value) : [];
        }),
    ),
  );
  const name = /([A-Za-z_]\w*)\W*$/.exec(text)?.[1] ?? text;
  return valuesOf(found).map((value) => {
    const others = once(() => rivals().filter((rival) => rival.toLowerCase() !== value.toLowerCase()));
    return {
      name: text,
      value,
      forms: () => [{ value, rivals: others }],
      shared: () => [],
      nouns: nounsFor(name, value, seen.domain.lexicon),
    };
  });
}

const isNamed = (text: string, { forms }: Named) => forms().some(({ value, rivals }) => isSpoken(text, value, rivals));

/** Returns that a text names a row only by what several rows are called, and what tells them apart; null otherwise. */
function ambiguityIn(text: string, { name, value, shared }: Named): string | null {
  const found = shared().find((each) => isSpoken(text, each.text, () => []));
  if (!found) return null;
  const rows = found.ids.length > 3 ? `${found.ids.length} rows` : found.ids.join(' and ');
  const fields = found.fields.slice(0, 3).join(', ');
  const difference = fields === '' ? '' : `, which differ in ${fields}`;
  return `the proposal named ${name} ${excerpt(value)} only as "${excerpt(found.text)}", which means ${rows}${difference}`;
}

/** Whether every way in which a text names a value leaves open which one it is. */
function isOpen(text: string, { forms }: Named): boolean {
  const spoken = forms().filter(({ value, rivals }) => isSpoken(text, value, rivals));
  return spoken.length > 0 && spoken.every(({ value, rivals }) => isLeftOpen(text, value, rivals));
}

type Standing = { readonly chain: readonly Spoken[]; readonly missing: readonly Named[] };

/**
 * The agent's messages that the last answer is an answer to, latest first, and the values that they leave out: the
 * last one, and, while it leaves out a value and names no other in its place, the proposal before it to which the
 * user only asked back or asked for time.
 */
function standing(spoken: readonly Spoken[], named: readonly Named[], rule: Wordings): Standing {
  const chain: Spoken[] = [];
  let missing = named;
  const isMissing = (named: Named, text: string, at: number) => {
    const earlier = spoken.slice(0, at).map(({ content }) => content);
    const isPointedAt = ({ value, rivals }: Form) => isReferredTo(text, value, rivals, named.nouns, earlier);
    return !isNamed(text, named) && !named.forms().some(isPointedAt);
  };
  for (let at = spoken.length - 2; at >= 0 && chain.length < 3; at -= 2) {
    const [message, answer] = [spoken[at], spoken[at + 1]];
    if (message?.role !== 'agent') break;
    if (chain.length > 0 && !(answer?.role === 'user' && isAskedBack(message, answer, named, rule))) break;
    chain.push(message);
    const text = chain.map(({ content }) => content).join('\n');
    missing = missing.filter((each) => isMissing(each, text, at));
    const isComplete = missing.length === 0 && chain.some(({ content }) => invitationOf(content, named, rule) !== null);
    if (isComplete || missing.some((each) => namesOther(message.content, each))) break;
  }
  return { chain, missing };
}

function isAskedBack(proposal: Spoken, answer: Spoken, named: readonly Named[], rule: Wordings): boolean {
  if (invitationOf(proposal.content, named, rule) === null) return false;
  const reply = replyIn(rule, proposal.content, answer.content);
  return (reply === 'question' || reply === 'delay') && departureIn(proposal.content, answer.content, named) === null;
}

/**
 * Returns how a message invites an answer: it asks for a yes, in words for that or in a closed question that names a
 * value of the call or comes with what will be done; or it says what will be done and leaves it at that, which only a
 * yes in as many words answers. Wordings of the rule ask, too.
 */
function invitationOf(
  content: string,
  named: readonly Named[],
  { asks, lexicon }: Wordings,
): 'asked' | 'announced' | null {
  if (asks !== undefined && saysAny(content, phrasesIn(asks))) return 'asked';
  if (isProposal(content, lexicon)) return 'asked';
  const question = closedQuestionOf(content);
  const isOfThis = question !== null && named.some((each) => isNamed(question, each));
  if (question !== null && (isOfThis || announces(content))) return 'asked';
  return announces(content) && !content.includes('?') ? 'announced' : null;
}

/** Returns what an answer is: by the wordings of the rule, or else by those of English. */
function replyIn({ yes, no }: Wordings, proposal: string, answer: string): Reply {
  if (no !== undefined && saysAny(answer, phrasesIn(no))) return 'no';
  if (yes !== undefined && saysAny(answer, phrasesIn(yes))) return 'yes';
  return replyTo(proposal, answer);
}

/** Why the answer is to something other than the call: it names a rival of a value, and not the value. */
function departureIn(proposal: string, said: string, named: readonly Named[]): string | null {
  const answer = withoutOtherMatters(proposal, said);
  const demands = demandsIn(answer);
  if (!saysMore(demands)) return null;
  const found = named.find((each) => namesOther(demands, each) && !isNamed(withoutContrast(answer), each));
  return found === undefined ? null : `the user named another ${found.name} than the call has: "${excerpt(answer)}"`;
}

function namesOther(text: string, named: Named): boolean {
  const wanted = withoutContrast(text);
  if (isNamed(wanted, named)) return false;
  return named
    .forms()
    .some(({ value, rivals }) =>
      rivals().some((rival) => rival.length > 1 && (namesValue(wanted, rival) || namesKind(wanted, rival, value))),
    );
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
      return impossible('reply', reply);
  }
}
