export type TextTable = { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** A table in columns: the first to the left, numbers to the right. */
export function tableLines({ columns, rows }: TextTable): readonly string[] {
  const widths = columns.map((column, at) => Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const isNumeric = columns.map((_, at) => at > 0 && rows.every((row) => /^(?:[-+\d.]|none|$)/.test(row[at] ?? '')));
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, at) => (isNumeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join('  ')}`.trimEnd();
  return [line(columns), ...rows.map(line)];
}
