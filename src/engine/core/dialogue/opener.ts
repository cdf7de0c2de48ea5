/** Words with which anybody begins, and says nothing by. */
const fillers = 'oh|well|um+|hm+|so|and|then|please|thanks|thank you|ok(?:ay)?|right';

/** Any number of the words that say nothing, and of those that say nothing here. */
function opening(more: readonly string[], between: string): string {
  return `(?:(?:${[fillers, ...more].join('|')})${between})*`;
}

/** Words that precede an assent; they may themselves be one. */
export const beforeAssent = opening(
  [
    'its|it is|ah|aha|indeed|but|yes|yeah|yep|yup|ya|yea|aye|uh+|erm?|haha|lol|sure|now|honestly|sorry|just',
    'bitte|gerne',
  ],
  ' ',
);

/** What precedes a yes and is not one: a greeting, and what makes much of the yes. */
export const beforeYes = opening(
  [
    'hi|hello|hey|ah|aha|uh+|also|bitte|thank you (?:so|very) much|great|perfect|cool|awesome|good|excellent',
    'wonderful|fantastic|lovely|super|brilliant|actually|alright|all right|fine|my answer is|the answer is',
    'it is a|that is a|that would be a|i (?:already |just |did )?(?:said|say)|i am saying|honestly',
    'in that case|to be honest',
  ],
  '[ ,.!-]*',
);

/** What precedes a question of the user, an answer of theirs too. */
export const beforeQuestion = opening(
  ['but|wait|hi|hello|hey|sorry|yes|no|also|cool|great|fine|actually|quick question|one question|question'],
  '[ ,.-]+',
);
