import type { Vocabulary } from './mention.ts';
import type { Sentence } from './text.ts';

const colour =
  'black|white|red|blue|navy|green|yellow|grey|gray|brown|pink|purple|orange|beige|silver|gold|golden|turquoise|teal|mint|lilac|cream|ivory|violet|khaki|olive|maroon|burgundy|charcoal|brass|copper|oak|walnut|dark|light|striped|plain|natural';
const day =
  '(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|next week|this week|the weekend|a weekday|january|february|march|april|may|june|july|august|september|october|november|december|\\d+(?:st|nd|rd|th)';
const size = 'small|medium|large|xs|s|m|l|xl|xxl|extra large|extra small|double|single|queen|king|a \\d+|\\d+';
const payment =
  'store credit|gift card|gift voucher|voucher|credit card|debit card|card|paypal|bank account|bank transfer|cash|credit|account|original (?:card|payment method|method)';

/** Kinds of facts that most domains share: how such a fact is called, and how it is asked for without its name. */
const kinds: readonly { readonly names: RegExp; readonly wordings: RegExp }[] = [
  {
    names: /^(?:reason|why|cause)$/,
    wordings:
      /\b(?:what (?:exactly )?(?:(?:seems|appears) to be (?:wrong|the (?:problem|matter|issue|trouble) with)|made|makes|led|prompted|caused|drove|brings you to (?:return|cancel)|is wrong|was wrong|went wrong|is not right|do you not like|did you not like|happened (?:to|with)|is the (?:matter|trouble|cause|motive|problem with|issue with)|was the (?:matter|trouble|cause|problem with|issue with))|how come|what for$|on what grounds|for what (?:purpose|cause)|(?:anything|something) wrong with (?:it|the|them))\b/,
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
      /\b(?:(?:the|your|which|what) (?:\w+ )?street|house number|which (?:place|location|building|door)|where (?:do you live|are you based|to$)|to which (?:place|location|street))\b/,
  },
  {
    names: /^(?:date|day|when|delivery date)$/,
    wordings: new RegExp(
      `\\b(?:which (?:morning|afternoon|evening|week|weekday)|what (?:morning|afternoon|evening|week|weekday)|how soon|by when|since when|(?:${day})[\\w ]{0,14},? or (?:on |rather |maybe )?(?:${day}))\\b`,
    ),
  },
  {
    names: /^(?:item|product|article)$/,
    wordings:
      /\b(?:which (?:thing|piece|part)s?\b|which (?:one )?of (?:the|your|these|those)(?: \w+){1,3}|what (?:exactly |is it (?:that )?)?(?:are|do|did|would|is|was) (?:you|it|it that)(?: \w+)?(?: (?:like|want|wish|trying) (?:to)?)? ?(?:return|returning|exchange|exchanging|send(?:ing)? back|swap|swapping|give back|damaged|broken|faulty|missing))\b/,
  },
  {
    names: /^(?:colou?r|variant|shade)$/,
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
    names: /^(?:payment method|refund method|pay|refunded|method of payment)$/,
    wordings: new RegExp(
      `\\b(?:how (?:\\w+ ){0,4}(?:pay|paid|paying|settle|refund|reimburse|refunded|reimbursed|money back|your money|the money|the refund)|(?:where|which|what|who) [\\w ]*\\b(?:money|refund|amount) (?:go|be sent|be paid|to go|back)|(?:${payment}),? or (?:\\w+ ){0,4}(?:${payment}))\\b`,
    ),
  },
];

/** Facts asked for by a question that names no fact, but belongs to one alone: "What made you send it back?" */
export function kindsAskedIn({ text, question }: Sentence, vocabulary: Vocabulary): readonly string[] {
  const asksPlainly =
    question ||
    /(?:^|[ ,:-])(?:what|which|where|who|whom|how|when|on what|tell me|let me know|need|provide|give me|send me)\b/.test(
      text,
    );
  if (!asksPlainly) return [];
  return kinds
    .filter(({ wordings }) => wordings.test(text))
    .flatMap(({ names }) => {
      const owners = ownersOf(names, vocabulary);
      return owners.length === 1 ? owners : [];
    });
}

function ownersOf(names: RegExp, vocabulary: Vocabulary): readonly string[] {
  const owners = [...vocabulary.phrases.values()]
    .flat()
    .filter(({ words }) => names.test(words.join(' ')))
    .map(({ fact }) => fact);
  return [...new Set(owners)];
}
