import type { ImportProblem } from './conversation.ts';
import { JsonValues, type PlacedValue, type Unread } from './jsonValues.ts';
import { startOf, textOf, UnreadText } from './logText.ts';
import { type Table, TableRows } from './tableRows.ts';

/** A file of conversations as values: those of its JSON, or the rows of its table. */
export type LogFile = {
  readonly path: string;
  readonly values: readonly PlacedValue[];
  readonly problems: readonly ImportProblem[];
  /** Whether the values are the rows of a table. */
  readonly isTable: boolean;
};

/**
 * Reads a file of conversations piece by piece: the values of a file are in the memory, and its text is not. What cannot
 * be read of it is a problem with its line, and one file of many does not end the import.
 * @param pause is awaited after each piece
 */
export async function readLogFile(path: string, pause: () => Promise<void>): Promise<LogFile> {
  const log = (values: readonly PlacedValue[], problems: readonly Unread[], isTable = false): LogFile => ({
    ...{ path, values, isTable },
    problems: problems.map((each) => ({ file: path, ...each })),
  });
  const failed = (message: string, line = 1) => log([], [{ line, message }]);
  try {
    const { start, pieces } = await startOf(textOf(path), (texts) => firstSign(texts) !== undefined);
    const sign = firstSign(start);
    if (sign === undefined) return failed('is empty');
    const isJson = sign === '[' || sign === '{';
    const table = isJson ? null : await tableIn(pieces, pause);
    if (table) return log(table.values, table.problems, true);
    const found = new JsonValues();
    for await (const text of isJson ? pieces : textOf(path)) {
      found.add(text);
      await pause();
    }
    const { values, problems, isJson: hasJson } = found.end();
    return hasJson ? log(values, problems) : failed(plain);
  } catch (error) {
    if (error instanceof UnreadText) return failed(error.message, error.line);
    throw error;
  }
}

const plain = 'is neither JSON nor a table: expected one JSON value per line, a list of them, or CSV with a heading';

const firstSign = (texts: readonly string[]): string | undefined => texts.at(-1)?.trimStart()[0];

/** Reads a text as a table; null where it is not one. */
async function tableIn(pieces: AsyncIterable<string>, pause: () => Promise<void>): Promise<Table | null> {
  const rows = new TableRows();
  for await (const text of pieces) {
    if (!rows.add(text)) return null;
    await pause();
  }
  return rows.end();
}
