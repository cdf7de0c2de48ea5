import { gunzipSync } from 'node:zlib';
import Papa from 'papaparse';
import { fileLimits } from '../../engine/shell/files/boundedFile.ts';
import { readBytes } from '../../engine/shell/files/disk.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { ImportProblem } from './conversation.ts';
import { type PlacedValue, valuesIn } from './jsonValues.ts';

/** A file of conversations as values: those of its JSON, or the rows of its table. */
export type LogFile = {
  readonly path: string;
  readonly values: readonly PlacedValue[];
  readonly problems: readonly ImportProblem[];
  /** Whether the values are the rows of a table. */
  readonly isTable: boolean;
};

/** Reads a file of conversations. What cannot be read of it is a problem with its line. */
export function readLogFile(path: string): LogFile {
  const text = textIn(readBytes(path));
  const failed = ({ line, message }: Unread) => ({
    path,
    values: [],
    problems: [{ file: path, line, message }],
    isTable: false,
  });
  if (typeof text !== 'string') return failed(text);
  if (text.trim() === '') return failed({ line: 1, message: 'is empty' });
  const rows = /^\uFEFF?\s*[[{]/.test(text) ? [] : rowsIn(text);
  if (rows.length > 0) return { path, values: rows, problems: [], isTable: true };
  const { values, problems } = valuesIn(text);
  return { path, values, problems: problems.map((each) => ({ file: path, ...each })), isTable: false };
}

/** Returns the rows of a table with a heading, or none where the text is not a table. */
function rowsIn(text: string): readonly PlacedValue[] {
  const bare = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .trimEnd();
  const { data, errors } = Papa.parse<string[]>(bare, { skipEmptyLines: false });
  const [heading = [], ...rows] = data;
  const isTable = heading.length > 1 && heading.every((name) => name.trim() !== '' && name.length < 60);
  if (!isTable || errors.some(({ type }) => type === 'Quotes')) return [];
  let line = 1 + newlinesIn(heading);
  return rows.flatMap((cells): readonly PlacedValue[] => {
    const at = line;
    line += 1 + newlinesIn(cells);
    if (cells.every((cell) => cell.trim() === '')) return [];
    return [
      { value: Object.fromEntries(heading.map((name, index) => [name.trim(), cells[index] ?? ''])), line: at + 1 },
    ];
  });
}

const newlinesIn = (cells: readonly string[]) => cells.reduce((sum, cell) => sum + cell.split('\n').length - 1, 0);

type Unread = { readonly line: number; readonly message: string };

/** Returns the text of a file in UTF-8 or UTF-16, also if it is packed with gzip, or why it cannot be read. */
function textIn(bytes: Buffer): string | Unread {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return unpacked(bytes);
  if (bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04')))
    return { line: 1, message: 'is a zip archive. Unpack it, and import the files in it' };
  if (bytes.subarray(0, 4).equals(Buffer.from('PAR1')))
    return { line: 1, message: 'is a Parquet file. Write its rows as JSON lines, and import these' };
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { line: lineOfFault(bytes), message: 'is not a text in UTF-8. Save the file with the encoding UTF-8' };
  }
}

function unpacked(bytes: Buffer): string | Unread {
  try {
    return textIn(gunzipSync(bytes, { maxOutputLength: fileLimits.record }));
  } catch (error) {
    return { line: 1, message: `cannot be unpacked with gzip (${messageOf(error)}). Check that the file is whole` };
  }
}

/** Returns the first line with bytes that are not UTF-8. */
function lineOfFault(bytes: Buffer): number {
  const valid = new TextDecoder('utf-8').decode(bytes).split('\uFFFD')[0] ?? '';
  return valid.split('\n').length;
}
