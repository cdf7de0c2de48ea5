import type { Sentence } from '../text/text.ts';
import type { Vocabulary } from './mention.ts';

const colour =
  'black|white|red|blue|navy|green|yellow|grey|gray|brown|pink|purple|orange|beige|silver|gold|golden|turquoise|teal|mint|lilac|cream|ivory|violet|khaki|olive|maroon|burgundy|charcoal|brass|copper|oak|walnut|dark|light|striped|plain|natural';
const day =
  '(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|today|next week|this week|the weekend|a weekday|january|february|march|april|may|june|july|august|september|october|november|december|\\d+(?:st|nd|rd|th)';
const size = 'small|medium|large|xs|s|m|l|xl|xxl|extra large|extra small|double|single|queen|king|a \\d+|\\d+';
const payment =
  'store credit|gift card|gift voucher|voucher|credit card|debit card|visa|mastercard|card|paypal|bank account|bank transfer|cash|credit|account|original (?:card|payment method|method)';
const cause =
  'no longer need(?:ed)?|not need(?:ed)?|by mistake|by accident|chang(?:ed?|ing) (?:of|your) mind|too (?:big|small|late|long|short|tight|wide|expensive)|damaged|faulty|broken|defective|cheaper|wrong|not fit|not like';

/** Kinds of facts that most domains share: names of such a fact, and wordings that ask for it without its name. */
const kinds: readonly {
  readonly names: RegExp;
  readonly wordings: RegExp;
  /** Values that identify the kind of fact: "black or white" is about a colour. */
  readonly values?: RegExp;
}[] = [
  {
    names: /^(?:reason|why|cause)$/,
    values: new RegExp(`\\b(?:${cause})\\b`, 'g'),
    wordings: new RegExp(
      String.raw`\b(?:what (?:exactly )?(?:(?:seems|appears) to be (?:wrong|the (?:problem|matter|issue|trouble) with)|made|makes|led|prompted|caused|drove|brings you to (?:return|cancel)|is wrong|was wrong|went wrong|is not right|do you not like|did you not like|happened (?:to|with)|is the (?:matter|trouble|cause|motive|problem with|issue with)|was the (?:matter|trouble|cause|problem with|issue with))|how come|what for$|on what grounds|for what (?:purpose|cause)|(?:anything|something) wrong with (?:it|the|them)|(?:${cause})\b[\w ]{0,20},? or (?:\w+ ){0,5}(?:${cause}))\b`,
    ),
  },
  {
    names: /^(?:name|full name|surname|last name|who)$/,
    wordings:
      /\b(?:who (?:am i|is this|is it|do i have|are you$|placed|ordered|is calling|is speaking|is the (?:account|order|recipient|parcel))|what (?:are you|is (?:he|she)|shall i|should i|may i|can i) (?:call(?:ed)?|address)|(?:how|what) (?:may|should|shall|can) i (?:call|address) you|whom (?:am i|do i|is))\b/,
  },
  {
    names: /^(?:phone|phone number|telephone|telephone number|mobile|mobile number)$/,
    wordings:
      /\b(?:(?:what|which|a|the|your|any)(?: \w+)? number\b.*\b(?:call|reach|ring|text|phone|dial|contact|driver|courier)|(?:how|where|on what|on which(?: number)?|at what number) (?:can|could|may|should|shall) (?:i|we|he|she|they|the (?:driver|courier))(?: \w+)? (?:call|ring|phone|reach|text)|call you back on|number to (?:call|reach|ring|text))\b/,
  },
  {
    names: /^(?:email|email address|mail|mail address)$/,
    wordings:
      /\b(?:where (?:can|could|should|shall|may) (?:i|we) (?:e ?mail|mail|write)|(?:which|what) (?:inbox|mailbox|login|e.?mail)|sign(?:ed)? (?:in|up) with)\b(?!.*\bnumber\b)/,
  },
  {
    names: /^(?:address|new address|delivery address|where)$/,
    wordings:
      /\b(?:(?:the|your|which|what) (?:\w+ )?street|house number|which (?:place|location|building|door)|where (?:do you live|are you based|to$)|to which (?:place|location|street)|where (?!.*\b(?:money|refund\w*|amount|credit|confirmation|receipt|label|invoice|e?mail|code|message)\b)(?:\w+ ){1,7}?(?:send|sent|ship|shipped|deliver|delivered|bring|brought|drop|dropped|forward|forwarded|redirect|redirected|go))\b/,
  },
  {
    names: /^(?:date|day|when|delivery date)$/,
    values: new RegExp(`\\b(?:${day})\\b`, 'g'),
    wordings: new RegExp(
      `\\b(?:which (?:morning|afternoon|evening|week|weekday)|what (?:morning|afternoon|evening|week|weekday)|how soon|by when|since when|(?:${day})[\\w ]{0,14},? or (?:on |rather |maybe )?(?:${day}))\\b`,
    ),
  },
  {
    names: /^(?:item|product|article)$/,
    wordings:
      /\b(?:which (?:thing|piece|part)s?\b|which (?:one )?of (?:(?:the|your)(?: \w+){1,3}|(?:these|those)(?! (?:is|are|was|were|would|will|should|shall|do|does|did|can|could|may|might|suits?|works?|appl(?:y|ies)|sounds?|looks?)\b)(?: \w+){1,3})|what (?:exactly |is it (?:that )?)?(?:are|do|did|would|is|was) (?:you|it|it that)(?: \w+)?(?: (?:like|want|wish|trying) (?:to)?)? ?(?:return|returning|exchange|exchanging|send(?:ing)? back|swap|swapping|give back|damaged|broken|faulty|missing)|what (?:exactly |part |piece )?(?:arrived|came|turned up|was) (?:\w+ )?(?:broken|damaged|faulty|wrong|missing))\b/,
  },
  {
    names: /^(?:colou?r|variant|shade)$/,
    values: new RegExp(`\\b(?:${colour})\\b`, 'g'),
    wordings: new RegExp(
      `\\b(?:which|what) (?:shade|tint|hue|finish)\\b|\\b(?:${colour})(?: one)?,? or (?:rather |maybe )?(?:in )?(?:the |a )?(?:${colour})\\b`,
    ),
  },
  {
    names: /^size$/,
    wordings: new RegExp(
      `\\b(?:how (?:big|large|tall|wide)\\b|what (?:do you (?:usually |normally )?wear|fits you)|(?:a |an |the )?(?:${size})(?: one)?,? or (?:rather |maybe )?(?:a |an |the )?(?:small|medium|large|xs|xl|xxl|extra large))\\b`,
    ),
  },
  {
    names: /^(?:payment method|refund method|refund to|pay|refunded|method of payment)$/,
    values: new RegExp(`\\b(?:${payment})\\b`, 'g'),
    wordings: new RegExp(
      `\\b(?:how (?:\\w+ ){0,4}(?:pay|paid|paying|settle|refund|reimburse|refunded|reimbursed|money back|your money|the money|the refund)|(?:where|which|what|who) [\\w ]*\\b(?:money|refund|amount) (?:go|be sent|be paid|to go|back)|(?:${payment}),? or (?:\\w+ ){0,4}(?:${payment}))\\b`,
    ),
  },
];

/**
 * Returns the facts that a question asks for without naming one, if it can mean only one: "What made you send it back?"
 * asks for the reason.
 */
export function kindsAskedIn({ text, question }: Sentence, vocabulary: Vocabulary): readonly string[] {
  const asksPlainly =
    question ||
    /(?:^|[ ,:-])(?:what|which|where|who|whom|how|when|on what|tell me|let me know|need|provide|give me|send me)\b/.test(
      text,
    );
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
