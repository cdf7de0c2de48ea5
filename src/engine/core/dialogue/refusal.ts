/**
 * Matches a no that denies something. Before a noun, "no" is a determiner and denies nothing: "no parcel number was in
 * the mail".
 */
const noWord =
  '(?:no+|nope|nah|nay)(?=$|[ ]?[,.!?;:-]| (?:thanks?|thank|way|sorry|please|sir|madam|i|it|that|this|you|we|he|she|they|the|my|your|not|do|never|stop|wait|actually|chance|deal|need|leave|keep|cancel|send|use|make|change|can|could|just|cheers|bro|mate|absolutely|definitely|really|because|but|and|hold|forget|go|let|only|to|in|on|for|at|a|an|there|is|are|was|all|what|if|then|again|ta|of course|go|put|bring|take|return|refund|book|maybe|those|these|both|sure)\\b)';
/** Words before an opening no: "oh sorry, no". */
const opening =
  '^(?:(?:oh|ah|well|um+|uh+|hm+|sorry|i am sorry|thanks|thank you|actually|wait|ok|okay|so|and|hi|hey|honestly|again|i said|my answer is|the answer is|that is a|it is a|hard|big|clear)[ ,.!-]*)*';
/** Matches a text that opens with a no: "No thanks", "not yet", "no way". */
const noStart = new RegExp(
  `${opening}(?:${noWord}|negative|not (?:yet|now|(?:really|quite)(?! (?:sure|certain|clear|following|getting|understanding))|at all|exactly|correct|right|that|like (?:that|this)|happening|interested|going to happen|a chance|agreed|acceptable|approved|ok(?:ay)?|good|fine|today|anymore|in (?:a million|my))\\b|no way|never(?! ?mind (?:the|that)\\b)(?=$|[ ,.!]*(?:$|mind|ever|in))|wrong\\b|incorrect\\b|unacceptable\\b|nothing doing|(?:absolutely|definitely|certainly|of course|probably|preferably|rather|please|hell|heck|surely|better|hopefully) (?:not|no)\\b|pass$)`,
);
/** Matches phrases with "no" that deny nothing: "no idea", "no problem". */
const ignorance =
  /\bno (?:idea|clue|notion|worries|problem|objections?|doubt|rush|hurry|longer|(?:way|turning|going) back|return|matter|changes|hard feelings)\b/;
/** Verbs of agreement after a negation: "I do not agree". */
const agreement =
  '(?:agree|approve|accept|consent|confirm|authori[sz]e|want (?:that|this|it|you|to|any)|wish|like (?:that|this)$|said? yes)';
/** Words that forbid the verb after them: "please do not send it". */
const doNot =
  '(?:do not|never(?= (?:do|cancel|change|send|return|book|charge|move|use|touch|try|call|ring|write|exchange|refund|pay|close|delete|let|give|take|make|put|mention|ask|tell|ever)\\b)|please not|must not|should not|are not to|better not)(?: you)?(?: dare| even| ever| please| actually)*';
/** Verbs after "do not" that forbid nothing: "don't worry". */
const harmlessVerbs =
  'worry|mind|know|have|understand|hesitate|see|think|remember|recall|need|use|wear|forget|care|own|get|feel|receive|live|trust|believe|find|bother';
/** Wordings that say no anywhere in a clause: "please don't cancel it", "leave it as it is", "that won't work". */
const denials: readonly RegExp[] = [
  new RegExp(`^(?:and |so |then |please |but |just |no |ok |i said )*${doNot} (?!(?:${harmlessVerbs})\\b)\\w+`),
  new RegExp(`\\bplease ${doNot}(?: (?!(?:${harmlessVerbs})\\b)\\w+|$)`),
  new RegExp(`\\b(?:i|we) (?:\\w+ )?(?:do|did|will|would|can|could|have|am|are)(?: ?not) (?:\\w+ )?${agreement}`),
  /\b(?:i|we) (?:do not|would not) (?:really |actually )?want(?! to (?:lose|be charged|pay))/,
  /\b(?:i|we) never (?:agreed|approved|accepted|confirmed|said yes|consented|wanted (?:that|this|it)|asked for (?:that|this|it)|(?:said|asked|wanted|told you) (?:that |you )?(?:i|we|to|for)\b)/,
  /\b(?:i|we) have not (?:\w+ )?(?:agreed|approved|accepted|confirmed|said yes|consented|authori[sz]ed)/,
  /\b(?:i|we)(?: \w+)? (?:disagree|decline|refuse|object|reject|am against|am opposed|oppose|would rather not|would prefer not|prefer not|will pass|will not|am not (?:ok|okay|happy|fine|interested|going to|agreeing|comfortable|paying|doing|having))\b(?! (?:be (?:home|in|there|at)|need|have|mind))/,
  /\b(?:i|we) would (?:rather|prefer) (?:you |if you |that you )(?:did|do|would|could|will) not\b/,
  /\byou do not have my (?:ok|okay|approval|permission|consent|confirmation|go ahead|go-ahead|blessing|word|yes)\b/,
  /\b(?:that|this|it|these|those|which) (?:is|are) (?:(?:the|a) wrong\b|not\b(?! (?:a problem|needed|necessary|far|urgent|important|bad|expensive|an issue|as (?:if|though)|like (?:it|i|we)|surprising|cheap|the end|much))|wrong|incorrect|all wrong|unacceptable|no good|a no\b|out of the question)/,
  /\b(?:that|this|it) (?:does not|will not|would not|cannot) (?:work|suit|do$|sound (?:right|good)|look (?:right|good))/,
  /\bnot what i (?:want|wanted|asked|said|meant|need|needed|ordered|had in mind)\b/,
  /\b(?:under no circumstances?|on no account|in no way|by no means|out of the question|over my dead body|not (?:a|in a million) (?:chance|years)|no deal)\b/,
  /^(?:and |so |please |just |no |ok |wait )*(?:stop(?! (?:by|over))|hold off|forget (?:it|about (?:it|that)|that)|never ?mind$|scrap (?:it|that)|drop it|abort|hands off|count me out|call it off|refrain|leave (?:it|that|them|everything|my \w+|the \w+)(?: (?:as (?:it|they) (?:is|are|was|were)|alone|be|like (?:that|it is)|at that|the way (?:it|they) \w+|unchanged|untouched|for now|out|there))|leave it$|keep (?:it|everything|that|things|my \w+|the \w+) (?:as (?:it|they) (?:is|are|was|were)|the way (?:it|they) \w+|unchanged|like (?:that|it is)))\b/,
  /\b(?:not yet|that is a no|my answer is no|so no$|then no$|i mean(?:t)? no$|(?:i|we) (?:am |are )?(?:going to |will |would |have to |must |want to )?(?:say|saying|said) no|a (?:hard|firm|clear|definite|big) no)\b/,
  /^(?:thanks |thank you |but |so |well |actually |no )*(?:i|we) (?:have decided|decided|would like|want|prefer|am going|would rather|will)(?: just| rather)? (?:to )?keep (?:it|them|that|this|everything|what i have)(?: after all| then| thanks| for now)?$/,
  /\b(?:i|we) (?:\w+ )?(?:have )?changed my mind.*\b(?:do not|no longer|not)\b/,
];

/** Reports whether a clause of a user says no: "no thanks", "leave it as it is". */
export function isDenial(clause: string): boolean {
  if (ignorance.test(clause) && !/^no[,.!]/.test(clause)) return false;
  return noStart.test(clause) || denials.some((pattern) => pattern.test(clause));
}

/** Reports whether a text opens with a no: "No, the blue one." Beside a request for a change, only such a no counts. */
export function opensWithNo(text: string): boolean {
  return !ignorance.test(text.slice(0, 24)) && noStart.test(text);
}

/** Returns a text without its opening no: "the blue one" for "no, the blue one". */
export function afterNo(text: string): string {
  return text.replace(noStart, '').replace(/^[ ,.!-]+/, '');
}
