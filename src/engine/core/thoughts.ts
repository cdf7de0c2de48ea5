/** A model's text without the thoughts before it. */
export type Spoken = { readonly content: string; readonly thoughts: string | null };

/** The tags that models write around their thoughts, by family. */
const tags = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
] as const;

/**
 * Separates the thoughts that a text begins with from what it says. The opening tag may be missing, because some chat
 * templates write it into the prompt. Without a closing tag, all of the text is a thought: the answer was cut off.
 */
export function withoutThoughts(text: string): Spoken {
  const begin = text.trimStart();
  for (const [open, close] of tags) {
    const isOpened = begin.startsWith(open);
    const end = begin.indexOf(close);
    if (!isOpened && (end < 0 || begin.slice(0, end).includes(open))) continue;
    const from = isOpened ? open.length : 0;
    if (end < 0) return { content: '', thoughts: begin.slice(from).trim() };
    const rest = withoutThoughts(begin.slice(end + close.length).trimStart());
    const thoughts = [begin.slice(from, end).trim(), rest.thoughts].filter(Boolean).join('\n\n');
    return { content: rest.content, thoughts };
  }
  return { content: text, thoughts: null };
}
