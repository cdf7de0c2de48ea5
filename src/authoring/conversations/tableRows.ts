import Papa from 'papaparse';
import type { PlacedValue, Unread } from './jsonValues.ts';

/** The rows of a table, and why others of its lines are not read. */
export type Table = { readonly values: readonly PlacedValue[]; readonly problems: readonly Unread[] };

type Row = { readonly cells: readonly string[]; readonly isFaulty: boolean; readonly start: number };

/** The least share of rows that have as many cells as the heading of a table: plain text has commas here and there. */
const leastWhole = 0.5;

/** The least number of characters that are read at once: the delimiter is found in the first ones. */
const leastRead = 65_536;

/** Collects the rows of a table with a heading from a text that comes in pieces. */
export class TableRows {
  readonly #values: PlacedValue[] = [];
  readonly #problems: Unread[] = [];
  #heading: readonly string[] | null = null;
  #isTable = true;
  #delimiter = '';
  #line = 1;
  /** The number of rows with content, and of those that have as many cells as the heading. */
  #filled = 0;
  #whole = 0;
  /** The row that may not have ended, and the pieces behind it. */
  #rest = '';
  #waiting: string[] = [];
  #waitingLength = 0;

  /** Returns whether the text may still be a table. */
  add(text: string): boolean {
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    // A row that does not end is read again only when the text is twice as long.
    if (this.#waitingLength >= Math.max(leastRead, this.#rest.length)) this.#read(false);
    return this.#isTable;
  }

  /** Returns the table; null where the text is not one. */
  end(): Table | null {
    if (this.#isTable) this.#read(true);
    if (!this.#isTable || this.#whole === 0 || this.#whole < leastWhole * this.#filled) return null;
    return { values: this.#values, problems: this.#problems };
  }

  #read(isEnd: boolean): void {
    const text = this.#rest + this.#waiting.join('');
    // A line end may have its second half in the next piece.
    const half = !isEnd && text.endsWith('\r') ? '\r' : '';
    const plain = this.#withoutHint(text.slice(0, text.length - half.length).replace(/\r\n?/g, '\n'));
    // An empty line at the end would count as a row without the delimiter.
    this.#delimiter ||= Papa.parse(plain.trimEnd(), { preview: 10 }).meta.delimiter;
    let last: Row | null = null;
    let cursor = 0;
    Papa.parse<string[]>(plain, {
      ...{ skipEmptyLines: false, delimiter: this.#delimiter, newline: '\n' },
      step: ({ data, errors, meta }) => {
        if (last) this.#take(last);
        last = { cells: data, isFaulty: errors.some(({ type }) => type === 'Quotes'), start: cursor };
        cursor = meta.cursor;
      },
    });
    const open = last as Row | null;
    if (isEnd && open) this.#take(open);
    this.#rest = (open ? plain.slice(open.start) : plain) + half;
    [this.#waiting, this.#waitingLength] = [[], 0];
  }

  /** Excel names the delimiter in a line before the heading. */
  #withoutHint(text: string): string {
    const [hint, delimiter] = (this.#heading === null && /^sep=(.)\n/.exec(text)) || [];
    if (hint === undefined || delimiter === undefined) return text;
    [this.#delimiter, this.#line] = [delimiter, this.#line + 1];
    return text.slice(hint.length);
  }

  #take({ cells, isFaulty }: Row): void {
    const line = this.#line;
    this.#line += cells.reduce((sum, cell) => sum + cell.split('\n').length - 1, 1);
    const isFilled = cells.some(hasText);
    if (this.#heading === null) {
      this.#heading = cells.map((name) => name.trim());
      this.#isTable = isHeading(this.#heading);
    } else if (isFilled) {
      this.#filled += 1;
      if (cells.length === this.#heading.length) this.#whole += 1;
      if (!isFaulty && !cells.slice(this.#heading.length).some(hasText))
        this.#values.push({ value: rowOf(this.#heading, cells), line });
    }
    const { length } = this.#heading;
    if (isFaulty) this.#problems.push({ line, message: 'has a quote that is not closed, or one within a cell' });
    else if (cells.slice(length).some(hasText)) this.#problems.push({ line, message: tooMany(cells.length, length) });
  }
}

const hasText = (cell: string) => cell.trim() !== '';

function isHeading(cells: readonly string[]): boolean {
  const named = cells.filter((name) => name !== '');
  return new Set(named).size === named.length && named.length > 1 && named.every(({ length }) => length < 60);
}

/** Columns without a name are the numbers of rows that some programs write. */
const rowOf = (heading: readonly string[], cells: readonly string[]) =>
  Object.fromEntries(heading.flatMap((name, column) => (name === '' ? [] : [[name, cells[column] ?? '']])));

const tooMany = (cells: number, columns: number) =>
  `has ${cells} cells, and the heading has ${columns}; it is left out. Put a text with a separator in quotes`;
