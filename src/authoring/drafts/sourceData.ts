import { parse } from 'yaml';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { fileLimits, readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import type { Placed } from '../../engine/shell/source/items.ts';

/** A task or a persona as its file says it, without the defaults that reading it adds. */
export function sourceData({ file, path }: Pick<Placed<unknown>, 'file' | 'path'>): JsonObject {
  const root = parse(readBoundedText(file, fileLimits.data)) as Json;
  return path.reduce<Json>((value, key) => (value as JsonObject)[key as string] as Json, root) as JsonObject;
}
