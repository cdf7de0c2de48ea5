const alternative =
  /\bor\b(?! (?:(?:no|not)(?=$|[,.])|do not|(?:would you )?rather not|still (?:thinking|unsure|undecided|deciding)|(?:do|would) you (?:need|like|want) (?:some |more |to )?(?:time|think)|(?:shall|should) (?:i|we) (?:leave|wait|stop)|(?:(?:do|does|should|shall|will|would) (?:you|it|i|we|that|they) (?:rather |prefer to |like to |want to )?)?(?:keep|stay|leave|remain|would you rather)s?\b))/;

/**
 * Reports whether a text offers one of several things: "the red or the blue one". In "or not" and "or leave it" there
 * is no second thing.
 */
export const hasAlternative = (text: string): boolean => alternative.test(text);
