import { fromMarkdown } from 'mdast-util-from-markdown';
import { contentHash } from '../values/hash.ts';
import { type Domain, hostedPrompt, type Policy, type PolicyRule } from './domain.ts';
import type { Task } from './task.ts';

type Root = ReturnType<typeof fromMarkdown>;
type Node = Root | Root['children'][number];

/** A place in the policy file; lines and columns count from 1, the end column is exclusive. */
export type PolicyRange = {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
};

/** A list item, heading or paragraph of the policy, in plain text. `id` is the one of its mark, if it has one. */
export type PolicyBlock = PolicyRange & { readonly text: string; readonly id: string | null; readonly isRule: boolean };

/** An id mark `{#id}` as it is in the file. */
export type PolicyMark = PolicyRange & { readonly id: string };

export type PolicyProblem = PolicyRange & {
  readonly code:
    | 'policy/bad-mark'
    | 'policy/unclosed-mark'
    | 'policy/misplaced-mark'
    | 'policy/second-mark'
    | 'policy/duplicate-rule'
    | 'policy/too-deep'
    | 'policy/too-intricate';
  readonly message: string;
  readonly hint: string;
};

export type ParsedPolicy = {
  readonly policy: Policy;
  readonly blocks: readonly PolicyBlock[];
  readonly marks: readonly PolicyMark[];
  readonly problems: readonly PolicyProblem[];
};

/** The valid ids of a rule. */
export const ruleIds = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9_-]*$/,
  words: 'letters, digits, dashes and underscores, beginning with a letter or digit',
} as const;

/** An id mark, whatever is in it. */
export const markPattern = /\{#([^{}\n]*)\}/g;

/** The beginning of an id mark without its closing brace. */
const unclosedPattern = /\{#([A-Za-z0-9][A-Za-z0-9_-]*)(?![A-Za-z0-9_-]|[^{}\n]*\})/g;

type Piece = { readonly source: string; readonly offset: number; readonly isText: boolean; readonly value: string };
type Found = PolicyMark & { readonly offset: number; readonly length: number };
type Reading = {
  readonly source: string;
  readonly lineStarts: readonly number[];
  readonly blocks: PolicyBlock[];
  readonly marks: Found[];
  readonly problems: PolicyProblem[];
};

/**
 * Reads a policy in markdown. Its rules are the list items and headings that carry an id mark `{#id}`; the text
 * that the agent gets is the file with those marks taken out. Any markdown is a policy, with or without marks.
 */
export function parsePolicy(source: string): ParsedPolicy {
  const reading: Reading = { source, lineStarts: lineStartsOf(source), blocks: [], marks: [], problems: [] };
  const deep = deepLine(source);
  const intricate = intricateBlock(source);
  if (deep !== null) reportDeep(reading, deep);
  else if (intricate !== null) reportIntricate(reading, intricate);
  else visit(fromMarkdown(source), reading);
  const rules = reading.blocks.flatMap((block): PolicyRule[] =>
    block.id === null ? [] : [{ id: block.id, text: block.text, line: block.line, endLine: block.endLine }],
  );
  const text = withoutMarks(source, reading.marks);
  return {
    policy: { text, rules, hash: contentHash(text) },
    blocks: reading.blocks,
    marks: reading.marks.map(({ id, line, column, endLine, endColumn }) => ({ id, line, column, endLine, endColumn })),
    problems: reading.problems,
  };
}

/** Levels of lists and quotes in a policy. A parser of markdown takes seconds for thousands, and exhausts the stack. */
const deepestBlock = 100;

/** Matches the start of a list item or a quote at the start of a line, with the space around it. */
const containers = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))*[ \t]*/;

/** Returns the offset of the first line that may begin deeper than a policy can be, or null. */
function deepLine(source: string): number | null {
  let offset = 0;
  for (const line of source.split('\n')) {
    const [start = ''] = containers.exec(line) ?? [];
    // A level takes a mark, or two columns of white space below a mark in a line before.
    const marks = start.match(/[>+*.)-]/g)?.length ?? 0;
    if (marks > deepestBlock || start.length > 4 * deepestBlock) return offset;
    offset += line.length + 1;
  }
  return null;
}

function reportDeep(reading: Reading, offset: number): void {
  report(
    reading,
    'policy/too-deep',
    rangeOf(reading, offset, offset + 1),
    `The policy has more than ${deepestBlock} levels of lists and quotes.`,
    'Write it with fewer levels. Until then its rules are not read.',
  );
}

/**
 * Comparisons that a parser of markdown makes at most for the emphasis, links and code of the large blocks of a policy:
 * a few seconds. It compares each mark in a block with each, and each length of backticks with each character.
 */
const mostComparisons = 10_000_000;

/** Marks in a block from which on it counts as large. */
const largeBlock = 200;

/** Matches a line that ends a paragraph, whatever it is in: an empty one, a heading, or an item of a list. */
const blockStart = /^(?:[ \t>]*$| {0,3}(?:#{1,6}|[-+*])[ \t]+\S)/;

const emphasisOrLink = /\*+|_+|\]/g;

/** Returns the offset of the block with which the large blocks of a policy need too many comparisons, or null. */
function intricateBlock(source: string): number | null {
  let left = mostComparisons;
  let [offset, start, marks, characters] = [0, 0, 0, 0];
  let backticks = new Set<number>();
  for (const line of source.split('\n')) {
    if (blockStart.test(line)) {
      [start, marks, characters] = [offset, 0, 0];
      if (backticks.size > 0) backticks = new Set();
    }
    const [marksBefore, charactersBefore, lengthsBefore] = [marks, characters, backticks.size];
    marks += line.match(emphasisOrLink)?.length ?? 0;
    characters += line.length + 1;
    for (const [run] of line.matchAll(/`+/g)) backticks.add(run.length);
    if (marks > largeBlock) left -= marks ** 2 - marksBefore ** 2;
    left -= Math.max(0, backticks.size - 1) * characters - Math.max(0, lengthsBefore - 1) * charactersBefore;
    if (left < 0) return start;
    offset += line.length + 1;
  }
  return null;
}

function reportIntricate(reading: Reading, offset: number): void {
  report(
    reading,
    'policy/too-intricate',
    rangeOf(reading, offset, offset + 1),
    'The policy has too many marks of emphasis, links and code without an empty line between them.',
    'Divide this block with empty lines, or remove marks. Until then its rules are not read.',
  );
}

/**
 * The agent's system prompt: the policy and the time at which the task happens, nothing else; or the policy in the text
 * that an imported environment has for its agents.
 */
export function systemPrompt(domain: Domain, task: Task): string {
  const own = hostedPrompt(domain, task, 'agent');
  if (own !== undefined) return own.replace('{policy}', () => domain.policy.text);
  return `${domain.policy.text.trim()}\n\nThe current time is ${task.now ?? domain.file.now}.`;
}

/**
 * Blocks whose text contains the quote, ignoring case, white space and emphasis: rules first, then the innermost.
 * An empty list means that the policy does not say this.
 */
export function blocksQuoting(blocks: readonly PolicyBlock[], quote: string): readonly PolicyBlock[] {
  const wanted = normalised(quote.replace(/(\.\.\.|…)\s*$/, ''));
  if (wanted === '') return [];
  const found = blocks.filter(({ text }) => normalised(text).includes(wanted));
  return found.toSorted((a, b) => Number(b.isRule) - Number(a.isRule) || a.text.length - b.text.length);
}

function visit(node: Node, reading: Reading): void {
  if (node.type === 'heading') addBlock(node, [node], true, reading);
  else if (node.type === 'paragraph') addBlock(node, [node], false, reading);
  else if (node.type === 'listItem') {
    const own = node.children.filter(({ type }) => type === 'paragraph' || type === 'heading');
    if (own.length > 0) addBlock(node, own, true, reading);
    for (const child of node.children) if (!own.includes(child)) visit(child, reading);
  } else if ('children' in node) {
    for (const child of node.children) visit(child as Node, reading);
  }
}

function addBlock(start: Node, own: readonly Node[], isRule: boolean, reading: Reading): void {
  const pieces = own.flatMap((node) => piecesOf(node, reading.source));
  const texts = pieces.filter((piece) => piece.isText);
  const found = texts.flatMap((piece) => matchesOf(markPattern, piece, reading));
  if (isRule) for (const piece of texts) reportUnclosed(matchesOf(unclosedPattern, piece, reading), reading);
  const from = start.position?.start.offset ?? 0;
  const to = own.at(-1)?.position?.end.offset ?? from;
  const range = rangeOf(reading, from, to);
  const text = pieces.map(({ value }) => value.replace(markPattern, ' ')).join('');
  const id = isRule ? acceptedMark(found, reading) : refuseMarks(found, reading);
  reading.blocks.push({ ...range, text: text.replace(/\s+/g, ' ').trim(), id, isRule });
}

/** Texts below a node in order; between two blocks there is white space. */
function piecesOf(node: Node, source: string): readonly Piece[] {
  if ('value' in node) {
    const from = node.position?.start.offset ?? 0;
    const slice = source.slice(from, node.position?.end.offset ?? from);
    return [{ source: slice, offset: from, isText: node.type === 'text', value: node.value }];
  }
  if (node.type === 'break') return [{ source: '', offset: 0, isText: false, value: ' ' }];
  const inner = 'children' in node ? node.children.flatMap((child) => piecesOf(child as Node, source)) : [];
  return node.type === 'paragraph' ? [...inner, { source: '', offset: 0, isText: false, value: ' ' }] : inner;
}

function matchesOf(pattern: RegExp, piece: Piece, reading: Reading): readonly Found[] {
  return [...piece.source.matchAll(pattern)].map((match) => {
    const offset = piece.offset + match.index;
    const range = rangeOf(reading, offset, offset + match[0].length);
    return { ...range, id: match[1] ?? '', offset, length: match[0].length };
  });
}

function acceptedMark(found: readonly Found[], reading: Reading): string | null {
  const good = found.filter((mark) => {
    if (ruleIds.pattern.test(mark.id)) return true;
    report(
      reading,
      'policy/bad-mark',
      mark,
      `{#${mark.id}} is not an id mark.`,
      `Write ${ruleIds.words}: for example {#confirm-before-write}.`,
    );
    return false;
  });
  for (const second of good.slice(1)) {
    const hint = 'Keep one of the two, or split the rule into two list items.';
    report(reading, 'policy/second-mark', second, `A rule has one id; {#${second.id}} is a second one.`, hint);
  }
  const [first] = good;
  if (!first) return null;
  reading.marks.push(...good);
  const earlier = reading.blocks.find(({ id }) => id === first.id);
  if (!earlier) return first.id;
  report(
    reading,
    'policy/duplicate-rule',
    first,
    `The rule id ${first.id} is taken by line ${earlier.line}.`,
    'Give this rule another id.',
  );
  return null;
}

function reportUnclosed(found: readonly Found[], reading: Reading): void {
  for (const mark of found) {
    const message = `{#${mark.id} has no closing brace, so it marks no rule and the agent reads it.`;
    report(reading, 'policy/unclosed-mark', mark, message, `Write {#${mark.id}}.`);
  }
}

function refuseMarks(found: readonly Found[], reading: Reading): null {
  for (const mark of found) {
    const message = `{#${mark.id}} is in a paragraph, so it marks no rule and the agent reads it.`;
    report(reading, 'policy/misplaced-mark', mark, message, 'Make the paragraph a list item or a heading.');
  }
  return null;
}

function report(reading: Reading, code: PolicyProblem['code'], at: PolicyRange, message: string, hint: string): void {
  const { line, column, endLine, endColumn } = at;
  reading.problems.push({ code, message, hint, line, column, endLine, endColumn });
}

/** Takes the marks out together with the white space that set them off. */
function withoutMarks(source: string, marks: readonly Found[]): string {
  const ordered = marks.toSorted((a, b) => a.offset - b.offset);
  let text = '';
  let at = 0;
  for (const { offset, length } of ordered) {
    const before = source.slice(at, offset);
    const lineBefore = source.slice(source.lastIndexOf('\n', offset - 1) + 1, offset);
    const opensText = /^\s*(?:(?:[-*+]|\d+[.)])\s+|#{1,6}\s+|>\s?)+$/.test(lineBefore);
    const alone = lineBefore.trim() === '';
    text += opensText ? before : before.replace(alone ? /\s+$/ : /[ \t]+$/, '');
    at = offset + length;
    if (opensText) at += /^[ \t]*/.exec(source.slice(at))?.[0].length ?? 0;
  }
  return text + source.slice(at);
}

const normalised = (text: string) =>
  text
    .replace(/[*_`]/g, '')
    .replace(/\{#[^{}\n]*\}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();

function lineStartsOf(source: string): readonly number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function rangeOf({ lineStarts }: Reading, from: number, to: number): PolicyRange {
  const start = lineStarts.findLastIndex((offset) => offset <= from);
  const end = lineStarts.findLastIndex((offset) => offset <= to);
  return {
    line: start + 1,
    column: from - (lineStarts[start] ?? 0) + 1,
    endLine: end + 1,
    endColumn: to - (lineStarts[end] ?? 0) + 1,
  };
}
