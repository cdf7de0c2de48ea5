import type { Sentence } from '../text/text.ts';
import type { Vocabulary } from './mention.ts';
import { patterns } from './patterns.ts';

const {
  reasonNames,
  reasonValues,
  reasonWordings,
  nameNames,
  nameWordings,
  phoneNames,
  phoneWordings,
  emailNames,
  emailWordings,
  addressNames,
  addressWordings,
  dateNames,
  dateValues,
  dateWordings,
  itemNames,
  itemWordings,
  colourNames,
  colourValues,
  colourWordings,
  sizeWordings,
  paymentNames,
  paymentValues,
  paymentWordings,
  asking,
} = patterns.kind;

/** Kinds of facts that most domains share: names of such a fact, and wordings that ask for it without its name. */
const kinds: readonly {
  readonly names: RegExp;
  readonly wordings: RegExp;
  /** Values that identify the kind of fact: "black or white" is about a colour. */
  readonly values?: RegExp;
}[] = [
  { names: reasonNames, values: reasonValues, wordings: reasonWordings },
  { names: nameNames, wordings: nameWordings },
  { names: phoneNames, wordings: phoneWordings },
  { names: emailNames, wordings: emailWordings },
  { names: addressNames, wordings: addressWordings },
  { names: dateNames, values: dateValues, wordings: dateWordings },
  { names: itemNames, wordings: itemWordings },
  { names: colourNames, values: colourValues, wordings: colourWordings },
  { names: /^size$/, wordings: sizeWordings },
  { names: paymentNames, values: paymentValues, wordings: paymentWordings },
];

/**
 * Returns the facts that a question asks for without naming one, if it can mean only one: "What made you send it back?"
 * asks for the reason.
 */
export function kindsAskedIn({ text, question }: Sentence, vocabulary: Vocabulary): readonly string[] {
  const asksPlainly = question || asking.test(text);
  if (!asksPlainly) return [];
  const bare = text.replace(/\([^)]*\)? ?/g, '');
  return kinds.filter(({ wordings }) => wordings.test(bare)).flatMap(({ names }) => ownerOf(names, bare, vocabulary));
}

/**
 * Returns the facts of which a text lists two values or more: "white, brass and green". `question` is the question that
 * follows the list.
 */
export function kindsListedIn(text: string, question: string, vocabulary: Vocabulary): readonly string[] {
  return kinds
    .filter(({ values }) => values && new Set(text.match(values) ?? []).size > 1)
    .flatMap(({ names }) => ownerOf(names, `${text} ${question}`, vocabulary));
}

/**
 * Returns the only fact of a kind. If the domain has two for payments, a text about a refund means the one for the
 * refund.
 */
function ownerOf(names: RegExp, text: string, vocabulary: Vocabulary): readonly string[] {
  const phrases = [...vocabulary.phrases.values()].flat();
  const owners = [...new Set(phrases.filter(({ words }) => names.test(words.join(' '))).map(({ fact }) => fact))];
  if (owners.length < 2) return owners;
  const isRefund = /\b(?:refund|reimburs|money back|credited)/.test(text);
  const meant = owners.filter(
    (owner) =>
      phrases.some(({ fact, words }) => fact === owner && words.some((word) => word.startsWith('refund'))) === isRefund,
  );
  return meant.length === 1 ? meant : [];
}
