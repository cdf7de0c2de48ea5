/** Wordings of an offer of more help: "Is there anything else?", "Feel free to ask." */
const offering = [
  '(?:any|some)(?:thing| thing) (?:else|more|further)',
  'what else (?:can|could|may|would)',
  'how else (?:can|could|may)',
  'any (?:other|more|further|additional) (?:questions?|requests?|concerns?|issues?|matters?|help|assistance)',
  '(?:any )?(?:further|more|additional|other) (?:assistance|help|questions?|requests?)',
  '(?:another|other) (?:thing|way)s? (?:that )?(?:i|we) (?:can|could|may)',
  'else (?:that )?(?:i|we) (?:can|could|may) (?:do|help|assist)',
  '(?:is|are|was|were) there (?:any ?thing|something) (?:else|more)',
  String.raw`(?:help|assist\w*)(?: you)? with (?:another|any other|some other|other|anything|something (?:else|more))(?: matter| question| questions| thing| issue| request)?(?: today)?$`,
  String.raw`(?:is|was|will) (?:that|this) (?:be )?(?:all|everything)(?: for (?:today|now|you))?(?=$| or\b| that)`,
  '(?:feel free|do not hesitate|you are welcome|you can always) to (?:ask|reach out|contact|come back|write|get in touch|message|let me know)',
  'need (?:any )?(?:more|further|other) help',
  'other questions?',
  '(?:another|a further|a second|some other) (?:question|issue|matter|request|concern)(?: (?:i|we) (?:can|could|may)| for me| today|$)',
  'left (?:to do|for me to do|on your (?:mind|list))',
  'on your mind',
];
const offers = new RegExp(String.raw`\b(?:${offering.join('|')})\b`);
/** Phrases that sound like an offer and are not one: "I cannot do anything else". */
const noOffering = [
  String.raw`\b(?:cannot|not able to|unable to|will not|could not|not|nothing) (?:\w+ ){0,3}(?:do |help with |help you with |assist with )?(?:any ?thing (?:else|more|further)|any (?:further|more)|else)\b`,
  String.raw`\b(?:any|some)thing else (?:in|inside|on|about) (?:the|your|this|that)\b(?! (?:mind|list|agenda))`,
];
const noOffers = new RegExp(noOffering.join('|'));

/** Reports whether a sentence offers more help: "Is there anything else I can do?" */
export function isOffer(text: string, question: boolean): boolean {
  const isShort =
    question &&
    /\belse\b/.test(text) &&
    text.split(' ').length <= 5 &&
    !/^(?:who|where|what|which|how|when)\b/.test(text);
  return (offers.test(text) || isShort) && !noOffers.test(text);
}
