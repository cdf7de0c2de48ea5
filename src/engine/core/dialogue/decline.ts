const lookup =
  'find|see|locate|trace|make out|read|understand|hear|identify|match|spot|recognise|recognize|wait|be (?:undone|reversed|reverted|revoked|taken back|found|located)|tell (?!you)|thank|stress|be sure|think of|imagine|believe|help but';
const states =
  'able|allowed|permitted|possible|eligible|authori[sz]ed|entitled|available|supported|offered|covered|accepted|doable|feasible|refundable|returnable|exchangeable|transferable|cancellable|on offer|an option|on the table|something|part of|in (?:a|my) (?:position|power)|within (?:my|our)|up to me|included in our|valid for|in a position';

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
  /\b(?:have|has|need|must|going|forced|obliged) (?:to )?(?:decline|refuse|deny|say no|turn (?:this|that|it|you|your request) down|reject)\b|\b(?:i|we) (?:must |have to |will )?(?:decline|refuse|reject) (?:this|that|your|the|to)\b/,
  /\b(?:do|does|did) not (?:have (?:the |any )?(?:access|ability|permission|authority|authori[sz]ation|option|means|power|possibility|right|way)|offer|allow|permit|accept|support|qualify|cover|provide for|do (?:that|this|exchanges|refunds|returns)|take back|refund|handle|make exceptions|let me)\b/,
  /\bno longer (?:be )?(?:possible|eligible|changed|change|cancelled|cancel|modified|available|moved|returned|able|refunded|exchanged|an option|accepted|in stock)\b/,
  /\b(?:outside|beyond|above|out) (?:of )?(?:my|our|the) (?:scope|control|polic\w+|return|window|authority|hands|power|competence|remit|responsibilit\w+)\b/,
  /\b(?:impossible|out of the question|prohibit\w*|forbid\w*|no way to|no way (?:for (?:me|us)|i|we|around)|disallow\w*|non.?refundable|non.?returnable|non.?transferable|not something (?:i|we)|no can do|ineligible|excluded from|exempt from|barred from)\b/,
  /\b(?:nothing|not (?:much|anything)) (?:more |else |further )?(?:that )?(?:i|we) can (?:do|offer|change)\b|\b(?:no|not any) (?:possibility|option|provision|exceptions?|option)(?: (?:to|of|for|here|can)|$)/,
  /\btoo late (?:to|for)\b|\balready (?:been )?\w+,? so (?:it|that|this|i|we) (?:is|am|are) (?:not|no longer|unable)/,
  /\b(?:the answer is|it is|that is|has to be|it has to be|i am afraid it is|sorry but|afraid) (?:still )?(?:a )?no\b|^(?:sorry|unfortunately|i am afraid|regrettably)?[, ]*no,? (?:i|we|that|this|sorry|unfortunately)\b/,
];
const notRefusals =
  /\b(?:if (?:you|i|we|it|that|this) (?:\w+ )?(?:cannot|could not|are not able|are unable)|(?:cannot|could not|not able to|unable to) (?:[\w']+ ){0,8}?(?:until|unless|without (?:your|the|a|an|knowing|it|that|your)|before (?:you|i|we))|(?:until|unless|without|before) (?:[\w,]+ ){1,8}?(?:i|we) (?:cannot|am unable|are unable)|why (?:\w+ )?cannot|will not (?:take|be (?:long|a problem|charged|changed))|may not (?:be|have) (?!(?:cancelled|changed|returned|refunded|exchanged|opened|worn)))\b/;
const harmless = new RegExp(
  `\\b(?:was|were|am|are|is) (?:not able|unable) to (?:${lookup})\\b|\\bcannot be (?:undone|reversed|reverted|revoked|taken back)\\b|\\b(?:cannot|could not) (?:see|find) any (?:problem|issue|reason|error)\\b|\\bnot possible to (?:find|locate)\\b`,
  'g',
);

/** Whether a sentence of an agent says that something will not be done or given. */
export function isDeclined(text: string): boolean {
  const rest = text.replace(harmless, ' ');
  return refusals.some((pattern) => pattern.test(rest)) && !notRefusals.test(rest);
}
