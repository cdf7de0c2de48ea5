import { memo } from './memo.ts';
import { plain, sentencesOf } from './text.ts';

/** What a user's utterance does. */
export type UserActs = {
  /** A clear yes to what was proposed: not one with conditions, changes or open questions. */
  readonly confirms: boolean;
  readonly denies: boolean;
  /** Asks for something other than what was said before. */
  readonly changes: boolean;
  readonly asks: boolean;
  /** Says that nothing is left: "no, that is all", "thanks, bye". */
  readonly closes: boolean;
  readonly thanks: boolean;
};

const softener =
  '(?:(?:hi|hello|oh|ah|well|um+|uh+|hm+|so|and|please|thanks|thank you(?: so much| very much)?|great|perfect|cool|awesome|good|excellent|wonderful|fantastic|lovely)[ ,.!-]*)*';
const yesWord =
  'yes+|yeah+|yea|yep|yup|yah|ya|aye|y|sure(?: thing)?|correct|absolutely|definitely|certainly|affirmative|of course|by all means|agreed|approved|confirm(?:ed)?';
/** Words that are a yes only when nothing but another yes or thanks comes with them: "good", but not "good morning". */
const weakYes =
  '(?:ok(?:ay)?|okey|k|right|exactly|indeed|alright|all right|fine|very well|perfect|great|good|all good|totally|precisely|please|excellent|wonderful|awesome|cool|lovely)';
const consent =
  "go(?: right| on)? ahead|go for it|please do|do (?:it|that|this|so)(?: please)?$|do (?:it|that|this|so) (?:now|for me|please)|proceed|carry on|continue|(?:i|we) (?:do |can |hereby |fully )?(?:confirm|agree|approve|accept|consent)|(?:that|this|it|everything|all(?: of (?:it|that))?)(?: all)?(?: is| are|'s|s)?(?: all| just| exactly| perfectly| totally| absolutely)? (?:right|correct|fine|good|great|perfect|ok|okay|it|what i (?:want|wanted|need))|(?:that|this|it|everything|all)? ?(?:sounds?|looks?|seems?)(?: all)? (?:good|great|right|correct|fine|perfect|ok|okay)|(?:that|this|it) (?:works|will do|would be (?:great|good|fine|perfect|lovely|nice))|works for me|fine by me|fine with me|good to go|let us (?:do (?:it|that)|go|proceed)|make it so|you (?:have|got) my (?:ok|okay|approval|permission|consent|confirmation)|you (?:may|can) (?:go ahead|proceed|do (?:it|that|so)|continue)|(?:yes|ok|okay|alright|sure),? (?:please )?(?:cancel|change|redirect|return|exchange|update|book|send|hold|refund|modify|deliver|reschedule|process|complete)|i am (?:happy|fine|ok|okay|good) with (?:that|this|it)|i would like that|no (?:problem|worries|objections?|changes)";

const onlyWeakYes = new RegExp(
  `^(?:${weakYes}[ ,.!]*)+(?:(?:thanks|thank you|cheers)(?: (?:so|very) much)?[ ,.!]*)?(?:then|by me|with me|for me|you can|please)?[ ,.!]*$`,
);
const yesStart = new RegExp(`^${softener}(?:${yesWord})(?=$|[ ,.!:-])`);
const consents = new RegExp(
  `(?:^|[ ,.!-])(?:${consent}|i (?:already |just )?said yes|so yes|yes,? please)(?=$|[ ,.!?-])`,
);
const strongConsent =
  /\b(?:go (?:right )?ahead|please do|proceed|(?:i|we) (?:confirm|agree|approve)|yes please|do it|go for it|yes,? (?:that|this) is (?:right|correct|fine)|yes,? please)\b/;

const reserve =
  /\b(?:but|however|except|instead|actually|wait|hold on|hang on|not yet|rather|although|unless|only if|as long as|provided that|on second thoughts?|changed my mind|one (?:more )?(?:thing|question|moment|sec|second)|if (?!you (?:could|would|can|do not mind|like)|possible)|provided|assuming|once (?:you|i|we|it|that)|before (?:you|we|i|that|doing)|not sure|unsure|maybe|perhaps|let me think|i meant|scratch that|never ?mind|other than|apart from|prefer|hmm+)\b/;
const negation =
  /\b(?:no|nope|nah|not|never|do not|cannot|will not|would not|should not|did not|stop|wrong|incorrect|disagree|refuse|decline|neither|none)\b/;
const harmlessNegation =
  /\b(?:no (?:problem|worries|objections?|changes|need to change)|why not|nothing (?:else|more|to (?:add|change))|no(?:thing)?,? that is (?:all|everything|it)|no other changes|not a problem|do not worry|no doubt|cannot wait|no further (?:changes|questions)|no longer|do not mind|not mind)\b/g;
const noStart =
  /^(?:(?:oh|ah|well|um+|uh+|hm+|sorry|i am sorry|thanks|thank you|actually|wait)[ ,.!-]*)*(?:no+(?! longer)|nope|nah|negative|not (?:yet|now|really|quite|at all|exactly|correct|right|that)|no way|never(?! ?mind the)|wrong|incorrect|(?:absolutely|definitely|certainly|of course|probably|preferably|rather|please) not)(?=$|[ ,.!?-])/;
const denial =
  /\b(?:do not (?:do|go|proceed|cancel|change|continue|want|confirm|agree|touch|make|send|return|book|redirect|exchange)|i (?:disagree|decline|refuse|would rather not|am not (?:ok|okay|happy|fine))|(?:that|this|it) is (?:not|wrong|incorrect|all wrong)|(?:that|this|it) (?:does not|will not|would not) (?:work|suit|do)|not what i (?:want|wanted|asked|said|meant)|stop|hold off|forget it|never ?mind|leave it|not yet|please do not)\b/;

const changeMarker =
  /\b(?:instead|on second thoughts?|(?:have )?changed my mind|i meant|scratch that|i would (?:prefer|rather (?!not))|i prefer|make (?:it|that) (?!so\b|quick|fast|happen)|change (?:it|that|this) to|switch (?:it |that )?(?:to|over)|correction|let us (?:make|change|switch|go with|use|do) (?!it\b|that\b|this\b)|rather (?:than|have|use|do|go|get)|not (?:the )?[\w-]+,? but|a different|another one|can (?:we|you|i) (?:make|change|switch) (?:it|that|this))\b/;
const butChange =
  /\b(?:but|however|except|only)\b.*\b(?:change|use|make|want|need|with|to|instead|different|other|can you|could you|please|send|should|add|remove|keep|it is|not)\b/;
const actuallyChange =
  /\b(?:actually|wait|hold on|never ?mind|sorry|oh)\b[ ,.!-]+(?:no[ ,.]+)?(?:i|can|could|make|change|use|the|my|let us|please|send|do|it|we|that)\b(?! (?:do not (?:know|understand|have)|not (?:sure|know)|am not sure))/;
const questionStart =
  /^(?:(?:ok(?:ay)?|and|so|but|wait|hi|hello|hey|sorry|yes|no|well|also|oh|um|thanks|thank you)[ ,.-]+)*(?:what|which|where|when|why|who|whose|how|is|are|was|were|do|does|did|can|could|will|would|should|shall|may|have|has)\b/;
const tagQuestion =
  /^(?:and |so |then )?(?:(?:can|could|will|would) you (?:please |just |kindly )*(?:do (?:it|that|this|so)|go ahead|proceed|process (?:it|that|this))|why not\b.*|ok(?:ay)?|right|please|yes|sure)\b/;

/** The dialogue acts of a user's utterance. */
export const recogniseUser: (text: string) => UserActs = memo(userActsOf);

function userActsOf(text: string): UserActs {
  const all = plain(text);
  const sentences = sentencesOf(all);
  const bare = sentences.map((sentence) => sentence.text).join('. ');
  const thanks = /\b(?:thanks|thank you|thx|cheers|ta|appreciate)\b/.test(bare);
  const closes = isClosing(bare);
  const questions = sentences.filter((sentence) => isQuestion(sentence.text, sentence.question));
  const asks = questions.length > 0;
  const saysNo = noStart.test(bare) || denial.test(bare);
  const harmless = bare.replace(harmlessNegation, ' ');
  const denies = saysNo && !saysYesDespite(bare, harmless);
  const changes = isChange(bare, denies);
  const confirms =
    !denies &&
    !changes &&
    !closes &&
    isYes(
      bare,
      harmless,
      questions.map((each) => each.text),
    );
  return { confirms, denies, changes, asks, closes, thanks };
}

function isYes(bare: string, harmless: string, questions: readonly string[]): boolean {
  if (bare === '' && questions.length === 0) return false;
  if (!startsWithYes(bare) && !consents.test(bare) && !onlyWeakYes.test(bare)) return false;
  if (reserve.test(harmless) || negation.test(harmless)) return false;
  const open = questions.filter(
    (question) => !tagQuestion.test(question.replace(yesStart, '').replace(/^[ ,.-]+/, '')) && question !== '',
  );
  if (open.length === 0) return true;
  return strongConsent.test(bare) && open.every((question) => !yesStart.test(question));
}

function saysYesDespite(bare: string, harmless: string): boolean {
  return !noStart.test(harmless.trim()) && !denial.test(harmless) && (startsWithYes(bare) || consents.test(bare));
}

function startsWithYes(bare: string): boolean {
  return bare.split('. ').some((sentence) => yesStart.test(sentence));
}

function isChange(bare: string, denies: boolean): boolean {
  if (changeMarker.test(bare)) return true;
  if (/^(?:yes|yeah|yep|sure|ok(?:ay)?|right|correct|fine|great|perfect)\b/.test(bare) && butChange.test(bare))
    return true;
  if (actuallyChange.test(bare)) return true;
  const rest = bare.replace(noStart, '').replace(/^[ ,.!-]+/, '');
  return (
    denies &&
    noStart.test(bare) &&
    /^(?:i (?:want|need|would like|said|asked|mean)|use|it (?:is|should)|the\b|my\b|please (?!do not|stop|leave)|send|to\b|take|only\b)/.test(
      rest,
    )
  );
}

function isClosing(bare: string): boolean {
  if (
    /\b(?:that is|that will be|that would be|that was) (?:all|everything|it for)\b|\bnothing (?:else|more|further)\b|\b(?:good ?bye|bye|have a (?:nice|good|great|lovely) (?:day|one|evening|weekend))\b|\b(?:i am|we are) (?:all )?(?:good|done|set)\b(?! (?:to|with))/.test(
      bare,
    )
  )
    return (
      !/\b(?:go ahead|proceed)\b/.test(bare) &&
      !/^(?:yes|yeah|yep|correct)\b.*\b(?:that is (?:all|everything)) (?:correct|right|fine)/.test(bare)
    );
  return /^(?:(?:ok(?:ay)?|great|perfect|all right|alright|no|super|cool)[ ,.!]*)*(?:many )?(?:thanks|thank you)(?: (?:so much|very much|a lot|again|for [^.]*))?$/.test(
    bare,
  );
}

function isQuestion(text: string, marked: boolean): boolean {
  if (marked) return true;
  return (
    questionStart.test(text) &&
    !/^why not\b/.test(text) &&
    !/^(?:[a-z]+[ ,.-]+)*?do (?:it|that|this|so|not)\b/.test(text) &&
    text.split(' ').length > 2
  );
}
