import { type JSONVisitor, visit } from 'jsonc-parser';
import type { Side } from '../../engine/core/domain/tool.ts';
import type { Path } from '../../engine/core/values/json.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import { lastPart, type Shape, walk } from './shape.ts';
import type { SymbolReference } from './symbolReferences.ts';
import { type Span, touches } from './text.ts';

/** A key of the text of a database and where its words are, without quotes. */
type Key = Span & { readonly path: Path };

/**
 * Returns where a database says a field or names a row. Read on demand and never as a whole: a database may have
 * millions of keys.
 * @param name as references have it
 */
export function databaseReferences(source: Source, side: Side, shape: Shape, name: string): readonly SymbolReference[] {
  const last = lastPart(name);
  const found: SymbolReference[] = [];
  if (!source.text.includes(`"${last}"`)) return found;
  eachKey(source, (key) => {
    if (String(key.path.at(-1)) !== last) return;
    const known = walk(side, shape, key.path).known.at(-1);
    if (known?.name !== name) return;
    found.push({ ...known, from: key.from, to: key.to, declares: known.kind === 'row' });
  });
  return found;
}

/** Returns the field or row whose key is at an offset. */
export function databaseReferenceAt(
  source: Source,
  side: Side,
  shape: Shape,
  offset: number,
): SymbolReference | undefined {
  let found: SymbolReference | undefined;
  eachKey(source, (key) => {
    if (!touches(key, offset)) return;
    const known = walk(side, shape, key.path).known.at(-1);
    if (known) found = { ...known, from: key.from, to: key.to, declares: known.kind === 'row' };
  });
  return found;
}

function eachKey(source: Source, tell: (key: Key) => void): void {
  const visitor: JSONVisitor = {
    onObjectProperty: (property, offset, length, _line, _column, pathSupplier) =>
      tell({ path: [...pathSupplier(), property], from: offset + 1, to: offset + length - 1 }),
  };
  try {
    visit(source.text, visitor);
  } catch (error) {
    // It goes down with the text; the loader says that this one is nested too deep.
    if (!(error instanceof RangeError)) throw error;
  }
}
