import { beforeAssent } from './opener.ts';

/** Words that can follow an assent: "fine by me then, thanks". */
const tail =
  '(?: (?:then|please|thanks|thank you|indeed|so|now|too|also|lol|mate|bro|man|dude|pal|buddy|guys|folks|cheers|ta|sir|madam|dear|love|my (?:friend|dear|love|man|lady|good (?:man|sir|friend))|actually|really|exactly|today|there|from (?:me|us|my side|our side)|of you|of course|all (?:of it|of them|of that)|to me|to us|for me|for us|by me|by us|with me|with us|(?:with|about|to|for|by|on) (?:that|this|it|both|everything|all of it|all of that|the plan|me doing that|you doing that)))*';
/** Adverbs before an approving word: "more than happy". */
const degree =
  '(?:(?:very|100 ?%|one hundred per ?cent|a hundred per ?cent|quite|perfectly|so|more than|absolutely|most|entirely|really|all|totally|completely|definitely|certainly|just|indeed|fully|pretty|exactly|rather|truly|only too|a bit of|much) )*';
/** Words that approve a proposal: "happy", "fine", "a deal". */
const approving =
  'happy|glad|right|correct|all right|alright|fine|good|ok|okay|agreeable|content|sure|certain|clear|agreed|welcome|fair|fair enough|accepted|authori[sz]ed|granted|accurate|kind|great|nice|lovely|perfect|wonderful|ideal|helpful|brilliant|fantastic|excellent|splendid|marvellous|smashing|super|ace|acceptable|sensible|reasonable|best|appreciated|ready|pleased|delighted|certainly|gladly|definitely|a relief|a plan|a deal|a yes|okey|okey dokey|okie dokie|settled|confirmed|approved|positive|it|terrific|magic|sorted|satisfied|much obliged';
const person = 'i|we|it|that|this|they|these|those|you|he|she|both|all|everything|that one|this one';
const auxiliaries = 'am|are|is|do|does|would|will|have|has|can|may|should|shall';
/** Matches an answer that repeats the verb of the question: "It is indeed", "I do", "you may". */
export const elliptic = new RegExp(
  `^${beforeAssent}(?:(?:${person}) |(?=certainly|surely|definitely|indeed|absolutely))(?:(?:certainly|surely|definitely|really|absolutely|indeed|totally|most certainly|very much|do|both|still) )*(?:${auxiliaries})(?: (?:indeed|certainly|definitely|absolutely|very much|so|yes|it|now|both))*${tail}$`,
);
/** Matches an answer that only approves: "That sounds perfectly fine to me", "more than happy". */
export const approval = new RegExp(
  `^${beforeAssent}(?:(?:(?:i|we) (?:should|would|shall|will) be|i am|we are|(?:${person})(?: (?:is|are|would be|will be|sounds?|looks?|seems?))?|would be|sounds?|looks?|with|it would be|am|is) )?${degree}(?:${approving})(?: (?:${approving}))*(?: if you (?:would|could|did)(?: (?:do )?(?:so|that|it))?)?${tail}$`,
);
/** Other wordings of a yes: "by all means", "count me in", "make it so". */
const assenting = [
  'by all means',
  'naturally',
  'obviously',
  'with (?:pleasure|joy)',
  'my pleasure',
  'you bet',
  'you betcha',
  'go on',
  'go',
  'do',
  'do that one',
  'this one',
  'that one',
  'roger(?: that)?',
  'aye aye',
  'amen',
  'ya',
  'yea',
  'yh',
  'yess+',
  'uh.?huh',
  'mhm+',
  'mm.?hm+',
  'sold',
  'done',
  'done deal',
  'deal',
  'count me in',
  'i am (?:in|game|on board|for it|all for it|up for it|behind it)',
  'on board',
  'lock it in',
  'ship it',
  'let us(?: (?:do|go|have|take|get|make)(?: (?:it|that|this|so|ahead|for it|it done|with (?:it|that)))?)?',
  'let it be so',
  'be so kind',
  '(?:if you )?(?:would|could|can|will) you(?: please| kindly)*',
  'if (?:you )?(?:would|could|may|please|do not mind|be so kind)(?: please)?',
  'as (?:you (?:say|said|wrote|propose|proposed|suggest|suggested|describe|described|listed)|proposed|suggested|discussed|described|written|planned|agreed|listed|above)',
  '(?:just |exactly )?(?:like|the way) (?:that|you (?:say|said|wrote|put it|described))',
  'both(?: of (?:them|those|these))?',
  'quite(?: so)?',
  'the (?:whole )?lot',
  'all of (?:it|that|them)',
  String.raw`(?:a |my |big |clear |definite |resounding |another )*yes\b[\w ]{0,24}`,
  'green light',
  'permission granted',
  'nothing (?:to add|against (?:it|that))',
  'no (?:notes|reason to say no)',
  'i (?:can|could) (?:live with|accept|do) (?:that|it|this)',
  String.raw`(?:it|that|this) (?:will|does|would) (?:do|suit|work|be fine)[\w ]{0,16}`,
  'i (?:do not|cannot) (?:see|think of) (?:any |a )?(?:reason )?(?:why not|not to|against)',
  '(?:i|we) (?:would )?(?:not|do not) mind(?: (?:that|it|at all))*',
  '(?:i |we )?(?:will |shall )?(?:take|have|choose|want|would like|would love|have decided on|confirm) (?:it|that|this|that one|this one|the change)',
  '(?:(?:that|this|it) is (?:exactly |just |precisely )?|exactly |just |precisely )(?:how|what|the way|as) i (?:want|wanted|like|would like|need|meant|wish|hoped)(?: it| that)?(?: to be| done)?',
  '(?:i |we )(?:really |do |would )*(?:want|like|love) you to(?: do (?:it|that|this|so))?',
  '(?:that|this|it) is (?:exactly |just |precisely |all )?what (?:i am|we are|i was) (?:asking for|asking|after|hoping for|looking for)',
  '(?:just |please )*(?:give|have) (?:it|that|this) a (?:go|try|shot|whirl)',
  'have a (?:go|try)',
  '(?:worth|have) a (?:try|shot|go)',
  '(?:just |please |at least |do )*try(?: (?:it|that|this|anyway|at least|your luck|your best|please|to|all the same))*',
  '(?:no need to|do not|you need not) ask (?:twice|again|me twice)',
  '(?:i am|we are|you are) (?:on|good to go|all set)',
  '(?:that|this) is the (?:idea|plan|spirit|way|ticket|stuff)',
  '(?:let us )?call it (?:that|done|settled|a deal)',
  'it (?:is|has) my (?:final )?(?:word|wish|choice|decision)',
  'make it so',
  'bring it on',
  'your (?:call|proposal) (?:is|was) (?:fine|good)',
  'put it through',
  'get it (?:done|sorted|booked)',
  'get that (?:done|sorted|booked)',
  'please proceed',
  'happy days',
  'could be worse',
  'hit it',
  'hit me',
  '(?:it is )?booked',
  'more than (?:anything|ever|words|happy)(?: (?:in the world|can (?:say|tell)))?',
  'with all my heart',
  '(?:(?:i|we) )?(?:do )?say so',
  'so say (?:i|we)',
  '(?:i |we )?(?:really |honestly )?(?:cannot|could not) (?:complain|say no|refuse|argue|fault (?:it|that)|be (?:happier|better))(?: (?:to|with|about) (?:that|it|this))?',
  '(?:there is )?nothing (?:i|we) would (?:like|love|enjoy|rather) (?:better|more|have|see|do)',
  'nothing (?:better|would please (?:me|us) more)',
  '(?:the )?word(?: is given)?',
  'word given',
  String.raw`consider (?:it|yourself|that) (?:said|told|given|\w+ed|done|sold)`,
  'works',
  'suits(?: me| us)?',
  'perfection',
];
/** Matches an answer that is one of these wordings: "well then, count me in please". */
export const assents = new RegExp(`^${beforeAssent}(?:${assenting.join('|')})${tail}$`);
/** Matches emoji that mean yes: thumbs up, OK hand and check mark. */
export const thumbs = /(?:\u{1F44D}|\u{1F44C}|\u{2705})\p{Emoji_Modifier}*/gu;
/** Matches an answer of nothing but emoji that agree, such as thumbs up or a smile, and punctuation. */
export const nods = /^(?:\s|!|\.|\p{Emoji_Modifier}|\u{1F44D}|\u{1F44C}|\u{2705}|\u{1F64F}|\u{1F642}|\u{1F60A})+$/u;
