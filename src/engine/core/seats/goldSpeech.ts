import { isProposal, namesValue } from '../dialogue/dialogue.ts';
import type { Lexicon } from '../dialogue/lexicon.ts';
import type { Random } from '../values/random.ts';
import { joined, possessive } from './agendaSpeech.ts';
import { fromTemplate } from './template.ts';

type Values = Readonly<Record<string, string>>;

const forYes = ['Shall I go ahead?', 'Is that correct?', 'Do you confirm (yes/no)?', 'Shall I do that?'];
const refusals = [
  "I'm sorry, I can't do that: our policy does not allow it.",
  "I'm sorry, but our rules don't allow that, so I can't do it.",
  'I am sorry, that is not possible under our policy.',
];
const offers = [
  'Is there anything else I can do for you?',
  'Can I help you with anything else?',
  'Is there anything else?',
];

/** The words of the gold seat, from the domain's lexicon. Every choice is drawn from the stream. */
export function goldSpeech(lexicon: Lexicon, random: Random) {
  return {
    ask: (facts: readonly string[], labelOf: (fact: string) => string) => ask(facts, lexicon, labelOf, random),
    offer: () => random.pick(offers),
    refuse: () => random.pick(refusals),
    failed: () => random.pick(["I'm sorry, I wasn't able to do that.", "I'm sorry, that did not work."]),
    whatElse: () => random.pick(['What should I change?', 'What would you like me to do instead?']),
    welcome: () => random.pick(["You're welcome!", 'My pleasure.', "You're welcome."]),
    leftAlone: () => random.pick(["All right, I won't do that.", "Okay, I'll leave it as it is."]),
    worked: () =>
      random.pick(['Thank you, that should be all.', 'Thank you, then everything is as it should be.', 'Thank you.']),
    noMore: () => random.pick(["I'm afraid that is all I can tell you.", 'I have no more information on that.']),
    found: (fields: readonly (readonly [string, string])[]) =>
      `Here is what I found: ${joined(fields.map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`))}.`,
    say: (text: string) => {
      const written = sentenceWith(text, lexicon);
      if (written) return written;
      if (/[.!?]$/.test(text)) return text;
      if (text.split(' ').length >= 6) return `${text}.`;
      return /^[\d.,$€£]+$/.test(text)
        ? random.pick([`That makes ${text}.`, `It comes to ${text}.`])
        : random.pick([`Please note: ${text}.`, `Good to know: ${text}.`]);
    },
  };
}

/** The sentence of the lexicon's templates that holds a text, where it means itself. */
function sentenceWith(text: string, lexicon: Lexicon): string | undefined {
  return Object.values(lexicon.tools)
    .flatMap(({ done, propose }) => [...done, ...propose])
    .flatMap((template) => template.split(/(?<=[.!])\s+/))
    .find((sentence) => sentence.toLowerCase().includes(text.toLowerCase()) && !/[{?]/.test(sentence));
}

function ask(facts: readonly string[], lexicon: Lexicon, labelOf: (fact: string) => string, random: Random): string {
  const written = facts.map((fact) => lexicon.facts[fact]?.ask ?? []);
  if (written.every((questions) => questions.length > 0)) {
    return written
      .map((questions, at) => (at === 0 ? random.pick(questions) : followUp(random.pick(questions))))
      .join(' ');
  }
  const what = joined(facts.map((fact) => yours(labelOf(fact))));
  const verb = facts.length > 1 ? 'are' : 'is';
  return random.pick([
    `What ${verb} ${what}?`,
    `Could you tell me ${what}?`,
    `Could I have ${what}, please?`,
    `I need ${what}, please.`,
  ]);
}

function followUp(full: string): string {
  const question = full.replace(/, please(?=\?)/, '');
  return /^(?:what|which|where|when|who|how)\b/i.test(question)
    ? `And ${question.charAt(0).toLowerCase()}${question.slice(1)}`
    : question;
}

function yours(label: string): string {
  return possessive(label).replace(/^my /, 'your ');
}

/**
 * A text that proposes the call: it names each required value, or the title or name of its row, and ends in a question
 * for a yes.
 * @param slots the values of the arguments, and what tools returned beside them
 * @param isNamed whether a text says the title or name of the row of an argument
 */
export function proposalOf(
  tool: string,
  slots: Values,
  required: Values,
  isNamed: (text: string, argument: string) => boolean,
  lexicon: Lexicon,
  labelOf: (name: string) => string,
  random: Random,
): string {
  const values = Object.fromEntries(Object.entries(slots).filter(([name]) => !name.includes('.')));
  const text = fromTemplate(lexicon.tools[tool]?.propose, slots, random) ?? generic(tool, values, labelOf, random);
  const missing = Object.entries(required).filter(([name, value]) => !namesValue(text, value) && !isNamed(text, name));
  if (missing.length === 0) return isProposal(text, lexicon) ? text : `${text} ${random.pick(forYes)}`;
  const details = joined(missing.map(([name, value]) => `${labelOf(name)} ${value}`));
  // A question for a yes stays the last sentence, and the only one.
  const asked = `This is with ${details}. ${text}`;
  return isProposal(asked, lexicon) ? asked : `${text} That is with ${details}. ${random.pick(forYes)}`;
}

/** A text that asks the user to call one of its own tools. */
export function instructionOf(
  tool: string,
  values: Values,
  lexicon: Lexicon,
  labelOf: (name: string) => string,
  random: Random,
): string {
  const written = fromTemplate(lexicon.tools[tool]?.instruct, values, random);
  if (written !== null) return written;
  const details = detailsOf(values, labelOf);
  return `Please ${tool.replace(/[_-]/g, ' ')}${details === '' ? '' : ` with ${details}`}, and tell me what you see.`;
}

/** A text that reports the call as done. A template can quote the call's result, and what tools returned beside an argument. */
export function reportOf(
  tool: string,
  values: Values,
  quoted: Values,
  lexicon: Lexicon,
  labelOf: (name: string) => string,
  random: Random,
): string {
  const written = fromTemplate(lexicon.tools[tool]?.done, { ...values, ...quoted }, random);
  if (written !== null) return written;
  const details = detailsOf(values, labelOf);
  const deed = tool.replace(/[_-]/g, ' ');
  return details === ''
    ? `Done: ${deed}.`
    : random.pick([`Done: ${deed} with ${details}.`, `All done: ${deed}, ${details}.`]);
}

function generic(tool: string, values: Values, labelOf: (name: string) => string, random: Random): string {
  const deed = tool.replace(/[_-]/g, ' ');
  const details = detailsOf(values, labelOf);
  const what = details === '' ? deed : `${deed} with ${details}`;
  return random.pick([`I will ${what}.`, `I can ${what} for you.`, `I am about to ${what}.`]);
}

function detailsOf(values: Values, labelOf: (name: string) => string): string {
  return joined(Object.entries(values).map(([name, value]) => `${labelOf(name)} ${value}`));
}
