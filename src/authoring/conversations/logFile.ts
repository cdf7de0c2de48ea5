import { gunzipSync } from 'node:zlib';
import Papa from 'papaparse';
import { fileLimits } from '../../engine/shell/files/boundedFile.ts';
import { readBytes } from '../../engine/shell/files/disk.ts';
import { Fault, messageOf } from '../../engine/shell/files/fault.ts';
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
  const bytes = bytesOf(path);
  const text = Buffer.isBuffer(bytes) ? textIn(bytes) : bytes;
  const placed = (problems: readonly Unread[]) => problems.map((each) => ({ file: path, ...each }));
  const failed = (problem: Unread) => ({ path, values: [], problems: placed([problem]), isTable: false });
  if (typeof text !== 'string') return failed(text);
  if (text.trim() === '') return failed({ line: 1, message: 'is empty' });
  const table = /^\uFEFF?\s*[[{]/.test(text) ? null : tableIn(text);
  if (table) return { path, values: table.values, problems: placed(table.problems), isTable: true };
  if (!/^\s*[[{]/m.test(text)) return failed({ line: 1, message: plain });
  const { values, problems } = valuesIn(text);
  return { path, values, problems: placed(problems), isTable: false };
}

const plain = 'is neither JSON nor a table: one JSON value a line, a list of them, or CSV with a heading is expected';

/** A table in a text; null where the text is not one. */
type Table = Pick<LogFile, 'values'> & { readonly problems: readonly Unread[] };

/** The least share of rows that have as many cells as the heading of a table: plain text has commas here and there. */
const leastWhole = 0.5;

/** Reads the rows of a table with a heading. */
function tableIn(text: string): Table | null {
  const bare = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .trimEnd();
  // Excel names the delimiter in a line before the heading.
  const [hint = '', delimiter = ''] = /^sep=(.)\n/.exec(bare) ?? [];
  const { data, errors } = Papa.parse<string[]>(bare.slice(hint.length), { skipEmptyLines: false, delimiter });
  const heading = (data[0] ?? []).map((name) => name.trim());
  const named = heading.filter((name) => name !== '');
  const isHeading =
    new Set(named).size === named.length && named.length > 1 && named.every(({ length }) => length < 60);
  const filled = data.slice(1).filter((cells) => cells.some(isFilled));
  const whole = filled.filter((cells) => cells.length === heading.length).length;
  if (!isHeading || whole === 0 || whole < leastWhole * filled.length) return null;
  const faulty = new Set(errors.flatMap(({ type, row }) => (type === 'Quotes' ? [row] : [])));
  const values: PlacedValue[] = [];
  const problems: Unread[] = [];
  let line = hint === '' ? 1 : 2;
  for (const [index, cells] of data.entries()) {
    const at = line;
    line += cells.reduce((sum, cell) => sum + cell.split('\n').length - 1, 1);
    if (faulty.has(index)) problems.push({ line: at, message: 'has a quote that is not closed, or one within a cell' });
    else if (cells.slice(heading.length).some(isFilled))
      problems.push({ line: at, message: tooMany(cells.length, heading.length) });
    else if (index > 0 && cells.some(isFilled)) values.push({ value: rowOf(heading, cells), line: at });
  }
  return { values, problems };
}

const isFilled = (cell: string) => cell.trim() !== '';

/** Columns without a name are the numbers of rows that some programs write. */
const rowOf = (heading: readonly string[], cells: readonly string[]) =>
  Object.fromEntries(heading.flatMap((name, column) => (name === '' ? [] : [[name, cells[column] ?? '']])));

const tooMany = (cells: number, columns: number) =>
  `has ${cells} cells, and the heading has ${columns}; it is left out. Put a text with a separator in quotes`;

type Unread = { readonly line: number; readonly message: string };

/** Returns the bytes of a file, or why it cannot be read: one file of many does not end the import. */
function bytesOf(path: string): Buffer | Unread {
  try {
    return readBytes(path);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { line: 1, message: error.message.replace(`${path}: `, '') };
  }
}

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
