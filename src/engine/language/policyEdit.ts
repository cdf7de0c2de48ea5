import { type ParsedPolicy, type PolicyBlock, type PolicyRange, parsePolicy, ruleIds } from '../core/policy.ts';
import { offsetOf } from './text.ts';
import { type TextEdits, withEdits } from './textEdit.ts';

/** What a person writes of a rule: its markdown without bullet, id mark and indentation, and where that stands. */
export type RuleText = {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
  /** Columns that its further lines are indented by. */
  readonly indent: number;
};

/** The writing of a rule; null where its mark stands within the words, so that only the text can change them. */
export function ruleTextOf(source: string, block: PolicyBlock, marks: ParsedPolicy['marks']): RuleText | null {
  const [from, to] = rangeOf(source, block);
  const sign = /^(?:(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+)?/.exec(source.slice(from, to))?.[0] ?? '';
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

/** The edits that give the rule on a line (from 1) other words. Refused where it would no longer be this one rule. */
export function ruleEdits(source: string, line: number, text: string): TextEdits {
  const before = parsePolicy(source);
  const block = before.blocks.find((each) => each.line === line);
  const written = block && ruleTextOf(source, block, before.marks);
  if (!block || !written) return { problem: `no rule of line ${line} can be changed; edit the text` };
  if (text.trim() === '') return { problem: 'a rule has words; take it out in the text' };
  if (text.trim() === written.text) return { edits: [] };
  const eol = source.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.trim().replaceAll('\r\n', '\n').split('\n');
  const body = lines.map((each, at) => (at === 0 || each === '' ? each : ' '.repeat(written.indent) + each)).join(eol);
  const edits = [{ offset: written.offset, length: written.length, text: body }];
  return checked(before, withEdits(source, edits), (each, at) => each.id === before.blocks[at]?.id, line) ?? { edits };
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
    return { problem: `"${id}" is no id for it: an id is ${ruleIds.words}, and no other rule has it` };
  return checked(before, after, () => true, line) ?? { edits };
}

/** The same blocks as before, and their words but for those of one line. */
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
