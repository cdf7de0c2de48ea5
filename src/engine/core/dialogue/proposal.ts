import { plain, type Sentence, sentencesOf } from '../text/text.ts';
import { memo } from '../values/memo.ts';
import { isConfirmRequest } from './confirmRequest.ts';
import { isDeed } from './consent.ts';
import { isMisunderstanding } from './misunderstanding.ts';
import { isOffer } from './offer.ts';
import { isSenseless } from './sense.ts';
import { invitesVerdict } from './verdict.ts';

/** Sentences that wait for a go-ahead: "Just say the word", "I need your approval". */
const goAheads = [
  String.raw`\b(?:give me|i need|with|waiting for|await) (?:the |a |your )?(?:go.?ahead|green light|thumbs up|nod|ok(?:ay)?|approval)\b`,
  String.raw`\b(?:say|give me) the word\b`,
  String.raw`\bone (?:yes|word|nod) and\b`,
  String.raw`\b(?:state|say|indicate) (?:whether|if) you (?:agree|accept|consent|approve|do)\b`,
  String.raw`\bready (?:for me )?to (?:start|go|proceed|begin)\b`,
  String.raw`\btell me to (?:go ahead|proceed|go on|do (?:it|so|that))\b`,
  String.raw`\ba (?:yes|nod|go.?ahead) from you\b`,
  '^(?:(?:it is |that is )?your call|over to you|up to you)(?: now)?$',
  String.raw`\b(?:if|as soon as|once) you (?:are (?:happy|ok|okay|fine) with|agree|approve|give me the go)\b`,
];
/** Conditions before what the agent would do: "If you like, I can cancel it". */
const conditions = [
  'you (?:would )?(?:like|want|wish|prefer)',
  String.raw`(?:that|this|it|everything|all|all of (?:this|that)) (?:is|sounds|looks|seems|works|suits)(?: \w+)? (?:ok|okay|fine|good|right|correct|you|for you)(?: (?:to|for|with) you)?`,
  'so',
];
/** The conditions after what the agent would do: "I can cancel it, if you like". */
const conditionsBehind = [
  'you (?:would )?(?:like|want|wish|prefer)(?: (?:me to|that|it|so))?',
  String.raw`you (?:agree|say (?:so|yes|the word)|confirm|approve|give me (?:your|the) [\w -]+|are (?:ok|okay|happy|fine))(?: with (?:that|this|it))?`,
  String.raw`that (?:is|sounds|works|suits)[\w ]{0,25}`,
];
/** Verbs after "shall I" for acts that change nothing: "Shall I suggest another?" */
const noDeeds = [
  String.raw`have(?! (?!you\b)[^,.?]*\b(?:\w{2,}ed|sent|put|brought|redone)\b)`,
  'get|ask|know|take your|see your|trouble|help|assist|be of|request|put you|place you',
  'suggest|remind|recommend|explain|point out|add that|say',
];
/** Words for the whole of what the agent described: "Is the above correct?" */
const matters = [
  'that',
  'this',
  'it',
  'these',
  'those',
  'everything',
  'my (?:understanding|summary|assumption|reading)',
  'all (?:of )?(?:this|that|these|the (?:details|above))',
  'the (?:above|following|details|information|plan|summary)',
];
/** Words that ask whether it is right: "Is that what you wanted?" */
const rightness = [
  'correct',
  String.raw`right(?! (?:here|now|away|after)\b)`,
  'ok|okay|fine|good|alright|all right|accurate|acceptable|agreeable|great|work|suit',
  'what you (?:want|wanted|meant|need)',
  'your (?:wish|intention)',
];
/** Verdicts that the agent asks the user to report: "Let me know if that works". */
const verdicts = [
  'i (?:should|may|can|shall)',
  'you (?:would like|want|wish|are (?:ok|okay|happy)|agree|confirm|approve)',
  '(?:this|that|it) is (?:ok|okay|correct|right|fine|good)',
  'that works',
  '(?:to|you want to) proceed',
];
/** Questions that ask the user to make sure: "Are you sure?", "Am I right?" */
const checks = [
  'are you (?:(?:absolutely|really|quite|completely|still) )?(?:sure|certain|positive)',
  'am i (?:right|correct)',
  'is it (?:ok|okay|fine|alright|all right) (?:if|to|for)',
  'you (?:would like|want) me to .*,? (?:right|correct|yes)$',
  'how does (?:that|this) sound',
];

/** Sentences that ask for a yes, even without a question mark: "Shall I go ahead", "Would you like me to cancel it". */
const proposals: readonly RegExp[] = [
  /^(?:so |then |and |ok |okay |well )*(?:shall|should|may|can) (?:i|we)(?: then| now| please| do so)?$/,
  /\b(?:do|would) you (?:still |really )?(?:want|like) (?:that|this|it|one)(?: done| then| to happen| changed| cancelled| sent| booked)?$|^want (?:that|this|it|one)(?: then)?$/,
  new RegExp(goAheads.join('|')),
  /\b(?:did i|have i|do i have) (?:get|got|understood?|all) (?:that|this|it|you|everything)?(?: all)? ?(?:right|correct(?:ly)?)\b/,
  new RegExp(
    String.raw`\bif (?:${conditions.join('|')})\b,? (?:then )?(?:i|we) (?:can|could|will|would) (?!(?:not|need)\b)`,
  ),
  new RegExp(
    String.raw`\b(?:i|we) (?:can|could|will|would) (?!(?:not|no longer|only|need)\b)[^?]*,? if (?:${conditionsBehind.join('|')})$`,
  ),
  new RegExp(
    String.raw`\b(?:shall|should|may|might) (?:i|we) (?!(?:please |also |just |quickly )*(?:${noDeeds.join('|')})\b)`,
  ),
  /\b(?:can|could) (?:i|we) (?:go ahead|proceed|continue|confirm|(?!(?:help|ask|get|have|see|know)\b)\w+ (?:that|this|it)$|cancel|change|move|book|update|return|refund|exchange|process|send|redirect|reschedule|report)\b/,
  /\b(?:do|would) you (?:still |really )?(?:want|like|wish|prefer)(?: for)? (?:me|us) to$|^(?:want|like) (?:me|us) to$/,
  /\b(?:do|would) you (?:still |really )?(?:want|like|wish)(?: to have)? (?:me to do )?(?:the|this|that|an?|your) (?:[\w-]+ ){0,2}(?:change|swap|switch|exchange|return|refund|cancellation|booking|transfer|redirection|update)\b(?! (?:code|policy|form|number|date|window|rules?)\b)/,
  /\b(?:do|would) you (?:still |really )?(?:like|want|wish)(?: to have)? [\w ,]{1,40} (?:sent|changed|cancell?ed|returned|exchanged|swapped|refunded|redirected|moved|charged|booked|delivered|updated|handed)\b/,
  /\b(?:once|as soon as|when|after) you (?:say (?:so|yes|the word)|agree|confirm|approve|give me (?:your|the|a) [\w -]+|have (?:said yes|agreed|confirmed))\b,? (?:then )?(?:i|we) (?!(?:cannot|need)\b)/,
  /\b(?:do|would|did|are) you (?:still |really |also )?(?:want|like|wish|prefer|okay with|ok with|fine with|comfortable with|happy with|happy for|ready for)(?: for)? (?:me|us) to (?!(?:help|assist)\b)/,
  /\b(?:do|would) you (?:still |really )?(?:want|like|wish) to (?:proceed|go ahead|continue|confirm|move forward|go (?:on|through) with|do (?:this|that|it))\b/,
  /\bwant (?:me|us) to (?!(?:help|assist)\b)/,
  new RegExp(
    String.raw`\b(?:is|are|would|will|does|do) (?:${matters.join('|')})(?: information| details| plan| change| changes| all| everything| be| sound| look| seem)*(?: \w+ly)? (?:${rightness.join('|')})\b`,
  ),
  /\b(?:does|do|would) (?:that|this|it|these) (?:work|suit|sound|look|seem)\b/,
  /\b(?:is (?:that|this|it)|would (?:that|this|it) be) (?:something|what|an option|the (?:one|option)) (?:that )?you (?:would )?(?:really |actually )?(?:want|like|prefer|consider|accept|be (?:interested|happy|ok|okay|fine)|are (?:after|looking for|happy with))/,
  /\b(?:do we have|is (?:it|that)) a deal\b|\bare we (?:all )?(?:agreed|set|ok|okay|on the same page)\b|\bwhat do you (?:say|think)(?: about (?:that|it|this))?$/,
  /\bwould you be (?:happy|ok|okay|fine|willing|open|interested|comfortable|satisfied|content|up) (?:with|to|for|in|if)\b/,
  /\bwould (?:it|that) (?:help|suit you|work|be (?:ok|okay|fine|better|possible|alright|all right|acceptable|good|helpful|useful))(?: (?:for )?you)? if (?:i|we)\b/,
  /\b(?:how about|what if|why do not|suppose) (?:i|we) (?!(?:have|get|ask|know)\b)|\b(?:do|would) you mind if (?:i|we) (?!ask)|^mind if (?:i|we) (?!ask)|\bany objections? (?:to|if)\b/,
  /\b(?:take|count|read) (?:that|this|it) as (?:a |an |your )?(?:yes|go.?ahead|confirmation|ok|okay)\b/,
  /(?:\(|\b)(?:yes ?(?:\/|or) ?no|y ?\/ ?n)\b/,
  /(?<!\b(?:i|we) (?:\w+ )?(?:could|can|cannot|would|might|will|had to|have to) (?:only |just |simply )?)\b(?:say|reply|answer|respond|type|write|tell me|enter|press|just|with|a clear|an explicit) (?:with )?(?:a )?(?:clear |simple |explicit )?["'(]?yes\b(?! ?,? (?:i|we) )/,
  /\b(?:reply|answer|respond|type|write|enter)(?: back)?(?: with)? ["'(]?(?:confirm|ok|okay|agree|go ahead|proceed|accept|continue)\b/,
  /\b(?:ok|okay|good|ready|fine|happy|alright|safe|all right) (?:for (?:me|us) )?(?:to|if i) (?:proceed|go ahead|go|continue|do (?:this|that|it)|cancel|change|book|process|make)\b/,
  /\b(?:ok|okay|fine|good|alright|all right|acceptable|agreeable) (?:with|for|by) you\b/,
  /\bare you (?:(?:all|still|really) )?(?:ok|okay|fine|happy|comfortable|good|alright|all right|satisfied|in agreement) with (?:that|this|it|these|those|the|me)\b/,
  /\b(?:do|would|can|could|will) you (?:please |kindly )?(?:agree|accept|approve|authori[sz]e|consent)\b/,
  /\b(?:may|can|could|do) (?:i|we) have your (?:ok(?:ay)?|approval|permission|consent|confirmation|authori[sz]ation|agreement|go-ahead|go ahead)\b/,
  /\b(?:need|require|await|awaiting|waiting for|wait for|with|for|give me|have)(?: now)?(?: is)? your (?:explicit |final |clear )?(?:ok(?:ay)?|approval|permission|consent|confirmation|authori[sz]ation|agreement|go-ahead|go ahead|yes)\b/,
  new RegExp(String.raw`\b(?:let me know|tell me|(?:just|please) say) (?:if|whether) (?:${verdicts.join('|')})\b`),
  new RegExp(String.raw`\b(?:${checks.join('|')})\b`),
];
/** Verbs after "can I" for acts that change nothing: "Can I have the number?" */
const inquiries = [
  'please|help|assist|have|get|ask|know|see|offer|do (?:for|else|anything)|be|interest|tempt|check|verify|trouble',
  'speak|talk|suggest|take (?:your|a)|look|find|start with|begin with|quickly|just',
];
/** Short questions about everything that the agent described: "How about that?", "Still on board?" */
const shortQuestions = [
  'how about (?:it|that|this)',
  '(?:still |are you (?:still )?)?on board',
  'do (?:i|we) (?:do|go|proceed|book|send|start|change|cancel|take|make)(?: (?:it|that|this|so|ahead|on|then))*',
  'would you (?:take|accept|have) (?:it|that|this|that one)',
  'and this (?:one|too)(?: too| as well)?',
  'this one too',
];
/** Short questions of that kind without a verb or a subject: "Sounds good?", "All correct?" */
const fragments = [
  '(?:(?:does )?(?:that|this|it|all) )?(?:sounds?|looks?|seems?|works?|suits?)(?: all)?(?: (?:ok|okay|good|right|correct|fine|alright|all right|great))?(?: (?:to|for|with) you| you)?',
  'ok(?:ay)?',
  'yes',
  'y',
  'so',
  'and',
  'right',
  'correct',
  'proceed',
  'confirm(?:ed)?',
  'agreed?',
  'go ahead',
  'deal',
  'alright',
  'all good',
  'sounds good',
  'looks? (?:good|right|ok|okay|fine)',
  '(?:all|everything|is everything|this|that|it|details) (?:right|correct|fine|ok|okay|good|clear|in order|accurate)(?: like (?:this|that)| so far| now| for you)?',
  'good to go',
  String.raw`happy (?:with|for) (?:that|this|it|me to [\w ]+)`,
  'any objections?',
  'objections',
  'no objections',
  'are we good',
  'fine by you',
  'is this (?:it|what you want(?:ed)?)',
  'interested',
  'shall (?:i|we)',
];
/** Starts of sentences that end with "right?": "You want a refund, right?", "I will cancel it, ok?" */
const intentions = [
  'you (?:would (?:like|prefer|rather)|want|wish|prefer|need|are (?:asking|requesting|looking)|asked)',
  '(?:i|we) (?:will|would|should|am going to|are going to|am about to|can)',
];
/** Verbs for what a user can want to do: "Would you like to cancel?" */
const deeds =
  'cancel|return|exchange|swap|reschedule|redirect|report|rebook|book|claim|reorder|upgrade|postpone|have (?:it|them|this|that|the [\\w ]+) (?:\\w+ed|sent|redone)';
/** Wordings that ask for a yes only in a question: "Can I cancel it?", "You want a refund, right?" */
const askedProposals: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:can|could|may) (?:i|we) (?:then |now |also )*(?!(?:${inquiries.join('|')})\b)[a-z]+ (?:that|this|it|these|them|him|her|the|your|both|all|an?)\b`,
  ),
  /^(?:(?:so|and|then|now) )*(?:do|am) (?:i|we) (?:to )?(?!(?:have|need|get|see|understand|know|hear|speak|talk|take it|read|think|look|sound)\b)[a-z]+ (?:that|this|it|these|them|him|her|the|your|both|all|an?)\b/,
  /\b(?:do|would) you (?:still |really )?(?:want|like) (?:them|it|him|her|these|those|both|all|that|this) (?:\w+ed|sent|put|paid|made|set|done|redone)(?: \w+)?$|\b(?:press|carry|go|move) on$/,
  new RegExp(`^(?:(?:so|and|then|now|shall we) )*(?:${shortQuestions.join('|')})$`),
  /^(?:(?:so|and|then|now|ok|okay|shall we) )*(?!(?:is|are|was|were|do|does|did|have|has|had|can|could|will|would|want|need|got|get|what|which|any|does)\b)[a-z]{3,} (?:it|that|this|them)(?: now| then| at once)?$/,
  new RegExp(
    `\\b(?:do|would) you (?:still |really |then |actually )*(?:want|like|wish) to (?:${deeds})\\b(?!.*\\bor\\b)`,
  ),
  /^(?:so |ok |okay |just |and )*(?:confirming|double.?checking|checking|to be (?:clear|sure|safe)|to recap|recap|to sum up)[,:] (?!.*\b(?:what|which|where|when|who|how|why)\b)/,
  /^(?:so |and |then |ok )*(?:is|are|would|will|does|do) (?!(?:you|i|we|there|your|it|that|this|any|all)\b)(?:[\w'-]+ ){1,6}(?:be )?(?:ok|okay|fine|alright|all right|acceptable|work|suit|do|convenient)(?: (?:for|with|by) you| you)?(?: then| instead)?$/,
  /\b(?:should|shall|is to|are to) (?:it |this |that |the \w+ |\w+ )?(?:now |then )?(?:be \w+ed|be sent|be put|go|come|arrive|move)\b(?!.*\bor\b)/,
  new RegExp(
    String.raw`\b(?:${intentions.join('|')}) .*[ ,-](?:right|correct|yes|ok|okay|alright|all right|agreed|is (?:that|this|it) (?:so|it))$`,
  ),
  /^(?!.*\b(?:your|the) [\w ]+ (?:is|are|was|were)\b).*[^,], (?:right|correct|yes|ok|okay|agreed)$/,
  /\b(?:go ahead|proceed|continue)(?: with (?:it|that|this|the [\w ]+|your [\w ]+))?$/,
  /^(?:and|then|now|so)\b(?!.*\b(?:what|which|where|when|who|how|why|your|or)\b).*\b(?:refunded|charged|paid|sent|shipped|delivered|returned|exchanged|changed)(?: back)? (?:to|for|with|on)\b/,
  new RegExp(`^(?:${fragments.join('|')})(?: with (?:that|this|it)| then| or not| to (?:proceed|go ahead))?$`),
];
/**
 * Matches the start of an open question, in which a wording above does not ask for a yes: "Where should we send it?"
 */
const openQuestion = /(?:^|[ ,:-])(?:what|which|where|when|who|whose|how|why)\b[^,:;-]*$/;

/** Reports whether an utterance asks for a yes to what the agent is about to do. */
export const proposesIn: (text: string) => boolean = memo(asksForAYes);

function asksForAYes(text: string): boolean {
  return !isSenseless(text) && sentencesOf(plain(text)).some((sentence) => isProposalSentence(sentence));
}

/** Reports whether a sentence asks for a yes: "Shall I cancel it?" */
export function isProposalSentence({ text, question }: Sentence): boolean {
  if (isOffer(text, question) || isMisunderstanding(text)) return false;
  if (proposals.some((pattern) => asksForYes(pattern.exec(text)))) return true;
  if (question && askedProposals.some((pattern) => asksForYes(pattern.exec(text)))) return true;
  if (question && isDeed.test(text)) return true;
  if (invitesVerdict({ text, question })) return true;
  return isConfirmRequest(text, question);
}

/** Reports whether a wording was found, and not in an open question. */
function asksForYes(match: RegExpExecArray | null): boolean {
  if (!match) return false;
  return !openQuestion.test(match.input.slice(0, match.index)) || /^how does/.test(match[0]);
}
