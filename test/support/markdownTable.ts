/** Returns a Markdown table. The first row is its header. */
export function markdownTable(table: readonly (readonly string[])[]): string {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [first = [], ...rest] = table;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}

/** Replaces the text of a page between its comments `<!-- NAME -->` and `<!-- /NAME -->`. */
export function withGenerated(page: string, name: string, text: string): string {
  const [before, rest] = page.split(`<!-- ${name} -->`);
  const after = rest?.split(`<!-- /${name} -->`)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no comments ${name} and /${name}`);
  return `${before}<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->${after}`;
}

/** Returns the cells of the table between the comments `<!-- NAME -->` and `<!-- /NAME -->`, without its header. */
export function tableIn(page: string, name: string): readonly (readonly string[])[] {
  const text = page.split(`<!-- ${name} -->`)[1]?.split(`<!-- /${name} -->`)[0] ?? '';
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));
}
