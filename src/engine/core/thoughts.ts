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
 * Separates the thoughts that a text begins with from what it says. The first opening tag may be missing, because some
 * chat templates write it into the prompt. Without a closing tag, all of the text is a thought: the answer was cut off.
 */
export function withoutThoughts(text: string): Spoken {
  const thoughts: string[] = [];
  let content = text;
  for (let next = unopenedThought(text) ?? openedThought(text); next; next = openedThought(next.rest)) {
    thoughts.push(next.thought);
    content = next.rest;
  }
  return { content, thoughts: thoughts.filter(Boolean).join('\n\n') || null };
}

type Thought = { readonly thought: string; readonly rest: string };

/** The thought that a text begins with, tags included, and what follows it. */
function openedThought(text: string): Thought | null {
  const begin = text.trimStart();
  const [open, close] = tags.find(([each]) => begin.startsWith(each)) ?? [];
  if (open === undefined) return null;
  const end = begin.indexOf(close);
  if (end < 0) return { thought: begin.slice(open.length).trim(), rest: '' };
  return { thought: begin.slice(open.length, end).trim(), rest: begin.slice(end + close.length).trimStart() };
}

/** The thought before a closing tag that no tag opens in this text. */
function unopenedThought(text: string): Thought | null {
  for (const [open, close] of tags) {
    const end = text.indexOf(close);
    if (end < 0 || text.slice(0, end).includes(open)) continue;
    return { thought: text.slice(0, end).trim(), rest: text.slice(end + close.length).trimStart() };
  }
  return null;
}
