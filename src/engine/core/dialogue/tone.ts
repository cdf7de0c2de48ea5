/** Matches a word of agreement in any sentence: "great", "suits", "go". */
const agreeing =
  /\b(?:yes+|yea|yeah|yup|aye|nods?|nodding|given|granted|green|grateful|appreciat\w*|obliged|wish|deal|(?:a|the|all) go|go|with you|on board|all in|count me|much so|have got it|you have it|love(?:ly|d)?|great|good|nice|fine|perfect\w*|wonderful|excellent|brilliant|super\w*|fab\w*|awesome|amazing|glad(?:ly)?|happy|happily|delighted|pleased|please|sure|surely|naturally|agree\w*|accept\w*|approv\w*|confirm\w*|consent|right|correct|spot on|bingo|suits?|(?<!\b(?:i|we) )works?|convinced|into it|done|ahead|proceed|do (?:it|that|so)|let us|permission|blessing|thumbs up|ok|okay|okey|cool|sweet|grand|sounds|sorted|smashing|splendid|tip top|roger|copy that)\b/;
/**
 * Matches a word that can hold something back, ask, postpone or report: "maybe", "later", "but". With such a word, only
 * an explicit yes counts as agreement.
 */
const holding =
  /\b(?:no|not|nor|never|none|nothing|neither|cannot|without|other|another|else|different\w*|wrong|mistake|instead|rather|better|prefer|again|tomorrow|tonight|later|yesterday|today|already|earlier|provisional\w*|tentativ\w*|temporar\w*|think|thought|thinking|remember|meant|mean|suppose|guess|believe|maybe|perhaps|possibly|probably|might|could|should|ought|must|need|needs|want|would like|try|miss|missing|problem|issue|trouble|expensive|dear|dearer|cheaper|a lot|too|only|just|except|but|however|though|although|if|unless|until|till|when|once|before|after|wait|hold|stop|leave|keep|hm+|eh|err|well|sorry|unfortunately|afraid|pity|shame|why|what|which|who|where|how|ask|check|look|know|understand|understood|see|wonder|hope|tell|explain|said|says|told|call|busy|moment|minute|second|so (?:it|that|this|i|we|you|the)|still|news|(?:good|great|nice|lovely|glad|happy|cool|perfect) (?:that (?:it|you|the|there|i|we|they)|to (?:know|hear|see))|morning|afternoon|evening|day|bye|goodbye|terribl\w*|awful|horrible|bad|worst|worse|ridiculous|joke|useless|disappoint\w*|angry|annoy\w*|hate|unacceptable|poor|sad|rubbish|nonsense|slow|stupid|scam)\b/;
/** Matches phrases that have such a word and still agree: "no problem", "couldn't be better", "why not". */
const litotes =
  /\b(?:(?:i |we )?(?:see|have|there is|find|know of) (?:absolutely |really )?no (?:problem|issue|objection|reason|trouble|harm)s?(?: (?:with|in|against) (?:it|that|this)| there| why not| not to)?|no (?:problem|objection|issue|complaint|worrie)s?(?: (?:here|there|at all|from me))?|nothing (?:against|wrong with) (?:it|that|this)|could not (?:be (?:better|happier)|agree more|have (?:said|put) it better)|cannot wait|why not|i (?:really )?(?:do )?want (?:it|that|this)|(?:go|you go|do it) (?:then|already)|not a (?:problem|moment too soon))\b/g;

/**
 * Reports whether an answer of at most 16 words agrees by its words alone, in a wording that no pattern has: it has a
 * word of agreement and none that can hold something back.
 */
export function soundsAgreed(plainText: string): boolean {
  const rest = plainText.replace(litotes, ' fine ');
  return rest.split(/\s+/).length <= 16 && agreeing.test(rest) && !holding.test(rest);
}
