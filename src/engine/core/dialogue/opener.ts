/** Words that start a sentence and mean nothing: "oh", "well", "so". */
const fillers = 'oh|well|um+|hm+|so|and|then|please|thanks|thank you|ok(?:ay)?|right';

/** Returns a pattern for any number of fillers and of the words in `more`. */
function opening(more: readonly string[], between: string): string {
  return `(?:(?:${[fillers, ...more].join('|')})${between})*`;
}

/** Matches words before an assent, some of which are an assent themselves: "oh yes" in "oh yes fine". */
export const beforeAssent = opening(
  [
    'its|it is|ah|aha|indeed|but|yes|yeah|yep|yup|ya|yea|aye|uh+|erm?|haha|lol|sure|now|honestly|sorry|just',
    'bitte|gerne',
  ],
  ' ',
);

/**
 * Matches words before a yes that are not the yes itself, such as greetings and praise: "hi, great," in "hi, great,
 * yes".
 */
export const beforeYes = opening(
  [
    'hi|hello|hey|ah|aha|uh+|also|bitte|thank you (?:so|very) much|great|perfect|cool|awesome|good|excellent',
    'wonderful|fantastic|lovely|super|brilliant|actually|alright|all right|fine|my answer is|the answer is',
    'it is a|that is a|that would be a|i (?:already |just |did )?(?:said|say)|i am saying|honestly',
    'in that case|to be honest',
  ],
  '[ ,.!-]*',
);

/** Matches words before a question of the user, including an answer: "yes, but" in "yes, but when is it sent?" */
export const beforeQuestion = opening(
  ['but|wait|hi|hello|hey|sorry|yes|no|also|cool|great|fine|actually|quick question|one question|question'],
  '[ ,.-]+',
);
