/**
 * Returns a text without the rejected side of a contrast: "oak instead of white" becomes "oak", and "56, not 65"
 * becomes "56".
 */
export const withoutContrast = (text: string): string =>
  text.replace(
    /,? ?\b(?:instead of|rather than|in place of|as opposed to|no longer|(?:and )?not|from) (?!\w+ing\b)[^,.;!?]*/gi,
    '',
  );
