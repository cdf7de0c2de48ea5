import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { lineExcerpt } from '../engine/core/text/excerpt.ts';
import type { Location } from '../engine/shell/files/diagnostic.ts';
import type { DomainText } from '../engine/shell/load/loadedDomain.ts';
import { type FilePart, partsOf, placeInFile } from '../engine/shell/source/fileParts.ts';
import { remembered, type Source } from '../engine/shell/source/source.ts';
import { documentOf } from '../engine/shell/source/yaml.ts';
import { keyText } from '../engine/shell/source/yamlMerge.ts';
import { type LanguageDomain, textOf } from './symbols/languageDomain.ts';
import { isYaml, type YamlKind } from './symbols/roles.ts';
import { placeOfSpan } from './symbols/text.ts';

/** A part of a file in its outline. */
export type OutlineItem = {
  readonly name: string;
  readonly detail: string;
  readonly type: 'item' | 'map' | 'list' | 'text' | 'rule';
  readonly at: Location;
  /** The range of its name. */
  readonly nameAt: Location;
  readonly children: readonly OutlineItem[];
};

/** A file with more entries than this has only the entries in its outline, without their keys. */
const entriesWithKeys = 200;

/** The parts of a file: tasks, personas, checks and keys of YAML, and the rules of a policy. */
export function outlineOf(domain: LanguageDomain, file: string): readonly OutlineItem[] {
  const text = textOf(domain, file);
  if (!text) return [];
  if (text.kind === 'policy') return rulesOf(domain, text);
  if (!isYaml(text.kind)) return [];
  const { kind } = text;
  const parts = partsOf(text.source);
  const items = parts.flatMap((part) =>
    outlineOfPart(kind, part.source).map((item) =>
      itemInFile(parts.length > entriesWithKeys ? { ...item, children: [] } : item, part),
    ),
  );
  const noun = kind === 'rules' ? 'check' : kind;
  return items.map((item, index) =>
    item.name === '' ? { ...item, name: items.length === 1 ? noun : `${noun} ${index + 1}` } : item,
  );
}

function itemInFile(item: OutlineItem, part: FilePart): OutlineItem {
  if (part.line === 0) return item;
  const children = item.children.map((child) => itemInFile(child, part));
  return { ...item, at: placeInFile(item.at, part), nameAt: placeInFile(item.nameAt, part), children };
}

const outlines = new WeakMap<Source, readonly OutlineItem[]>();

function outlineOfPart(kind: YamlKind, source: Source): readonly OutlineItem[] {
  return remembered(outlines, source, () => itemsIn(kind, source));
}

function itemsIn(kind: YamlKind, source: Source): readonly OutlineItem[] {
  const root = contentsOf(source);
  const list = isMap(root) && kind === 'rules' ? root.get('rules', true) : root;
  if (isSeq(list)) return list.items.flatMap((item) => itemOf(item as Node, kind, source, ''));
  if (!isMap(root)) return [];
  return kind === 'domain' || kind === 'phrases'
    ? root.items.flatMap((pair) => ofPair(pair, source))
    : itemOf(root, kind, source, '');
}

/** Returns the root of a file; null if it is nested too deeply to be read. */
export function contentsOf(source: Source): Node | null {
  try {
    return documentOf(source).document.contents as Node | null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function rulesOf({ loaded }: LanguageDomain, { source }: DomainText): readonly OutlineItem[] {
  return loaded.parts.policy.blocks.flatMap(({ id, text, line, column, endLine, endColumn }): OutlineItem[] => {
    if (id === null) return [];
    const at = { file: source.file, line, column, endLine, endColumn };
    const mark = loaded.parts.policy.marks.find(
      (each) => each.id === id && each.line >= line && each.endLine <= endLine,
    );
    const nameAt = mark
      ? { file: source.file, line: mark.line, column: mark.column, endLine: mark.endLine, endColumn: mark.endColumn }
      : at;
    return [{ name: id, detail: shortened(text), type: 'rule', at, nameAt, children: [] }];
  });
}

/** The keys that name an item of a list; the first that the item has is used. */
const naming = ['id', 'name', 'rule', 'tool', 'path', 'type', 'that', 'aim'] as const;
const detailing: Readonly<Partial<Record<YamlKind, readonly string[]>>> = {
  task: ['split', 'persona'],
  persona: ['style'],
  rules: ['check'],
  tool: ['effect', 'owner'],
};

/** @param unnamed the name of an item without a key that names it, or with an empty one */
function itemOf(node: Node | null, kind: YamlKind, source: Source, unnamed: string): readonly OutlineItem[] {
  if (!isMap(node) || !node.range) return [];
  const key = naming.find((each) => isScalar(node.get(each, true)) && (node.get(each) ?? '') !== '');
  const named = key === undefined ? undefined : (node.get(key, true) as Node);
  const details = (detailing[kind] ?? []).flatMap((each) => {
    const value: unknown = node.get(each);
    return typeof value === 'string' ? [value] : [];
  });
  return [
    {
      name: key === undefined ? unnamed : shortened(String(node.get(key))),
      detail: details.join(', '),
      type: 'item',
      at: spanOf(node, source),
      nameAt: named ? spanOf(named, source) : spanOf(node, source),
      children: node.items.flatMap((pair) => ofPair(pair, source)),
    },
  ];
}

function ofPair({ key, value }: Pair, source: Source): readonly OutlineItem[] {
  if (!isScalar(key) || !key.range) return [];
  const nameAt = placeOfSpan(source, { from: key.range[0], to: key.range[1] });
  const node = value as Node | null;
  const to = node?.range ? trimmed(source, node.range[1]) : key.range[1];
  const at = placeOfSpan(source, { from: key.range[0], to: Math.max(to, key.range[1]) });
  const base = { name: keyText(key), at, nameAt };
  if (isMap(node))
    return [{ ...base, detail: '', type: 'map', children: node.items.flatMap((pair) => ofPair(pair, source)) }];
  if (isSeq(node)) {
    const items = node.items.flatMap((item, index) => inList(item as Node, source, `${base.name} ${index + 1}`));
    return [{ ...base, detail: `${node.items.length}`, type: 'list', children: items }];
  }
  return [{ ...base, detail: isScalar(node) ? shortened(String(node.value)) : '', type: 'text', children: [] }];
}

/** Elements that have keys; a list of texts shows how many they are and no more. */
function inList(node: Node, source: Source, unnamed: string): readonly OutlineItem[] {
  if (!isMap(node)) return [];
  const [item] = itemOf(node, 'domain', source, unnamed);
  return item ? [{ ...item, children: [] }] : [];
}

function spanOf(node: Node, source: Source): Location {
  const [from = 0, to = 0] = node.range ?? [];
  return placeOfSpan(source, { from, to: Math.max(from, trimmed(source, to)) });
}

/** The end of a part of a text without the white space that closes it. */
export function trimmed({ text }: Source, to: number): number {
  let end = to;
  while (end > 0 && ' \n\t'.includes(text[end - 1] ?? '.')) end -= 1;
  return end;
}

const shortened = (text: string) => lineExcerpt(text.trim(), 60);
