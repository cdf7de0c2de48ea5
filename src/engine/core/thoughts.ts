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
  ['◁think▷', '◁/think▷'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
] as const;

/**
 * Separates the thoughts in a text from what it says. The first opening tag may be missing, because some chat templates
 * write it into the prompt. Without a closing tag, a text that begins with a thought is all thought: the answer was cut
 * off. Of a text in the channels of gpt-oss, what is not in the final one is thought.
 */
export function withoutThoughts(text: string): Spoken {
  const inChannels = channelsIn(text);
  if (inChannels) return inChannels;
  const thoughts: string[] = [];
  let content = text;
  for (let next = unopenedThought(text) ?? openedThought(text); next; next = openedThought(next.rest)) {
    thoughts.push(next.thought);
    content = next.rest;
  }
  const { rest, inner } = withoutInnerThoughts(content);
  return { content: rest, thoughts: [...thoughts, ...inner].filter(Boolean).join('\n\n') || null };
}

/** A message in a channel of the Harmony format of gpt-oss; a text to a function is not said. */
const inChannel = /<\|channel\|>(\w*)(?!\w)([^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>((?:(?!<\|\w+\|>).)*)/gs;

/** What a server that lost the special tokens makes of the same format. */
const lostTokens = /^analysis(.*?)assistantfinal(.*)$/s;

/** Reads a text that its server left in the Harmony format; null for any other. */
function channelsIn(text: string): Spoken | null {
  const [, thought, said] = lostTokens.exec(text) ?? [];
  if (thought !== undefined && said !== undefined) return { content: said.trim(), thoughts: thought.trim() || null };
  if (!/^\s*(?:<\|start\|>assistant)?<\|channel\|>/.test(text)) return null;
  const messages = [...text.matchAll(inChannel)].map(([, channel, recipient = '', content = '']) => ({
    isSaid: channel === 'final' || (channel === 'commentary' && !recipient.includes('to=')),
    content: content.trim(),
  }));
  const textOf = (isSaid: boolean) =>
    messages.flatMap((each) => (each.isSaid === isSaid ? each.content || [] : [])).join('\n\n');
  return { content: textOf(true), thoughts: textOf(false) || null };
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

/** Takes the thoughts out that stand between two tags inside of a text. */
function withoutInnerThoughts(text: string): { readonly rest: string; readonly inner: readonly string[] } {
  const inner: string[] = [];
  let rest = text;
  for (const [open, close] of tags) {
    const kept: string[] = [];
    let from = 0;
    for (let begin = rest.indexOf(open); begin >= 0; begin = rest.indexOf(open, from)) {
      const end = rest.indexOf(close, begin);
      if (end < 0) break;
      kept.push(rest.slice(from, begin).trim());
      inner.push(rest.slice(begin + open.length, end).trim());
      from = end + close.length;
    }
    if (from > 0) rest = [...kept, rest.slice(from).trim()].filter(Boolean).join(' ');
  }
  return { rest, inner };
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
