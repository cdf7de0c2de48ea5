import { literal } from '../text/literal.ts';
import { plain, type Sentence, sentencesOf } from '../text/text.ts';
import { type CompiledPattern, linearPattern, type Pattern } from '../values/linearPattern.ts';
import type { Lexicon } from './lexicon.ts';

/** Reports whether a sentence is one by which a lexicon proposes a call. */
export type IsDeclared = (sentence: Sentence) => boolean;

const declared = new WeakMap<Lexicon, IsDeclared>();

/** Finds the sentences by which a lexicon proposes calls: the questions of each proposal, else its last sentence. */
export function declaredProposals(lexicon: Lexicon): IsDeclared {
  const known = declared.get(lexicon);
  if (known) return known;
  const asked = Object.values(lexicon.tools).flatMap(({ propose }) => propose.flatMap(sentencesThatAsk));
  // A sentence of slots alone would find every sentence.
  const wordings = asked
    .filter(({ text }) => /\p{L}/u.test(text.replace(/\{[^}]*\}/g, '')))
    .map(({ text, question }) => ({ question, pattern: phrasePattern(text) }));
  const made: IsDeclared = ({ text, question }) =>
    wordings.some((each) => each.question === question && each.pattern.test(text));
  declared.set(lexicon, made);
  return made;
}

function sentencesThatAsk(template: string): readonly Sentence[] {
  const sentences = sentencesOf(plain(template));
  const questions = sentences.filter(({ question }) => question);
  return questions.length > 0 ? questions : sentences.slice(-1);
}

/**
 * Returns a pattern that finds a sentence of a lexicon in a plain text: its words in order, with one to eight words for
 * `{anything}`.
 */
export function phrasePattern(phrase: string): Pattern {
  const slot = '[^\\s]+(?: [^\\s]+){0,7}?';
  const words = plain(phrase.replace(/\{[^}]*\}/g, ' slotted '))
    .replace(/[^\p{L}\p{N}\s']+/gu, ' ')
    .trim()
    .split(/\s+/)
    .map((word) => (word === 'slotted' ? slot : literal(word)));
  return linearPattern(`(?:^|[^\\p{L}\\p{N}])${words.join('[^\\p{L}\\p{N}]+')}(?:$|[^\\p{L}\\p{N}])`);
}

type Slots = { readonly names: readonly string[]; readonly pattern: CompiledPattern };

/** Compiled templates, since each is looked for in every utterance. */
const templates = new Map<string, Slots>();

/** Returns the values of a template's slots where a text holds it: `Shall I cancel {order_id}?` */
export function slotsIn(template: string, text: string): Readonly<Record<string, string>> | null {
  const { names, pattern } = templates.get(template) ?? slotsOf(template);
  const found = pattern.groups(text);
  return found && Object.fromEntries(names.map((name, at) => [name, found[`slot${at}`] ?? '']));
}

function slotsOf(template: string): Slots {
  const parts = template.replace(/[.!?]+$/, '').split(/\{([\w.]+)\}/);
  const names = parts.filter((_, at) => at % 2 === 1);
  const source = parts.map((part, at) => (at % 2 === 1 ? `(?<slot${(at - 1) / 2}>.+?)` : literal(part))).join('');
  const slots = { names, pattern: linearPattern(`(?i)${source}(?:[.!?]|$)`) };
  templates.set(template, slots);
  return slots;
}
