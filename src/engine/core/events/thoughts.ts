import { objectSpans } from '../values/jsonInText.ts';

/** A model's text without the thoughts before it. */
export type Spoken = { readonly content: string; readonly thoughts: string | null };

/** The tags that models write around their thoughts, in small or capital letters, by family. */
const tags: readonly (readonly [open: string, close: string])[] = [
  ...[
    'think',
    'thinking',
    'thought',
    'thoughts',
    'reasoning',
    'analysis',
    'seed:think',
    'mm:think',
    'longcat_think',
    'antthinking',
    'reflection',
    'scratchpad',
  ].map((name) => [`<${name}>`, `</${name}>`] as const),
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<|inner_prefix|>', '<|inner_suffix|>'],
  ['<|channel>thought', '<channel|>'],
  ['<unused94>thought', '<unused95>'],
];
const families = new Map(
  tags.flatMap(([open, close], at) => [open, close].map((tag) => [tag.toLowerCase(), at] as const)),
);
/** Tags that are also words of markup: one that opens in the middle of a text is a thought only where it is closed. */
const common = new Set(
  ['<thought>', '<thoughts>', '<reasoning>', '<analysis>', '<reflection>', '<scratchpad>'].map((open) =>
    families.get(open),
  ),
);
const closing = new Set(tags.map(([, close]) => close.toLowerCase()));
const tagPattern = [...families.keys()].map((tag) => tag.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
const anyTag = new RegExp(tagPattern, 'gi');
/** A tag, or a quotation: one in backticks, or in its own quotation marks, is spoken of. */
const tagOrQuoted = new RegExp(`\`[^\`\\n]*\`|["'\u201c\u2018«](?:${tagPattern})["'\u201d\u2019»]|${tagPattern}`, 'gi');

/** Returns a text without the tags that some families of models write around what they say after a thought. */
export function withoutAnswerTags(text: string): string {
  const [, name = '', said = ''] = /^\s*<(answer|response)>(.*)$/is.exec(text) ?? [];
  return name === '' ? text : said.replace(new RegExp(`</${name}>`, 'i'), '').trim();
}

/** Cohere's, which no text has by chance. */
const answerTokens = /^\s*<\|START_(RESPONSE|TEXT)\|>(.*?)(?:<\|END_\1\|>|$)/s;

/** Rounds in which thoughts are separated. Only a hostile text has more, and is then thought as a whole. */
const mostRounds = 8;

/**
 * Separates the thoughts in a text from what it says. The first opening tag may be missing, because some chat templates
 * write it into the prompt. Without a closing tag, all that follows the opening one is thought: the answer was cut off.
 * A tag in quotation marks, in backticks or in a JSON object is spoken of. Thoughts can be nested. Of a text in the
 * channels of gpt-oss, what is not in the final one is thought. The message has no thoughts left: a tag that was spoken
 * of may be one without the thought before it.
 */
export function withoutThoughts(text: string): Spoken {
  const thoughts: (string | null)[] = [];
  let said = text;
  for (let round = 0; round < mostRounds; round += 1) {
    const found = separated(said);
    if (found.content === said) return { content: said, thoughts: joined(thoughts) };
    thoughts.push(found.thoughts);
    said = found.content;
  }
  return { content: '', thoughts: text };
}

/** Separates the thoughts that the tags of a text show as it is. */
function separated(text: string): Spoken {
  const inTokens = channelsIn(text) ?? answerIn(text);
  if (inTokens) return inTokens;
  const thoughts: string[] = [];
  const said: string[] = [];
  let from = 0;
  /** The tag that began the thought, with how many of its family are open. */
  let open: { readonly family: number; readonly at: number; depth: number } | null = null;
  let hasSaid = false;
  let lastClosing: ReturnType<typeof lastClosingTags> | null = null;
  for (const { 0: tag, index } of tagsIn(text, () => open !== null)) {
    const family = families.get(tag.toLowerCase()) ?? -1;
    const isClosing = closing.has(tag.toLowerCase());
    if (open === null && !isClosing) {
      hasSaid ||= text.slice(from, index).trim() !== '';
      if (hasSaid && common.has(family)) {
        lastClosing ??= lastClosingTags(text);
        if ((lastClosing.get(family) ?? -1) < index) continue;
      }
      open = { family, at: index, depth: 1 };
    } else if (open === null && thoughts.length === 0) {
      // The first tag of the text.
      hasSaid = false;
      thoughts.push(text.slice(0, index).trim());
      from = index + tag.length;
    } else if (open === null) {
      // A closing tag that closes nothing.
      said.push(text.slice(from, index).trim());
      from = index + tag.length;
    } else if (open.family === family) {
      open.depth += isClosing ? -1 : 1;
      if (open.depth > 0) continue;
      said.push(text.slice(from, open.at).trim());
      thoughts.push(text.slice(open.at, index).replace(anyTag, '').trim());
      from = index + tag.length;
      open = null;
    }
  }
  if (open) thoughts.push(text.slice(open.at).replace(anyTag, '').trim());
  const rest = text.slice(from, open?.at);
  const before = said.filter(Boolean);
  if (before.length > 0)
    return { content: [...before, rest.trim()].filter(Boolean).join(' '), thoughts: joined(thoughts) };
  return {
    content: open ? rest.trim() : from > 0 ? withoutAnswerTags(rest.trimStart()) : rest,
    thoughts: joined(thoughts),
  };
}

/** Returns where the last closing tag of each family is. */
function lastClosingTags(text: string): ReadonlyMap<number | undefined, number> {
  const found = [...text.matchAll(anyTag)].filter(({ 0: tag }) => closing.has(tag.toLowerCase()));
  return new Map(found.map(({ 0: tag, index }) => [families.get(tag.toLowerCase()), index]));
}

/** Yields the tags of a text without those that are spoken of. Within a thought, quotation marks have no meaning. */
function* tagsIn(text: string, isInThought: () => boolean): Generator<RegExpExecArray> {
  const spans = text.search(anyTag) >= 0 ? objectSpans(text) : [];
  let next = 0;
  for (let at = 0; ; ) {
    const pattern = isInThought() ? anyTag : tagOrQuoted;
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) return;
    at = found.index + found[0].length;
    while ((spans[next]?.[1] ?? text.length) <= found.index) next += 1;
    const isInObject = (spans[next]?.[0] ?? text.length) < found.index;
    if (!isInObject && families.has(found[0].toLowerCase())) yield found;
  }
}

const joined = (thoughts: readonly (string | null)[]) => thoughts.filter(Boolean).join('\n\n') || null;

function answerIn(text: string): Spoken | null {
  const [, , said] = answerTokens.exec(text) ?? [];
  return said === undefined ? null : { content: said.trim(), thoughts: null };
}

/** Matches a message in a channel of the Harmony format of gpt-oss. A text to a function is not shown to the user. */
const inChannel = /<\|channel\|>(\w*)(?!\w)([^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>((?:(?!<\|\w+\|>).)*)/gs;

/** Matches the same format from a server that dropped the special tokens, and the wording of Granite. */
const lostTokens =
  /^analysis(.*?)assistantfinal(.*)$|^\s*Here(?:'s| is) my thought process:(.*?)Here(?:'s| is) my response:(.*)$/s;

/** Reads a text that its server left in the Harmony format; null for any other. */
function channelsIn(text: string): Spoken | null {
  const [, lost, afterLost, inWords, afterWords] = lostTokens.exec(text) ?? [];
  const [thought, said] = [lost ?? inWords, afterLost ?? afterWords];
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
