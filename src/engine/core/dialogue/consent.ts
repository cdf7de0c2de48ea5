import { beforeYes } from './opener.ts';

/** Verbs for what the tools of a domain do. */
const deeds =
  'cancel|change|redirect|return|exchange|update|book|rebook|send|resend|hold|refund|modify|deliver|reschedule|process|complete|swap|switch|replace|save|submit|issue|move|make|put|place|file|register|arrange|bring|reserve|remove|add|ship|start|finish|credit|upgrade|extend|leave|keep|close|open|order|use|charge|apply|forward|postpone|schedule|renew|confirm|pay|try';
/** Matches one such verb alone: "cancel". */
export const isDeed = new RegExp(`^(?:${deeds})$`);
/** Words for the proposal as a whole: "that", "all the details", "what you said". */
const deictic =
  '(?:that|this|it|those|these|everything|all|both|all of (?:it|that|this)|(?:all )?the (?:details|above|data|plan|summary)|everything (?:you|that|there|listed|above)[\\w ]{0,30}|what you (?:said|wrote|listed|have(?: there)?))';
/** Adverbs between the verb and an approving word: "that is perfectly fine". */
const fully =
  '(?: all| just| exactly| perfectly| totally| absolutely| completely| quite| really| very| definitely| entirely| about)*';
/** Words that approve the proposal: "correct", "spot on", "in order". */
const approved =
  '(?:right|correct|fine|good|great|perfect|ok|okay|alright|all right|it|accurate|spot on|exact|excellent|lovely|ideal|wonderful|acceptable|agreed|approved|brilliant|in order|confirmed|a yes|a deal)';

const yesWords = 'yes+|yeah+|yep|yup|yah|aye|y|affirmative|ja|jawohl|oui|si|sim';
/**
 * Adverbs that are a yes alone or before an order ("of course do it"), but not before a statement ("of course it broke
 * again").
 */
const adverbs =
  'sure(?: thing)?|surely|correct|absolutely|definitely|certainly|of course|by all means|agreed|approved|confirm(?:ed)?|granted|deal|totally|indeed';
/**
 * Words that are a yes only in a clause that has nothing but consent or thanks besides: "good", but not "good morning".
 */
const weakWords =
  'ok(?:ay)?|k|right|exactly|indeed|alright|all right|fine|very well|perfect|great|good|all good|totally|precisely|please|excellent|wonderful|awesome|cool|lovely|super|brilliant|fantastic|amazing|fair enough|makes sense|sweet|nice|wicked|fab|(?:all|both|everything) (?:right|correct|fine|good)|spot on|that is it|that is the one';

/** Matches a clause that starts with a yes: "oh yes please". */
const yesClause = new RegExp(`^${beforeYes}(?:${yesWords})(?=$|[ ,.!:-])`);
/** Matches a clause that starts with one of these adverbs, as in "absolutely". */
const adverbClause = new RegExp(`^${beforeYes}(?:${adverbs})(?:[ .!]+|$)`);
/** Matches a clause that ends with a yes: "the blue one, yes please". */
const yesAtEnd = /(?:^|[ ,])(?:yes(?: please)?|go ahead)$/;
/** Matches a clause of nothing but weak words and thanks: "great thanks". */
const weakClause = new RegExp(
  `^(?:(?:${weakWords})[ .!]*)+(?:(?:thanks|thank you|cheers)(?: (?:so|very) much)?[ .!]*)?(?:then|by me|with me|for me|please|again|now)?$`,
);
/** Clauses that agree to the proposal as a whole: "go ahead", "that is all correct", "you may proceed". */
const consents: readonly RegExp[] = [
  /^(?:please |just |then |and |so |you (?:can|may|should) |by all means |feel free to |kindly )*(?:go(?: right| on| straight)? ahead|go for it|proceed|(?:carry on|continue)(?! (?:to|holding|explaining|telling|reading|\w+ing))|go on(?: then)?$|crack on|go with (?:it|that|this)|fire away|make it so|make it happen|get it done|get on with it|knock yourself out|be my guest)(?! (?:of|with me)\b)/,
  /^(?:please|kindly|yes|ok|okay|just|then|and|so|you (?:can|may)| )*(?:please do|do (?:it|that|this|so)(?: please| now| for me| then| right away| today)*)$/,
  /(?:^|[ ])(?:please |just )?do (?:it|that|so) please$/,
  /^(?:and |so |well |then |hereby )*(?:i|we)(?: do| can| hereby| fully| totally| completely| am happy to| gladly| would like to)* (?:confirm|agree|approve|accept|consent|authori[sz]e|give (?:you )?my (?:ok(?:ay)?|approval|consent|permission|go ahead|go-ahead|blessing))\b/,
  new RegExp(
    `^(?:and |so |yes |then |because |thanks |i think )*${deictic}(?: is| are| was)?${fully} ${approved}(?: (?:with|for|by) me| to me| then| too| thanks| thank you| please| now)*$`,
  ),
  new RegExp(
    `^(?:and |so |yes |i think )*(?:${deictic} )?(?:all )?(?:sounds?|looks?|seems?)${fully} ${approved}(?: (?:with|for|by|to) me| then| too| thanks| please| now)*$`,
  ),
  /^(?:and |so |yes |then )*(?:that|this|it|which)(?: is)?(?: all| just| exactly)* (?:works?|will do|will work|would work|suits me|does the job|would be (?:great|good|fine|perfect|lovely|nice|ideal|wonderful|helpful|amazing|brilliant|ok|okay))(?: (?:for|with) me| thanks| please| perfectly| fine)*$/,
  /^(?:(?:that|this|it) is )?(?:exactly |just |precisely )?what i (?:want|wanted|need|needed|meant|asked for|had in mind|hoped for|was hoping for|would like)(?: you to do)?$/,
  /^(?:works|fine|good|great|ok|okay|perfect|alright|all right|happy|cool) (?:for|by|with) (?:me|us|that|this|it)(?: (?:by|with) me)?$/,
  /^(?:i am|we are) (?:very |perfectly |totally |quite |absolutely )?(?:happy|fine|ok|okay|good|cool|content) (?:with|for|about) (?:that|this|it|you to (?:do|go|proceed)[\w ]*)$/,
  /^(?:(?:i am|we are|all) )?good to go$/,
  /^let us (?:do (?:it|that|this)|go|proceed|go ahead|go for it)$/,
  /^(?:and )?you (?:have|have got|got) my (?:full )?(?:ok|okay|approval|permission|consent|confirmation|go ahead|go-ahead|blessing|yes|word|green light)(?: to \w+ [\w ]*| for (?:that|this|it))?$/,
  /^(?:indeed )?you (?:certainly |surely )?(?:may|can)(?: indeed)?$/,
  /^you (?:may|can)(?: now)? (?:go ahead|proceed|do (?:it|that|so)|continue)\b/,
  /^(?:i|we) (?:would|do)(?: \w+ly| indeed| very much| so)* (?:like|love|want|appreciate|welcome) (?:that|this|it|you to)\b/,
  /^(?:and |so |yes |then |please )*(?:i|we) (?:do |really |still |would )*(?:want|wish|like|choose|agree|am (?:ready|happy|willing)|are (?:ready|happy|willing)) to (?:proceed|go ahead|continue|do (?:it|that|this|so)|go (?:on|through)(?: with (?:it|that|this))?)$/,
  /^(?:please |kindly |just )*do (?:the needful|your (?:thing|magic|worst)|what (?:you (?:must|have to)|is (?:needed|necessary)|(?:has|needs) to be done))$/,
  /^(?:i have |there are |we have )?no (?:objections?|complaints?|reason not to|changes)(?: (?:from|on) (?:me|my side))?$/,
  /^why not$/,
  /^(?:yes )?(?:i am|we are) (?:very |quite |absolutely |completely |totally )?(?:sure|certain|positive)$/,
  /^(?:(?:that|this|it) )?(?:is |sounds? |looks? )(?:like )?(?:a )?(?:very |really )?(?:good |great |fine |perfect |excellent |solid )?(?:plan|idea|deal|solution)(?: to me)?$/,
  /^(?:good|great|fine|excellent|perfect) (?:plan|idea|solution)$/,
  new RegExp(
    `^(?:and |so |then |please |now )*you (?:may|can|could)(?: now| please| just)* (?:${deeds})(?: (?:it|that|this|them))?$`,
  ),
];
/** Matches a clause that orders something: "please cancel the lamp". */
const imperative = new RegExp(
  `^(?:and |so |then |please |just |kindly |now |also |go ahead and |i want you to |i would like you to )*(?:${deeds})\\b`,
);
/** Matches a clause of nothing but polite words: "thank you so much", "no worries". */
const courtesy =
  /^(?:(?:and|so|then|oh|well|yes|many|please|very|much|hi|hello|thanks|thank you|cheers|ta|appreciated?|appreciate (?:it|that|your \w+)|i appreciate (?:it|that)|so much|a lot|again|in advance|for (?:checking|asking|your (?:help|patience)|the help|that)|no (?:problem|worries)|(?:not )?a problem|no problem at all|take your time|you are (?:great|a star|the best)|that is (?:kind|great|nice|lovely)(?: of you)?|bye|sorry|mate|sir|madam|i see|understood|got it|noted|i understand)[ .!]*)+$/;

/** Excludes clauses that do not name a part of the proposal: "nothing is fine". */
const noPart =
  '(?!(?:nothing|none|neither|what|if|when|which|who|everything but|i|you|we|he|she|they|there|anything|something)\\b)';
const day =
  '(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|morning|afternoon|evening|\\d+(?:st|nd|rd|th)?|week|weekend|one)';
/** Matches the approval of a part of the proposal, which approves all of it: "Friday is fine". */
const partApproved = new RegExp(
  `^(?:and |so |then |ok |okay )*${noPart}(?:[\\w'-]+ ){0,4}(?:[\\w'-]+ (?:is|are|sounds?|looks?|will be|would be)${fully} (?:right|correct|fine|perfect|ok|okay|alright|all right|acceptable|confirmed|ideal)|[\\w'-]+ (?:works?${fully} (?:for|with) me|suits? me)|${day} (?:works?|will do)${fully})(?: (?:with|for|by|to) me| then| too| please| now| thanks| thank you)*$`,
);

/**
 * The meaning of a clause as an answer. `yes` is a word such as "yes"; `consent` agrees to the proposal as a whole;
 * `weak` is a yes only if nothing else comes with it; `deed` is an order; `courtesy` is only polite.
 */
export type Answer = 'yes' | 'consent' | 'weak' | 'deed' | 'courtesy' | 'other';

/**
 * Returns the meaning of one clause of a user as an answer. Denials and reservations are recognised elsewhere (see
 * `isDenial` and `recogniseUser`).
 */
export function answerOf(clause: string): Answer {
  if (consents.some((pattern) => pattern.test(clause))) return 'consent';
  if (yesClause.test(clause)) return 'yes';
  if (adverbClause.test(clause)) {
    const after = clause.replace(adverbClause, '');
    if (after === '' || answerOf(after) !== 'other' || /^(?:i (?:do|am|would|want)|with|for|to)\b/.test(after))
      return 'yes';
  }
  if (weakClause.test(clause) || partApproved.test(clause)) return 'weak';
  const rest = clause.replace(new RegExp(`^(?:${weakWords})[ .!]+`), '');
  if (rest !== clause && consents.some((pattern) => pattern.test(rest))) return 'consent';
  if (imperative.test(clause) || imperative.test(rest)) return 'deed';
  if (courtesy.test(clause)) return 'courtesy';
  if (yesAtEnd.test(clause) && !/\b(?:said|says|say|told|answer|answered|typed|press|pressed|a|was)\b/.test(clause))
    return 'yes';
  return 'other';
}
