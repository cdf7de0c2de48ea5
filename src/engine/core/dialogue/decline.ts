/** Verbs after "cannot" that do not refuse a request: "I cannot find your order". */
const lookup =
  'find|see|locate|trace|make out|read|understand|hear|identify|match|spot|recognise|recognize|wait|be (?:undone|reversed|reverted|revoked|taken back|found|located)|tell (?!you)|thank|stress|be sure|think of|imagine|believe|help but';
/** Words after "not" or "unable" that refuse a request: "not permitted", "not within my power". */
const states =
  'able|allowed|permitted|possible|eligible|authori[sz]ed|entitled|available|supported|offered|covered|accepted|doable|feasible|refundable|returnable|exchangeable|transferable|cancellable|on offer|an option|on the table|something|part of|in (?:a|my) (?:position|power)|within (?:my|our)|up to me|included in our|valid for|in a position';

/** Wordings of a refusal: "I'm unable to refund it", "That is against our policy", "It is too late to cancel". */
const refusals: readonly RegExp[] = [
  new RegExp(
    `\\b(?:cannot|can never|can no longer|can not|could not possibly|may not|must not|are not to) (?:\\w+ly |also |just |even |be (?:\\w+ly )?)?(?!(?:${lookup})\\b)\\w+`,
  ),
  /\b(?:i|we) (?:will|would|am|are|could) not (?:be )?(?:able|going|allowed|permitted|in a position|doing|make|do|change|offer|give|process|refund|cancel)\b/,
  new RegExp(
    `\\b(?:am|are|is|was|were|be|been|being|longer)(?: also| currently| unfortunately| afraid| simply| just| really)* (?:unable|not(?: \\w+ly| currently| be)? (?:${states}))\\b`,
  ),
  /\bnot (?:allowed|permitted|possible|eligible|authori[sz]ed|entitled|an option|on offer)\b/,
  /\b(?:will|would) not be (?:able|possible|eligible)\b/,
  /\b(?:policy|policies|rules?|guidelines?|terms|system|regulations) (?:\w+ )?(?:do|does|will|would) not (?:let|allow|permit|support|cover|provide)\b|\bagainst (?:the |our |my |company |shop )*(?:polic|rule|guideline|regulation)/,
  /\b(?:have|has|need|must|going|forced|obliged) (?:to )?(?:decline|refuse|deny|say no|turn (?:this|that|it|you|your request) down|turn down (?:your|this|that|the)|reject)\b|\b(?:i|we) (?:must |have to |will )?(?:decline|refuse|reject) (?:this|that|your|the|to)\b/,
  /\b(?:do|does|did) not (?:have (?:the |any )?(?:access|ability|permission|authority|authori[sz]ation|option|means|power|possibility|right|way)|offer|allow|permit|accept|support|qualify|cover|provide for|do (?:that|this|exchanges|refunds|returns)|take back|refund|handle|make exceptions|let me)\b/,
  /\bno longer (?:be )?(?:possible|eligible|changed|change|cancelled|cancel|modified|available|moved|returned|able|refunded|exchanged|an option|accepted|in stock)\b/,
  /\b(?:outside|beyond) (?:of )?what (?:i|we)\b|\bpolicy (?:is )?not to\b|\b(?:polic(?:y|ies)|rules?|terms) (?:forbids?|prohibits?|prevents?|rules? out|excludes?)\b|\b(?:violat|break|breach|contradict|go(?:es)? against|run counter to)(?:es?|s|ing)? (?:our|the|company|shop) (?:\w+ )?(?:polic|rule|guideline|term)|\b(?:lack|have no) (?:the )?(?:permissions?|authority|access|means|rights?|authori[sz]ation|power|ability)\b|\b(?:outside|beyond|above|out) (?:of )?(?:my|our|the) (?:scope|control|polic\w+|return|window|authority|hands|power|competence|remit|responsibilit\w+)\b/,
  /\b(?:impossible|out of the question|off the table|not on the cards|not going to happen|hands are tied|prohibit\w*|forbid\w*|no way to|no way (?:for (?:me|us)|i|we|around)|disallow\w*|non.?refundable|non.?returnable|non.?transferable|not something (?:i|we)|no can do|ineligible|excluded from|exempt from|barred from)\b/,
  /\b(?:nothing|not (?:much|anything)) (?:more |else |further )?(?:that )?(?:i|we) can (?:do|offer|change)\b|\b(?:no|not any) (?:possibility|option|provision|exceptions?|option)(?: (?:to|of|for|here|can)|$)|\bthere (?:is|are|will be|can be) (?:sadly |unfortunately )?no (?:delivery|deliveries|refunds?|returns?|exchanges?|cancellations?|exceptions?|shipping|redelivery|redirection|changes?)\b/,
  /\bwe do not (?:currently |also |usually |normally |generally |ever )*(?!(?:know|see|find|need|want|think|mind|believe|understand|expect|have|ask|charge|require|store|keep|save|share|sell|doubt|recognise|recognize|recommend|wish|hesitate|hear|get|receive|yet|even|only|just)\b)\w+/,
  /\b(?:i|we) will not (?:\w+ly )?(?:share|send|ship|deliver|move|reveal|disclose|discuss|provide|tell you|hand|let|approve|accept|grant|issue|waive|extend|exchange|return|transfer|add|remove|help|update|authori[sz]e)\b(?! (?:it|them|that|this)? ?(?:yet|before|until))/,
  /\b(?:window|period|deadline|warranty|guarantee|time limit|time frame|cut-?off)\b[\w ]{0,30}\b(?:(?:has|have|is|was) (?:already |now |long |unfortunately )*)?(?:expired|closed|passed|ended|lapsed|over|run out|ran out)\b|\b(?:\w+ing [\w ]+|(?:that|this|it|which)) (?:will|would|is) not (?:(?:be )?(?:work|possible|going to work|an option)|go through)(?:ing)?\b|\b(?:request|claim|application|appeal) (?:was|has been|is|had to be|must be|will be) (?:\w+ )?(?:declined|rejected|denied|refused|turned down)\b/,
  /\bneither\b.* nor\b.*\b(?:possible|allowed|permitted|can|available|accepted)\b|\bno \w+ (?:is|are) (?:possible|allowed|permitted)\b/,
  /\btoo late (?:to|for)\b|\balready (?:been )?\w+,? so (?:it|that|this|i|we) (?:is|am|are) (?:not|no longer|unable)/,
  /\b(?:the answer is|it is|that is|has to be|it has to be|i am afraid it is|sorry but|afraid) (?:still )?(?:a )?no(?=$|[,.;:!]| from| on| here| to)|^(?:sorry|unfortunately|i am afraid|regrettably)?[, ]*no,? (?:i|we|that|this|sorry|unfortunately)\b/,
];
/**
 * Matches sentences that refuse only under a condition: "I cannot do that until you confirm", "if you cannot find it".
 */
const notRefusals =
  /\b(?:if (?:you|i|we|it|that|this) (?:\w+ )?(?:cannot|could not|are not able|are unable)|(?:cannot|could not|not able to|unable to) (?:[\w']+ ){0,8}?(?:until|unless|without (?:your|the|a|an|knowing|it|that|your)|before (?:you|i|we))|(?:until|unless|without|before) (?:[\w,]+ ){1,8}?(?:i|we) (?:cannot|am unable|are unable)|why (?:\w+ )?cannot|will not (?:take|be (?:long|a problem|charged|changed))|may not (?:be|have) (?!(?:cancelled|changed|returned|refunded|exchanged|opened|worn)))\b/;
/**
 * Matches phrases that sound like a refusal and refuse nothing: "this cannot be undone", "I cannot see any problem".
 */
const harmless = new RegExp(
  `\\b(?:was|were|am|are|is) (?:not able|unable) to (?:${lookup})\\b|\\bcannot be (?:undone|reversed|reverted|revoked|taken back)\\b|\\b(?:cannot|could not) (?:see|find) any (?:problem|issue|reason|error)\\b|\\bnot possible to (?:find|locate)\\b|\\byou (?:cannot|can no longer|will not be able to|will no longer be able to|are not able to) [\\w ]*?\\b(?:again|afterwards|later|a (?:second|third) time|any ?more after|once (?:more|it|that|this|they))\\b|\\bno reason why [^,.;]*|\\bcannot be \\w+ (?:again|twice|later|afterwards|any ?more after|a (?:second|third) time|more than once|after (?:that|this|it)|once (?:it|they|that|this|i|we|you|done|made|confirmed))\\b|\\b(?:cannot|can no longer) be \\w+ (?:\\w+ )?(?:after|afterwards|once)\\b`,
  'g',
);

/** Reports whether a sentence of an agent says that something will not be done or given: "I can't refund that." */
export function isDeclined(text: string): boolean {
  const rest = text.replace(harmless, ' ');
  return refusals.some((pattern) => pattern.test(rest)) && !notRefusals.test(rest);
}
