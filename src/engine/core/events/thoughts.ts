import { objectSpans } from '../values/jsonInText.ts';

/** A model's text without the thoughts before it. */
export type Spoken = { readonly content: string; readonly thoughts: string | null };

/** The names of tags around thoughts, such as `<seed:think>`. Others than those of thinking are also words of markup. */
const thinking = '(?:[a-z0-9]{1,20}[:_])?think(?:ing)?(?:[:_][a-z0-9_]{1,20})?|antthinking|seed:cot_budget_reflect';
const common = 'thoughts?|reason|reasoning|reasoning_content|reasoning_scratchpad|analysis|reflection|scratchpad';
const attributes = String.raw`(?:\s+[\w:-]+=[^<>]{0,200})?\s{0,9}`;

/** The tags that models write around their thoughts, in small or capital letters, by family. */
const pairs: readonly (readonly [open: string, close: string])[] = [
  ['<|think|>', '<|/think|>'],
  ['<|thinking|>', '<|/thinking|>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<|inner_prefix|>', '<|inner_suffix|>'],
  ['<|channel>thought', '<channel|>'],
  ['<unused94>thought', '<unused95>'],
];
/** Open WebUI's. Another `<details>` is markup. */
const details = String.raw`<details(?=\s)[^<>]{0,200}\stype=["']?reasoning["']?[^<>]{0,200}>`;

type Tag = { readonly family: string; readonly isClosing: boolean };
const fixed = new Map(
  pairs.flatMap(([open, close]): readonly (readonly [string, Tag])[] => [
    [open.toLowerCase(), { family: open, isClosing: false }],
    [close.toLowerCase(), { family: open, isClosing: true }],
  ]),
);
const fixedPattern = [...fixed.keys()].map((tag) => tag.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
const tagPattern = `${fixedPattern}|</?(?:${thinking}|${common})${attributes}>|${details}|</details\\s{0,9}>`;
const anyTag = new RegExp(tagPattern, 'gi');
/** A tag, or a quotation: one in backticks, or in its own quotation marks, is spoken of. */
const tagOrQuoted = new RegExp(`\`[^\`\\n]*\`|["'\u201c\u2018«](?:${tagPattern})["'\u201d\u2019»]|${tagPattern}`, 'gi');
const mayQuote = new RegExp(`\`|["'\u201c\u2018«](?:${tagPattern})`, 'i');
const isThinking = new RegExp(`^(?:${thinking}|<\\|think.*)$`, 'i');
const isCommon = new RegExp(`^(?:${common})$`, 'i');

const wholeTag = new RegExp(`^(?:${tagPattern})$`, 'i');
const isTag = (found: string) => wholeTag.test(found);

/** Returns what a tag of the pattern says. */
function tagOf(written: string): Tag {
  const known = fixed.get(written.toLowerCase());
  if (known) return known;
  const [, slash, family = ''] = /^<(\/?)([\w:]+)/.exec(written.toLowerCase()) ?? [];
  return { family, isClosing: slash === '/' };
}

/** Returns a text without the tags that some families of models write around what they say after a thought. */
export function withoutAnswerTags(text: string): string {
  const [, name = '', said = ''] = /^\s*<(answer|response)>(.*)$/is.exec(text) ?? [];
  return name === '' ? text : said.replace(new RegExp(`</${name}>`, 'i'), '').trim();
}

/** Cohere's, and OpenThinker's, which no text has by chance. */
const answerTokens =
  /^\s*(?:<\|START_(RESPONSE|TEXT)\|>(.*?)(?:<\|END_\1\|>|$)|<\|begin_of_solution\|>(.*?)(?:<\|end_of_solution\|>|$))/s;

/** Rounds in which thoughts are separated. Only a hostile text has more, and is then thought as a whole. */
const mostRounds = 8;

/**
 * Separates the thoughts in a text from what it says. The first opening tag may be missing, because some chat templates
 * write it into the prompt. Without a closing tag, all that follows the opening one is thought: the answer was cut off.
 * An opening tag within a thought has no meaning. A closing tag without an opening one ends a thought that began with the
 * text, because thoughts speak of such tags, too. A tag in quotation marks, in backticks or in a JSON object is spoken of.
 * Of a text in the channels of gpt-oss, what is not in the final one is thought. The message has no thoughts left: a tag
 * that was spoken of may be one without the thought before it.
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
  let thoughts: string[] = [];
  let said: string[] = [];
  let from = 0;
  /** The end of a thought that began with the text. */
  let firstEnd = 0;
  const end = text.trimEnd().length;
  /** The tag that began the thought. */
  let open: { readonly family: string; readonly at: number } | null = null;
  /** The family of the last closing tag. */
  let closed: string | null = null;
  let hasSaid = false;
  let lastClosing: ReturnType<typeof lastClosingTags> | null = null;
  let quoted: ReadonlySet<number> | null = null;
  /** Whether no closing tag of a family comes after a place. */
  const isLast = (family: string, index: number) => {
    lastClosing ??= lastClosingTags(text);
    return (lastClosing.get(family) ?? -1) < index;
  };
  for (const { 0: tag, index } of tagsIn(text, () => open !== null)) {
    const { family, isClosing } = tagOf(tag);
    if (open === null && !isClosing) {
      hasSaid ||= text.slice(from, index).trim() !== '';
      if (hasSaid && isCommon.test(family) && isLast(family, index)) continue;
      open = { family, at: index };
    } else if (open === null && family === 'details') {
      // Of markup.
    } else if (open === null) {
      // One behind the answer closes nothing.
      const isEnd = closed === null || ((closed === family || isMisspelt(closed, family)) && index + tag.length < end);
      if (isEnd) {
        hasSaid = false;
        [firstEnd, thoughts, said, closed] = [index, [], [], family];
      } else said.push(text.slice(from, index).trim());
      from = index + tag.length;
    } else if (
      isClosing &&
      (open.family === family || (isMisspelt(open.family, family) && isLast(open.family, index)))
    ) {
      quoted ??= quotedClosingTags(text);
      if (quoted.has(index)) continue;
      said.push(text.slice(from, open.at).trim());
      thoughts.push(text.slice(open.at, index).replace(anyTag, '').trim());
      from = index + tag.length;
      closed = open.family;
      open = null;
    }
  }
  if (firstEnd > 0) thoughts.unshift(text.slice(0, firstEnd).replace(anyTag, '').trim());
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

/** Returns all matches of a pattern that other searches use meanwhile. */
function allOf(pattern: RegExp, text: string): RegExpExecArray[] {
  pattern.lastIndex = 0;
  return [...text.matchAll(pattern)];
}

/** Whether a thought that began with a tag of thinking ends with another one, such as `<think>` with `</thinking>`. */
const isMisspelt = (opened: string, closed: string) => isThinking.test(opened) && isThinking.test(closed);

/** Returns where the last closing tag of each family is. */
function lastClosingTags(text: string): ReadonlyMap<string, number> {
  const found = allOf(anyTag, text).map(({ 0: tag, index }) => ({ ...tagOf(tag), index }));
  return new Map(found.flatMap(({ family, isClosing, index }) => (isClosing ? [[family, index] as const] : [])));
}

/**
 * Returns where the closing tags are that a thought speaks of: one in quotation marks or backticks before the closing
 * tag that ends the thought.
 */
function quotedClosingTags(text: string): ReadonlySet<number> {
  if (!mayQuote.test(text)) return new Set();
  const plain = new Set(allOf(tagOrQuoted, text).flatMap(({ 0: found, index }) => (isTag(found) ? [index] : [])));
  const quoted = new Set<number>();
  const next = new Map<string, Tag>();
  for (const { 0: written, index } of allOf(anyTag, text).reverse()) {
    const tag = tagOf(written);
    if (plain.has(index)) next.set(tag.family, tag);
    else if (tag.isClosing && next.get(tag.family)?.isClosing) quoted.add(index);
  }
  return quoted;
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
    if (!isInObject && isTag(found[0])) yield found;
  }
}

const joined = (thoughts: readonly (string | null)[]) => thoughts.filter(Boolean).join('\n\n') || null;

function answerIn(text: string): Spoken | null {
  const [, , ofCohere, ofOpenThinker] = answerTokens.exec(text) ?? [];
  const said = ofCohere ?? ofOpenThinker;
  return said === undefined ? null : { content: said.trim(), thoughts: null };
}

/** Matches a message in a channel of the Harmony format of gpt-oss. A text to a function is not shown to the user. */
const inChannel = /<\|channel\|>(\w*)(?!\w)([^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>((?:(?!<\|\w+\|>).)*)/gs;
/** The beginning of such a text. The prompt may have opened the first channel, in which the model thinks. */
const firstChannel = /^\s*(?:<\|start\|>assistant)?<\|channel\|>/;
const openedChannel = /^\s*(?:analysis|commentary|final)(?!\w)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>/;
const nextChannel = /<\|(?:end|call|return)\|>\s*<\|start\|>assistant(?=[^<]*<\|channel\|>)/;

/** Matches the same format from a server that dropped the special tokens. */
const lostChannel = /assistant(?=(?:analysis|commentary|final))/;

/** Matches thoughts and an answer under their own names: those of Granite, and of a model that is asked for them. */
const inWords =
  /^\s*Here(?:'s| is) my thought process:(.*?)Here(?:'s| is) my response:(.*)$|^\s*(?:\*\*|#+ )?(?:Thinking|Thoughts?)(?:\*\*)?:(?:\*\*)?(.*?)\n[ \t]*(?:\*\*|#+ )?(?:Final )?(?:Answer|Response|Reply)(?:\*\*)?:(?:\*\*)?(.*)$/is;

type ChannelMessage = { readonly isSaid: boolean; readonly content: string };

const channelMessage = (channel: string | undefined, recipient: string, content: string): ChannelMessage => ({
  isSaid: channel === 'final' || (channel === 'commentary' && !recipient.includes('to=')),
  content: content.trim(),
});

/** Reads a text that its server left in the Harmony format, or in words; null for any other. */
function channelsIn(text: string): Spoken | null {
  const [, ...words] = inWords.exec(text) ?? [];
  const [thought, said] = words.filter((each) => each !== undefined);
  if (thought !== undefined && said !== undefined) return { content: said.trim(), thoughts: thought.trim() || null };
  const messages = lostMessagesIn(text) ?? messagesIn(text);
  if (!messages) return null;
  const textOf = (isSaid: boolean) =>
    messages.flatMap((each) => (each.isSaid === isSaid ? each.content || [] : [])).join('\n\n');
  return { content: textOf(true), thoughts: textOf(false) || null };
}

function messagesIn(text: string): readonly ChannelMessage[] | null {
  const whole = openedChannel.test(text) ? `<|channel|>${text}` : text;
  const next = firstChannel.test(whole) ? null : nextChannel.exec(whole);
  if (next && isSpokenOf(whole, next.index)) return null;
  if (!next && !firstChannel.test(whole)) return null;
  const first = next ? [channelMessage('analysis', '', whole.slice(0, next.index))] : [];
  const found = whole.slice(next?.index).matchAll(inChannel);
  return [
    ...first,
    ...[...found].map(([, channel, recipient = '', content = '']) => channelMessage(channel, recipient, content)),
  ];
}

/** Whether a place in a text is in a JSON object or in backticks. */
function isSpokenOf(text: string, at: number): boolean {
  if (objectSpans(text).some(([from, end]) => from < at && at < end)) return true;
  return [...text.matchAll(/`[^`\n]*`/g)].some(({ 0: found, index }) => index < at && at < index + found.length);
}

function lostMessagesIn(text: string): readonly ChannelMessage[] | null {
  if (!text.startsWith('analysis') || !lostChannel.test(text)) return null;
  return text.split(lostChannel).map((part) => {
    const [, channel, recipient = '', content = ''] = /^(analysis|commentary|final)(\s+to=\S+)?(.*)$/s.exec(part) ?? [];
    return channelMessage(channel, recipient, content);
  });
}
