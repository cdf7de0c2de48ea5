/** A text without what it sets its own value against: "oak instead of white", "56, not 65". */
export const withoutContrast = (text: string): string =>
  text.replace(
    /,? ?\b(?:instead of|rather than|in place of|as opposed to|no longer|(?:and )?not|from) (?!\w+ing\b)[^,.;!?]*/gi,
    '',
  );
