import type { Option } from './option.ts';

/** Columns of a line, and where descriptions of options begin. */
const width = 120;
const column = 21;

/** Lists options with what each does, wrapped for a terminal. */
export const optionLines = (options: readonly Option[]): string =>
  options
    .map(({ name, value, description }) => optionText(`--${name}${value ? ` ${value}` : ''}`, description))
    .join('');

function optionText(head: string, description: string): string {
  const lines: string[] = [];
  let line = `  ${head} `.padEnd(column - 1);
  if (line.length >= column) {
    lines.push(line.trimEnd());
    line = ' '.repeat(column - 1);
  }
  for (const word of description.split(' ')) {
    if (line.length + 1 + word.length > width) {
      lines.push(line);
      line = ' '.repeat(column - 1);
    }
    line += ` ${word}`;
  }
  return `${[...lines, line].join('\n')}\n`;
}

/** The narrowest terminal that help is wrapped for: below it, the terminal breaks the lines. */
const narrowest = 50;

/** Wraps help between words for a terminal that is narrower than the text. */
export function fitted(help: string, columns: number | undefined): string {
  if (columns === undefined || columns >= width || columns < narrowest) return help;
  return joined(help.split('\n'))
    .flatMap((line) => broken(line, columns))
    .join('\n');
}

/** Joins lines that were broken only because of the width of the text. */
function joined(lines: readonly string[]): readonly string[] {
  const whole: string[] = [];
  let last = '';
  for (const line of lines) {
    const [, next = ''] = /^ *(\S+)/.exec(line) ?? [];
    const isBroken =
      next !== '' && last.length + 1 + next.length >= width - 1 && indentOf(line) === hangOf(whole.at(-1));
    if (isBroken) whole.push(`${whole.pop()} ${line.trimStart()}`);
    else whole.push(line);
    last = line;
  }
  return whole;
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Returns where the later lines of a line begin: below the description of an option or a command, or below the line itself. */
function hangOf(line = ''): number {
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
