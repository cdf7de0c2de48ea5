/**
 * Control functions that a terminal acts on (ECMA-48): escape sequences with their parameters and strings, then single
 * control characters except tab and line feed.
 */
const controls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what is removed
  /\r?(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[PX^_\]]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?|[\0-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Clears the line of the cursor. The command line writes it at the beginning of an output. */
const clearing = '\r\u001b[K';
const reset = '\u001b[0m';
/** Colours that do not hide text. The command line writes them at the beginning of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what is kept
const colour = /^\u001b\[(?:1|3[1-6]|90)m$/;

/** Whether the command line itself wrote a sequence that is at this place of an output. */
function isOwn(found: string, at: number, output: string): boolean {
  if (found === reset) return true;
  if (found === clearing) return at === 0;
  const isAtBeginning = at === 0 || output[at - 1] === '\n' || (at === clearing.length && output.startsWith(clearing));
  return isAtBeginning && colour.test(found);
}

/** Marks that reorder text on the screen (Unicode UAX #9), with which a line can show something else than it says. */
const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Removes from a text what would move the cursor, change colours or the title, write the clipboard, or reorder letters.
 * Line feeds and tabs stay. Text of models, servers, domains and recordings reaches a terminal through here alone.
 * @param isStyled whether the text is a whole output, with the few sequences that the command line itself writes
 */
export function terminalText(text: string, isStyled = false): string {
  return withoutControls(text.replace(bidi, ''), isStyled);
}

/** Characters without width, which are on the screen as if they were not there. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

export const hasInvisible = (text: string): boolean => text.search(invisible) >= 0;

/** Returns a text as it looks in a terminal and in output that is piped: without controls and invisible characters. */
export function seenTexts(text: string): readonly string[] {
  return [terminalText(text), withoutControls(text)].map((each) => each.replace(invisible, ''));
}

/** Returns the same for a text whose letters keep their marks of direction, which texts in Arabic and Hebrew have. */
export function withoutControls(text: string, isStyled = false): string {
  const plain = text.replace(/\r\n/g, '\n');
  return plain.replace(controls, (found, at: number) => (isStyled && isOwn(found, at, plain) ? found : ''));
}
