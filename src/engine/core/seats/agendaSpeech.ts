import type { Lexicon } from '../dialogue/lexicon.ts';
import type { Persona } from '../domain/persona.ts';
import { fieldsOf } from '../events/message.ts';
import { capitalized } from '../text/capitalized.ts';
import { leavesOf } from '../text/value.ts';
import type { Json } from '../values/json.ts';
import type { Random } from '../values/random.ts';
import type { Deed } from './ownTools.ts';
import { fromTemplate, resultSlots } from './template.ts';

type Style = Persona['style'];
type Told = { readonly label: string; readonly say: string };

const yes: Readonly<Record<Style, readonly string[]>> = {
  plain: ['Yes, please.', 'Yes, go ahead.', 'Yes, please do.', "Yes, that's right.", 'Sounds good, go ahead.'],
  brief: ['Yes.', 'Yes, please.', 'Yes, go ahead.', 'Ok, go ahead.'],
  chatty: [
    'Yes, please go ahead!',
    'Oh yes, that would be great!',
    'Sure, please do!',
    "Yes, that's perfect, thank you!",
  ],
  formal: ['Yes, please proceed.', 'Yes, I confirm.', 'Yes, that is correct. Please proceed.'],
};
const thanks: Readonly<Record<Style, readonly string[]>> = {
  plain: ['Thank you, that is all.', "Thanks, that's everything.", "That's all, thank you."],
  brief: ['Thanks, bye.', "That's all, thanks.", 'Great, thanks.'],
  chatty: ["Wonderful, thank you so much, that's all!", 'Great, thanks a lot for your help, bye!'],
  formal: ['Thank you. That is all.', 'Thank you very much, that is everything. Goodbye.'],
};
const nothingElse: Readonly<Record<Style, readonly string[]>> = {
  plain: ["No, that's all. Thank you.", 'No, thank you, that is everything.', "No, that's it, thanks."],
  brief: ["No, that's all, thanks.", "No, that's it.", 'No, thanks, bye.'],
  chatty: ["No, that's all, thank you so much for your help!", 'No, nothing else, you have been very kind!'],
  formal: ['No, thank you. That is all.', 'No, that is everything. Thank you for your help.'],
};
const givesIn = ['All right, I understand.', 'Fine, I see.', 'I understand.'];
const lost = ['Sorry, what do you need from me?', 'I am not sure what you mean. What do you need from me?'];
const impatient = [
  "This isn't getting us anywhere. I'll try another time.",
  "I don't have time for this, bye.",
  'This leads nowhere, I give up.',
];
const leaving = ['Thank you.', 'Okay, thanks.', 'All right, thank you for your help.'];
const upset: Readonly<Record<Style, readonly string[]>> = {
  plain: ['Honestly, this is taking far too long.', 'I am really annoyed about this.'],
  brief: ['This is annoying.', 'What a nuisance.'],
  chatty: ['Honestly, I am so fed up with all of this!', 'I can hardly believe how tedious this is!'],
  formal: ['I must say that I am very dissatisfied.', 'This is most unsatisfactory.'],
};
const misunderstandings = ['Sorry, is that done already?', 'I am lost. Was that about some other request?'];
const evasions = [
  'Why do you need to know that?',
  'Can you not find that in your system?',
  'Is that really necessary?',
];

/** Phrases with which the agenda user insists once more after a refusal. */
export const onceMore = [
  'Could you not make an exception, just this once?',
  'I really have to insist. Can you not make an exception?',
  'Are you sure? I would really like you to make an exception.',
];

/** The words of the agenda user, in a persona's style. Every choice is drawn from the stream. */
export function speech(style: Style, random: Random) {
  const isBrief = style === 'brief';
  return {
    yes: () => random.pick(yes[style]),
    thanks: (isOffered: boolean) => random.pick((isOffered ? nothingElse : thanks)[style]),
    givesIn: () => random.pick(givesIn),
    lost: () => random.pick(lost),
    impatient: () => random.pick(impatient),
    leaving: () => random.pick(leaving),
    insistsOnceMore: () => random.pick(onceMore),
    waits: () =>
      random.pick(isBrief ? ['Ok.', 'Sure.'] : ['Sure, take your time.', 'All right, I will wait.', 'Okay.']),
    facts: (told: readonly Told[], unknown: readonly string[]) =>
      [...tell(told, isBrief, random), ...notKnown(unknown, isBrief, random)].join(' '),
    correction: ({ label, say }: Told) =>
      isBrief && !isSentence(say)
        ? random.pick([`No, ${say}.`, `No, it is ${say}.`, `No, ${possessive(label)} is ${say}.`])
        : `No, ${isSentence(say) ? lowerFirst(ended(say)) : `${possessive(label)} is ${say}.`}`,
    otherAction: (goal: string) =>
      `${random.pick(["No, that's not what I want.", 'No, I did not ask for that.'])} ${goal}`,
    nothingOfThat: () => random.pick(["No, thank you, that's all.", "No, thanks, I don't need that. That's all."]),
    repeatedly: (goal: string) =>
      `${random.pick(isBrief ? ['', 'As I said: '] : ['As I said: ', "I'm still waiting. ", 'Once more: '])}${goal}`,
    rest: (told: Told) =>
      `${random.pick(isBrief ? ['And', 'Ok. And'] : ['Thank you. And', 'Thanks. And'])} ${possessive(told.label)}: ${told.say}?`,
    deeds: (deeds: readonly Deed[], lexicon: Lexicon) =>
      deeds.map((deed) => told(deed, style, lexicon, random)).join(' '),
    goOn: () => random.pick(['Then please go on with the rest.', 'Then please go on.']),
    upset: () => random.pick(upset[style]),
    misunderstands: () => random.pick(misunderstandings),
    evades: () => random.pick(evasions),
    interrupts: (text: string) => `${random.pick(['Wait, let me say this first.', 'Hold on a second.'])} ${text}`,
    contradicts: ({ label, say }: Told) =>
      `Wait, I never said that ${possessive(label)} is ${say}. Or maybe I did. It is ${say} after all.`,
    opening: (text: string) => `${greeting(style, text, random)}${text}`,
  };
}

/** Returns what came of a call of the user's own, in the words of the lexicon, else as plainly as it was returned. */
function told(
  { tool, arguments: values, content, isError }: Deed,
  style: Style,
  lexicon: Lexicon,
  random: Random,
): string {
  if (isError) return ended(`That did not work: ${content.replace(/^Error: /, '')}`);
  const result = fieldsOf(content);
  const slots = Object.entries({ ...values, ...result, result: content }).map(([name, each]) => [name, spoken(each)]);
  const lead = random.pick(deedLeads[style]);
  const written = fromTemplate(
    lexicon.tools[tool]?.tell,
    { ...resultSlots(content), ...Object.fromEntries(slots) },
    random,
  );
  if (written !== null) return `${lead}${written}`;
  const fields = Object.entries(result).map(([name, value]) => `${name.replaceAll('_', ' ')} ${spoken(value)}`);
  return `${lead}${ended(fields.length > 0 ? `It says: ${fields.join(', ')}` : `It says: ${content}`)}`;
}

const deedLeads: Readonly<Record<Style, readonly string[]>> = {
  plain: ['Done. ', 'Okay, done. ', 'I have done that. '],
  brief: ['Done. ', 'Ok. '],
  chatty: ['Okay, I have just done that! ', 'All right, done! ', 'Just a second... there, done! '],
  formal: ['I have done so. ', 'Very well, that is done. '],
};

const spoken = (value: Json | undefined): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : leavesOf(value).join(', ') || 'nothing';

function tell(told: readonly Told[], isBrief: boolean, random: Random): readonly string[] {
  const sentences = told.filter(({ say }) => isSentence(say)).map(({ say }) => upperFirst(ended(say)));
  const values = told.filter(({ say }) => !isSentence(say));
  const [only] = values;
  if (only && values.length === 1) {
    const said = upperFirst(only.say);
    const long = `${upperFirst(possessive(only.label))} is ${only.say}.`;
    return [
      random.pick(isBrief ? [`${said}.`, `It is ${only.say}.`, long] : [long, long, `It's ${only.say}.`]),
      ...sentences,
    ];
  }
  if (values.length === 0) return sentences;
  const short = upperFirst(`${values.map(({ say }) => say).join(', ')}.`);
  const long = `${upperFirst(joined(values.map(({ label, say }) => `${possessive(label)} is ${say}`)))}.`;
  return [isBrief ? random.pick([short, long]) : long, ...sentences];
}

function notKnown(labels: readonly string[], isBrief: boolean, random: Random): readonly string[] {
  if (labels.length === 0) return [];
  const what = joined(labels.map(possessive), 'or');
  return [
    isBrief
      ? `I don't know ${what}.`
      : random.pick([`I'm sorry, I don't know ${what}.`, `I don't know ${what}, I'm afraid.`]),
  ];
}

function greeting(style: Style, text: string, random: Random): string {
  if (style === 'brief' || style === 'plain' || /^(?:hi|hello|hey|good)\b/i.test(text)) return '';
  return random.pick(style === 'formal' ? ['Good day. ', 'Hello. '] : ['Hi there! ', 'Hello! ', 'Hey! ']);
}

/** "my order number", but "the new address". */
export function possessive(label: string): string {
  if (/^(?:my|the|your)\b/.test(label)) return label;
  const isOwn =
    /\b(?:name|e-?mail|phone|zip|postcode|postal|account|customer|user|birth\w*|order number|password|pin|booking|reservation)\b/i.test(
      label,
    );
  return isOwn && !/\b(?:other|new)\b/i.test(label) ? `my ${label}` : `the ${label}`;
}

function isSentence(say: string): boolean {
  return /[.!]$/.test(say) || /^(?:i|it|my|we|because|they|he|she)\b.* /i.test(say);
}

/** Parts of a sentence, the last two with a word between them: `a, b and c`. */
export function joined(parts: readonly string[], word = 'and'): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}`;
}

const ended = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
export const upperFirst = (text: string) => (/^[a-z]+(?:[ ,]|\.?$)/.test(text) ? capitalized(text) : text);
const lowerFirst = (text: string) => (/^I\b/.test(text) ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`);
