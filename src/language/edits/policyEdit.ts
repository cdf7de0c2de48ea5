import {
  type ParsedPolicy,
  type PolicyBlock,
  type PolicyRange,
  parsePolicy,
  ruleIds,
} from '../../engine/core/domain/policy.ts';
import { offsetOf } from '../symbols/text.ts';
import { type TextEdits, withEdits } from '../symbols/textEdit.ts';

/** The editable text of a rule, and its range. */
export type RuleText = {
  readonly offset: number;
  readonly length: number;
  /** Its markdown without bullet, id mark and indentation. */
  readonly text: string;
  /** Columns that its further lines are indented by. */
  readonly indent: number;
};

/** The writing of a rule; null where its mark is within the words, so that only the text can change them. */
export function ruleTextOf(source: string, block: PolicyBlock, marks: ParsedPolicy['marks']): RuleText | null {
  const [from, to] = rangeOf(source, block);
  const sign = signOf(source, block);
  let [start, end] = [from + sign.length, to];
  for (const mark of marks) {
    const [markFrom, markTo] = rangeOf(source, mark);
    if (markFrom < from || markTo > to) continue;
    const isLast = source.slice(markTo, end).trim() === '';
    const isFirst = source.slice(start, markFrom).trim() === '';
    if (isLast) end = markFrom;
    else if (isFirst) start = markTo;
    else return null;
  }
  const slice = source.slice(start, end);
  const lead = /^\s*/.exec(slice)?.[0].length ?? 0;
  const body = slice.trim();
  const indent = block.column - 1 + sign.length;
  const unindented = new RegExp(`\\n {0,${indent}}`, 'g');
  const text = body.replaceAll('\r\n', '\n').replace(unindented, '\n');
  return { offset: start + lead, length: body.length, text, indent };
}

/** A line break that means a space: not one before an empty line, a list, a heading, a quote or a table. */
const softBreak = /(?<=\S)(?<!\\) ?\n[ \t]{0,3}(?=\S)(?!>|\||(?:[-*+]|\d+[.)]|#{1,6})[ \t]|[-=]{2})/g;

/** Returns the text of a rule with each of its paragraphs in one line. Code keeps its lines. */
export function inParagraphs(text: string): string {
  return /```|~~~/.test(text) ? text : text.replace(softBreak, ' ');
}

/** Returns a text that was edited in paragraphs, with the line breaks of the former text in the words that were kept. */
function withLineBreaks(former: string, edited: string): string {
  const shown = inParagraphs(former);
  const shortest = Math.min(shown.length, edited.length);
  let start = 0;
  while (start < shortest && shown[start] === edited[start]) start += 1;
  let end = 0;
  while (end < shortest - start && shown.at(-1 - end) === edited.at(-1 - end)) end += 1;
  const head = placeInLines(former, start);
  const tail = placeInLines(former, shown.length - end);
  return former.slice(0, head) + edited.slice(start, edited.length - end) + former.slice(tail);
}

/** Returns the place in a text of a place in its paragraphs. */
function placeInLines(text: string, place: number): number {
  let from = 0;
  let shown = 0;
  for (const { index, 0: lineBreak } of inParagraphs(text) === text ? [] : text.matchAll(softBreak)) {
    if (shown + index - from >= place) break;
    shown += index - from + 1;
    from = index + lineBreak.length;
  }
  return from + place - shown;
}

/**
 * Returns the edits that replace the text of the rule on a line (from 1). Refused if the result would no longer be this
 * one rule.
 */
export function ruleEdits(source: string, line: number, text: string): TextEdits {
  const before = parsePolicy(source);
  const block = before.blocks.find((each) => each.line === line);
  const written = block && ruleTextOf(source, block, before.marks);
  if (!block || !written) return { problem: `no rule of line ${line} can be changed; edit the text` };
  if (text.trim() === '') return { problem: 'a rule has words; take it out in the text' };
  const typed = text.trim().replaceAll('\r\n', '\n');
  const kept = withLineBreaks(written.text, typed);
  if (kept === written.text) return { edits: [] };
  const editsTo = (changed: string): TextEdits => {
    const indented = changed.replace(/\n(?=.)/g, `\n${' '.repeat(written.indent)}`);
    const { offset, length } = written;
    const edits = [{ offset, length, text: indented.replaceAll('\n', eolOf(source)) }];
    const isSame = (each: PolicyBlock, at: number) => each.id === before.blocks[at]?.id;
    return checked(before, withEdits(source, edits), isSame, line) ?? { edits };
  };
  // A dash that is typed behind a line break would begin a list.
  const edits = editsTo(kept);
  return 'problem' in edits ? editsTo(typed) : edits;
}

/** The edits that give the rule on a line (from 1) an id. */
export function markEdits(source: string, line: number, id: string): TextEdits {
  const before = parsePolicy(source);
  const block = before.blocks.find((each) => each.line === line);
  if (!block || block.id !== null) return { problem: `line ${line} begins no rule that has no id` };
  const [, to] = rangeOf(source, block);
  const edits = [{ offset: to, length: 0, text: ` {#${id}}` }];
  const after = withEdits(source, edits);
  if (parsePolicy(after).problems.length > before.problems.length || !ruleIds.pattern.test(id))
    return { problem: `"${id}" is not an id for it: an id is ${ruleIds.words}, and must be unique` };
  return checked(before, after, () => true, line) ?? { edits };
}

/**
 * The edits that write a new list item as the last rule below the heading on a line (from 1), or before the first
 * heading where no heading is on that line. It looks like the list item before it.
 */
export function addRuleEdits(source: string, section: number, text: string, id: string): TextEdits {
  const before = parsePolicy(source);
  const words = text.trim().replace(/\s+/g, ' ');
  if (words === '') return { problem: 'a rule has words' };
  if (id !== '' && !ruleIds.pattern.test(id)) return { problem: `"${id}" is not an id: an id is ${ruleIds.words}` };
  const start = before.blocks.findIndex((block) => block.line === section && isHeading(source, block));
  const length = before.blocks.slice(start + 1).findIndex((block) => isHeading(source, block));
  const end = length < 0 ? before.blocks.length : start + 1 + length;
  const above = before.blocks[end - 1];
  const items = before.blocks.slice(start + 1, end).filter(({ isRule }) => isRule);
  const last = items.findLast(({ column }) => column === items[0]?.column);
  const eol = eolOf(source);
  const sign = last ? nextSign(signOf(source, last)) : '- ';
  const item = `${' '.repeat(last ? last.column - 1 : 0)}${sign}${words}${id === '' ? '' : ` {#${id}}`}`;
  const offset = above ? rangeOf(source, above)[1] : 0;
  const edit = above
    ? { offset, length: 0, text: `${above.isRule && !isHeading(source, above) ? eol : eol + eol}${item}` }
    : { offset, length: 0, text: `${item}${source.trim() === '' ? '' : eol + eol}` };
  const lineEnd = /^[ \t]*(\r?\n|$)/.exec(source.slice(offset));
  if (above && !lineEnd) return { problem: 'something follows on the line of the last rule; edit the text' };
  const added = parsePolicy(withEdits(source, [edit]));
  if (added.problems.length > before.problems.length) return { problem: `another rule has the id ${id}` };
  const expected = before.blocks.map(keyOf).toSpliced(end, 0, keyOf({ text: words, isRule: true, id: id || null }));
  return sameKeys(added, expected) ? { edits: [edit] } : { problem: 'that would not be one new rule; edit the text' };
}

/** The edits that take out the list item on a line (from 1). Refused where something else would change its meaning. */
export function removeRuleEdits(source: string, line: number): TextEdits {
  const before = parsePolicy(source);
  const at = before.blocks.findIndex((block) => block.line === line && block.isRule);
  const block = before.blocks[at];
  if (!block || isHeading(source, block)) return { problem: `no rule of line ${line} can be taken out; edit the text` };
  const lines = linesOf(source, block);
  const edits = [{ offset: lines.offset, length: lines.length, text: '' }];
  return !hasMore(source, block) &&
    sameKeys(parsePolicy(withEdits(source, edits)), before.blocks.map(keyOf).toSpliced(at, 1))
    ? { edits }
    : { problem: 'other lines belong to this rule; edit the text' };
}

/** Returns the edits that swap the list item on a line (from 1) with the one before or after it in its section. */
export function moveRuleEdits(source: string, line: number, direction: 'up' | 'down'): TextEdits {
  const before = parsePolicy(source);
  const at = before.blocks.findIndex((block) => block.line === line && block.isRule);
  const first = direction === 'up' ? at - 1 : at;
  const [one, other] = [before.blocks[first], before.blocks[first + 1]];
  const canMove = (block: PolicyBlock | undefined) => block?.isRule && !isHeading(source, block);
  if (at < 0 || !one || !other || !canMove(one) || !canMove(other))
    return { problem: `the rule of line ${line} has no rule to change places with` };
  const [oneText, otherText] = [bodyOf(source, one), bodyOf(source, other)];
  const edits = [
    { ...oneText, text: source.slice(otherText.offset, otherText.offset + otherText.length) },
    { ...otherText, text: source.slice(oneText.offset, oneText.offset + oneText.length) },
  ];
  const expected = before.blocks.map(keyOf);
  [expected[first], expected[first + 1]] = [keyOf(other), keyOf(one)];
  const areAlike = one.column === other.column && !hasMore(source, one) && !hasMore(source, other);
  return areAlike && sameKeys(parsePolicy(withEdits(source, edits)), expected)
    ? { edits }
    : { problem: 'these two rules are not written alike; edit the text' };
}

/** Whether a block is a heading in the file, not a list item or paragraph. */
export function isHeading(source: string, block: PolicyBlock): boolean {
  return block.isRule && source.startsWith('#', rangeOf(source, block)[0]);
}

/** Bullet, number or heading marks before the words of a block. */
function signOf(source: string, block: PolicyBlock): string {
  const [from, to] = rangeOf(source, block);
  return /^(?:(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+)?/.exec(source.slice(from, to))?.[0] ?? '';
}

const nextSign = (sign: string) =>
  sign.replace(/^\d+/, (number) => String(Number(number) + 1)).replace(/\[[xX]\]/, '[ ]');

const eolOf = (source: string) => (source.includes('\r\n') ? '\r\n' : '\n');

/** Everything of a list item after its bullet. */
function bodyOf(source: string, block: PolicyBlock) {
  const [from, to] = rangeOf(source, block);
  const offset = from + signOf(source, block).length;
  return { offset, length: to - offset };
}

/** The whole lines of a block, with the end of the last one. */
function linesOf(source: string, block: PolicyBlock) {
  const [from, to] = rangeOf(source, block);
  const offset = source.lastIndexOf('\n', from - 1) + 1;
  const end = source.indexOf('\n', to);
  return { offset, length: (end < 0 ? source.length : end + 1) - offset };
}

/** Whether more than words belongs to a list item: the next line with text is indented below it. */
function hasMore(source: string, block: PolicyBlock): boolean {
  const { offset, length } = linesOf(source, block);
  const indent = /^(?:[ \t]*\r?\n)*([ \t]*)\S/.exec(source.slice(offset + length))?.[1] ?? '';
  return indent.length > block.column - 1;
}

/** Returns what must stay the same of a block while others are added, moved and taken out. */
const keyOf = ({ text, isRule, id }: Pick<PolicyBlock, 'text' | 'isRule' | 'id'>) => JSON.stringify([text, isRule, id]);

const sameKeys = ({ blocks }: ParsedPolicy, expected: readonly string[]) =>
  blocks.length === expected.length && blocks.every((block, at) => keyOf(block) === expected[at]);

/** The same blocks as before, and their words except for those of one line. */
function checked(
  before: ParsedPolicy,
  source: string,
  isSame: (block: PolicyBlock, index: number) => boolean,
  line: number,
): { readonly problem: string } | null {
  const { blocks } = parsePolicy(source);
  const isKept =
    blocks.length === before.blocks.length &&
    blocks.every(
      (block, at) =>
        isSame(block, at) &&
        block.isRule === before.blocks[at]?.isRule &&
        (before.blocks[at]?.line === line || block.text === before.blocks[at]?.text),
    );
  return isKept ? null : { problem: 'that would no longer be one rule; edit the text' };
}

function rangeOf(source: string, { line, column, endLine, endColumn }: PolicyRange): readonly [number, number] {
  const text = { text: source };
  return [offsetOf(text, line, column), offsetOf(text, endLine, endColumn)];
}
