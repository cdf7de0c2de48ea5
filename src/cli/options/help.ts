import { commandInTexts } from '../terminal/calledAs.ts';
import type { Option } from './option.ts';

/** Columns of a line in a wide terminal and in a file, and where descriptions of options begin. */
const width = 120;
const column = 21;

/** Lists options with what each does, not wrapped yet. */
export const optionLines = (options: readonly Option[]): string =>
  options
    .map(({ name, value, description }) => {
      const head = `  --${name}${value ? ` ${value}` : ''} `;
      const start = head.length >= column ? `${head.trimEnd()}\n${' '.repeat(column)}` : head.padEnd(column);
      return `${start}${description}\n`;
    })
    .join('');

/** Joins the lines of a text that are broken only because of the width of its source: all but rows of a list. */
export function unbroken(text: string): string {
  const whole: string[] = [];
  for (const line of text.split('\n')) {
    const last = whole.at(-1) ?? '';
    const isRow = /^ {2}\S/.test(line);
    const isOfLast = indentOf(line) > 0 || indentOf(last) === 0;
    if (isRow || !isOfLast || line.trim() === '' || last.trim() === '') whole.push(line);
    else whole.push(`${whole.pop()} ${line.trimStart()}`);
  }
  return whole.join('\n');
}

/** The narrowest terminal that help is wrapped for: below it, the terminal breaks the lines. */
const narrowest = 50;

/** Wraps help between words for the width of a terminal. */
export function fitted(help: string, columns = width): string {
  const most = columns < narrowest ? width : Math.min(columns, width);
  return help
    .replaceAll(commandInTexts, unbreakable)
    .split('\n')
    .flatMap((line) => broken(line, most))
    .join('\n')
    .replaceAll(unbreakable, commandInTexts);
}

/** The command on one line: the output writer replaces it where a person types it without npx. */
const unbreakable = commandInTexts.replace(' ', '\u00a0');

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Returns where the later lines of a line begin: below a description, behind the command of a usage, or below the line itself. */
function hangOf(line: string): number {
  if (line.startsWith('rehearsal ')) return 4;
  const isOption = line.startsWith('  --') && line[column - 1] === ' ' && line[column] !== ' ';
  const [head = ''] = isOption ? [line.slice(0, column)] : (/^ {2}\S+ {2,}(?=\S)/.exec(line) ?? []);
  return head.length || indentOf(line);
}

function broken(line: string, columns: number): readonly string[] {
  const hang = ' '.repeat(hangOf(line));
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const before = rest.lastIndexOf(' ', columns);
    const at = before > hang.length ? before : rest.indexOf(' ', columns);
    if (at === -1) break;
    lines.push(rest.slice(0, at).trimEnd());
    rest = hang + rest.slice(at + 1);
  }
  return [...lines, rest];
}
