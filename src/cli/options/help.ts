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
