/** Stems of verbs for what an agent can have done: "cancel" for "cancelled". */
const verbs =
  'cancel|chang|updat|book|rebook|reschedul|return|refund|exchang|modif|process|submitt|complet|redirect|mov|creat|add|remov|delet|schedul|issu|report|fil|open|clos|switch|replac|reserv|order|confirm|credit|charg|appl|upgrad|downgrad|activat|deactivat|renew|extend|block|unblock|reset|correct|adjust|swapp|deliver|arrang|initiat|register|rout|rerout';
/** Matches a past participle of such a verb. */
const participle = `(?:(?:${verbs})(?:e?d|ied|led)|set up|sent|put|made|paid|placed|done|taken care of)`;

/** Wordings that report something as done: "I have cancelled it", "All set." */
const doneStatements: readonly RegExp[] = [
  new RegExp(
    `\\b(?:has|have) (?:been |now |just |already |successfully |also |all )*been (?:\\w+ly |now |just |all |also )*${participle}\\b`,
  ),
  new RegExp(`\\b(?:has|have) (?:now |just |already |successfully |also )*been (?:\\w+ly )?${participle}\\b`),
  new RegExp(
    `\\b(?:i|we)(?: have| had)? (?:just |now |also |already |successfully |gone ahead and |went ahead and |both )*${participle}\\b(?! (?:to|on) (?:you|know))`,
  ),
  new RegExp(`\\b(?:is|are|was|were) (?:now |all |successfully |hereby )+${participle}\\b`),
  /^(?:(?:all|it is|that is|ok|okay|great|perfect|and|now|there|alright|super|good|excellent|thank you|thanks)[ ,!.:-]*)*(?:all )?(?:done|completed?|finished|sorted|all set|taken care of|success(?:ful(?:ly)?)?)\b/,
  /\b(?:you are|everything is|it is|that is|this is|all is|that has been|it has been) (?:now |all )*(?:done|set|complete|completed|taken care of|sorted|finished|in place|confirmed|settled)\b/,
  /\b(?:was|were|is|are) (?:a )?(?:success(?:ful)?|successfully \w+|complete|completed)\b/,
  new RegExp(`\\bsuccessfully ${participle}\\b`),
  /\b(?:your|the) [\w #-]{0,50}?\b(?:is|are) (?:cancelled|canceled|changed|updated|booked|rebooked|rescheduled|refunded|exchanged|modified|confirmed|redirected|moved)(?: now)?$/,
  /\b(?:comes|come|arrives|goes|go|ships) (?:on|to|at|in) .* now\b|\bnow (?:comes|goes|arrives|ships)\b/,
];
/** Matches words that make such a wording a plan or a condition: "once it has been cancelled". */
const notDone =
  /\b(?:if|once|when|after|before|until|as soon as|unless|will|would|could|should|can|may|might|to be|not|cannot|need to|want|shall|must|ready to|about to|in order to|yet)\b/;

/**
 * Reports whether a sentence says that something was done: "I have cancelled it." Conditions and plans do not count.
 */
export function isReport(text: string): boolean {
  const found = doneStatements.map((pattern) => pattern.exec(text)).filter((match) => match !== null);
  return found.some(
    (match) => !notDone.test(text.slice(clauseStart(text, match.index), match.index + match[0].length)),
  );
}

/** Returns where the clause around a position in a text starts. */
function clauseStart(text: string, index: number): number {
  return (
    Math.max(
      text.lastIndexOf(',', index - 1),
      text.lastIndexOf(' and ', index - 1),
      text.lastIndexOf(' so ', index - 1),
      -1,
    ) + 1
  );
}
