import { type Diagnostic, errorsOf, type Location } from '../../engine/shell/files/diagnostic.ts';
import type { FileKind, Source } from '../../engine/shell/source/source.ts';
import { parseYaml } from '../../engine/shell/source/yaml.ts';
import type { Shown } from '../../webview/messages/protocol.ts';

/**
 * Returns the errors that the checks of a domain found in an entry of a file, with the paths of the values where they are.
 * @param part the text that has the entry, and the number of lines before it in the file
 */
export function checkErrorsIn(
  part: { readonly source: Source; readonly line: number },
  kind: FileKind,
  path: readonly (string | number)[],
  findings: readonly Diagnostic[],
): Shown['errors'] {
  const own = errorsOf(findings).filter(({ file }) => file === part.source.file);
  if (own.length === 0) return [];
  const { value: root, places } = parseYaml(part.source, kind);
  const entry = path.reduce((value: unknown, key) => (value as Record<string | number, unknown> | null)?.[key], root);
  return own.flatMap(({ line, column, message, hint }) => {
    const at = { line: line - part.line, column };
    if (!isIn(at, places.value(path))) return [];
    const error = { path: pathAt(entry, (below) => isIn(at, places.value([...path, ...below]))), line };
    return [{ ...error, message: hint === undefined ? message : `${message} ${hint}` }];
  });
}

/** Returns the path of the innermost value that has a place. */
function pathAt(value: unknown, has: (path: readonly (string | number)[]) => boolean): (string | number)[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys: readonly (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const key = keys.find((each) => has([each]));
  if (key === undefined) return [];
  const below = (value as Record<string | number, unknown>)[key];
  return [key, ...pathAt(below, (path) => has([key, ...path]))];
}

function isIn({ line, column }: Pick<Location, 'line' | 'column'>, place: Location): boolean {
  const isAfterStart = line > place.line || (line === place.line && column >= place.column);
  const isBeforeEnd = line < place.endLine || (line === place.endLine && column < place.endColumn);
  return isAfterStart && (isBeforeEnd || (line === place.line && column === place.column));
}
