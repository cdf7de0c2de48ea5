import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml';

/** The options for reading every YAML file: `<<` merges other maps into one, as in readers of YAML 1.1. */
export const yamlOptions = { merge: true } as const;

/** The name of a key. A merge key is read as a symbol. */
export const keyText = (key: unknown): string =>
  isMergeKey(key) ? '<<' : isScalar(key) ? String(key.value) : String(key);

export const isMergeKey = (key: unknown): boolean => isScalar(key) && typeof key.value === 'symbol';

/** Returns the pair that a map itself has for a key. */
export function ownPair(map: YAMLMap, key: PropertyKey): Pair | undefined {
  return map.items.find((pair) => !isMergeKey(pair.key) && keyText(pair.key) === String(key));
}

/** Returns the pair for a key that a map has from its merge keys. Of several the first has it. */
export function mergedPair(document: Document, map: YAMLMap, key: PropertyKey): Pair | undefined {
  for (const { key: own, value } of map.items) {
    if (!isMergeKey(own)) continue;
    for (const source of mergeSources(document, value)) {
      const node = isAlias(source) ? source.resolve(document) : source;
      const pair = isMap(node) ? (ownPair(node, key) ?? mergedPair(document, node, key)) : undefined;
      if (pair) return pair;
    }
  }
  return undefined;
}

/** Returns the maps behind the value of a merge key, or aliases of them. */
export function mergeSources(document: Document, value: unknown): readonly unknown[] {
  const node = isAlias(value) ? value.resolve(document) : value;
  return isSeq(node) ? node.items : [value];
}
