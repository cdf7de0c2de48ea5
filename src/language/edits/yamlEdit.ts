import {
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Json, Path } from '../../engine/core/values/json.ts';
import { yamlScalar } from '../../engine/shell/source/edit.ts';
import { hasAnchors } from '../../engine/shell/source/fileParts.ts';
import {
  isMergeKey,
  keyText,
  mergedPair,
  mergeSources,
  ownPair,
  yamlOptions,
} from '../../engine/shell/source/yamlMerge.ts';
import { type TextEdit, type TextEdits, withEdits } from '../symbols/textEdit.ts';
import { changed, changesBetween, equalJson, type YamlChange } from './yamlChange.ts';
import { gapBehind, withoutFlowItem } from './yamlFlow.ts';
import { type BlockLayout, blockScalar, flowText, itemText, pairText } from './yamlValueText.ts';

/** Why a change can't be made to a text. */
class Refusal extends Error {}

/**
 * The edits of a YAML text that make a change and leave every other byte as it is, comments included. What the changed
 * text means is read again: either it is the request, or the change is refused.
 */
export function yamlEdits(text: string, change: YamlChange): TextEdits {
  const part = focused(text, change.path);
  if (part) {
    const { edits } = { edits: [], ...yamlEdits(part.text, { ...change, path: [0, ...change.path.slice(1)] }) };
    if (edits.length > 0) return { edits: edits.map((edit) => ({ ...edit, offset: edit.offset + part.offset })) };
  }
  try {
    const { after, users } = changedText(text, change);
    const edits = minimal(text, after);
    return users.length > 0 && edits.length > 0 ? { edits, warning: warningOf(users) } : { edits };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.message };
    throw error;
  }
}

/** One entry of a list of many, the only document of its file: its lines begin with a dash in the first column, as nothing within an entry does. */
function focused(text: string, path: Path): { readonly text: string; readonly offset: number } | null {
  const [index] = path;
  if (typeof index !== 'number' || path.length < 2 || !/^(?:\s|#[^\n]*\n)*- /.test(text)) return null;
  if (/^(?:---|\.\.\.)(?=\s|$)/m.test(text) || hasAnchors(text)) return null;
  const starts = [...text.matchAll(/^-(?=[ \r\n])/gm)].map(({ index: at }) => at);
  const [from, to = text.length] = [starts[index], starts[index + 1]];
  if (from === undefined || starts.length < 2) return null;
  return { text: text.slice(from, to), offset: from };
}

/** The text after a change, and what else the change is visible in: the other users of an anchor. */
function changedText(text: string, change: YamlChange): { readonly after: string; readonly users: readonly string[] } {
  const before = meaningOf(read(text));
  const wanted = changed(before, change);
  // What is not there need not be taken out.
  if (wanted === undefined && change.type === 'remove') return { after: text, users: [] };
  if (wanted === undefined) throw new Refusal(`there is no place ${change.path.join('.')} in this file`);
  if (equalJson(before, wanted)) return { after: text, users: [] };
  const steps = change.type === 'set' ? changesBetween(before, wanted, []) : [change];
  let [after, meaning] = [text, before];
  const users = new Set<string>();
  for (const step of steps) {
    const document = read(after);
    const visible = visibleIn(document, step);
    for (const place of visible) if (!isSamePath(place.path, step.path)) users.add(userOf(before, place, after));
    meaning = visible.reduce((now, { path }) => changed(now, { ...step, path }) ?? now, meaning);
    after = withEdits(after, primitive(after, step));
  }
  if (!isMeant(after, meaning))
    throw new Refusal('this place is written in a way that only a person can change; edit the text');
  return { after, users: [...users] };
}

function isMeant(text: string, meaning: Json): boolean {
  const document = parseDocument(text, { ...yamlOptions, logLevel: 'error' });
  try {
    return document.errors.length === 0 && equalJson(document.toJS({ maxAliasCount: 100 }) as Json, meaning);
  } catch {
    return false; // an alias whose anchor is gone
  }
}

const isSamePath = (one: Path, other: Path) =>
  one.length === other.length && one.every((key, index) => String(key) === String(other[index]));

function warningOf(users: readonly string[]): string {
  return `This value is shared through a YAML anchor. The change also applies to ${new Intl.ListFormat('en').format(users)}.`;
}

/** `lamp (line 12)`: the entry that uses a value, by its id where it has one, and the line of the anchor or alias. */
function userOf(value: Json, { path, offset }: Visible, text: string): string {
  const [first] = path;
  const entry = Array.isArray(value) && typeof first === 'number' ? value[first] : undefined;
  const { id } = (typeof entry === 'object' && entry !== null ? entry : {}) as { readonly id?: Json };
  return `${typeof id === 'string' ? id : path.join('.')} (line ${text.slice(0, offset).split('\n').length})`;
}

/** A place where a change is visible, and where the text puts the value there: its anchor or an alias. */
type Visible = { readonly path: Path; readonly offset: number };

/** Every place where a change is visible: that of its path, and of the anchor around that every other user. */
function visibleIn(document: Document.Parsed, { path }: YamlChange): readonly Visible[] {
  const { node, rest } = targetOf(document, path);
  return placesOf(document, node).flatMap(({ hidden, ...place }) => {
    if (rest.length === 0 && place.isMerged)
      throw new Refusal('other values merge this one (<<), so it can only be changed key by key; edit the text');
    return hidden.has(String(rest[0])) ? [] : [{ path: [...place.path, ...rest], offset: place.offset }];
  });
}

/**
 * The node that a change is made in, and the rest of the path within it: a map or list that is there, or a value that has
 * an anchor. A key that a map only merges is set in the map itself.
 */
function targetOf(document: Document.Parsed, path: Path): { readonly node: unknown; readonly rest: Path } {
  let node: unknown = document.contents;
  let target = { node: resolved(document, node), rest: path };
  for (const [index, key] of path.entries()) {
    const holder = resolved(document, node);
    if (!isMap(holder) && !isSeq(holder)) return target;
    target = { node: holder, rest: path.slice(index) };
    const isLast = index === path.length - 1;
    const pair = isMap(holder)
      ? (ownPair(holder, key) ?? (isLast ? undefined : mergedPair(document, holder, key)))
      : null;
    node = isSeq(holder) ? holder.items[Number(key)] : pair?.value;
    if (node === undefined || node === null) return target;
  }
  const isShared = isAlias(node) || (isNode(node) && !isAlias(node) && node.anchor !== undefined);
  return isShared ? { node: resolved(document, node), rest: [] } : target;
}

const resolved = (document: Document.Parsed, node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);

type NodePlace = Visible & {
  /** Keys of the node that are not seen there, since a map that merges it has its own. */
  readonly hidden: ReadonlySet<string>;
  readonly isMerged: boolean;
};

/** Every path that leads to a node, through aliases and merge keys too. */
function placesOf(document: Document.Parsed, wanted: unknown): readonly NodePlace[] {
  const found: NodePlace[] = [];
  const visit = (given: unknown, path: Path, offset: number, hidden: ReadonlySet<string>, isMerged: boolean): void => {
    const node = resolved(document, given);
    const from = isAlias(given) ? (given.range?.[0] ?? offset) : offset;
    const own = isNode(node) && !isAlias(given) && !isMerged ? (node.range?.[0] ?? from) : from;
    if (node === wanted) found.push({ path, offset: own, hidden, isMerged });
    if (isSeq(node)) for (const [index, item] of node.items.entries()) visit(item, [...path, index], own, none, false);
    if (!isMap(node)) return;
    const taken = new Set([...hidden, ...node.items.flatMap(({ key }) => (isMergeKey(key) ? [] : [keyText(key)]))]);
    for (const { key, value } of node.items) {
      if (!isMergeKey(key)) {
        if (!hidden.has(keyText(key))) visit(value, [...path, keyText(key)], own, none, false);
        continue;
      }
      for (const source of mergeSources(document, value)) {
        visit(source, path, own, new Set(taken), true);
        const merged = resolved(document, source);
        if (isMap(merged)) for (const each of merged.items) taken.add(keyText(each.key));
      }
    }
  };
  visit(document.contents, [], 0, none, false);
  return found;
}

const none: ReadonlySet<string> = new Set();

function read(text: string): Document.Parsed {
  // Not `silent`, which would hide that there are documents behind the first.
  const document = parseDocument(text, { ...yamlOptions, keepSourceTokens: true, logLevel: 'error' });
  const [error] = document.errors;
  if (error?.code === 'MULTIPLE_DOCS') throw new Refusal('the file holds more than one document; edit the text');
  if (error) throw notYaml(error);
  return document as Document.Parsed;
}

function meaningOf(document: Document.Parsed): Json {
  try {
    return document.toJS({ maxAliasCount: 100 }) as Json;
  } catch (error) {
    throw notYaml(error as Error);
  }
}

const notYaml = ({ message }: Error): Refusal => new Refusal(`the file is not valid YAML: ${message.split('\n')[0]}`);

/** Returns the edit between two texts, without their common start and end. */
function minimal(before: string, after: string): readonly TextEdit[] {
  if (before === after) return [];
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [{ offset: head, length: before.length - head - tail, text: after.slice(head, after.length - tail) }];
}

/** The inputs of a change at one place. */
type Scene = {
  readonly text: string;
  readonly eol: string;
  readonly document: Document.Parsed;
};

function primitive(text: string, change: YamlChange): readonly TextEdit[] {
  const scene: Scene = { text, eol: text.includes('\r\n') ? '\r\n' : '\n', document: read(text) };
  switch (change.type) {
    case 'set':
      return set(scene, change.path, change.value);
    case 'insert':
      return insert(scene, change.path, change.value);
    case 'remove':
      return remove(scene, change.path);
    default:
      return change satisfies never;
  }
}

/** A node with the pair that holds it, and whether it is between brackets. */
type Found = { readonly node: Node | null; readonly pair: Pair | null; readonly isFlow: boolean };

/** The node at a path. What is behind an alias or a merge key is found where its anchor is. */
function find({ document }: Scene, path: Path): Found | null {
  let found: Found = { node: document.contents as Node | null, pair: null, isFlow: false };
  for (const [index, key] of path.entries()) {
    const { node, isFlow: isInFlow } = atAnchor(document, found);
    const isFlow = isInFlow || Boolean((node as YAMLMap | null)?.flow);
    if (isSeq(node)) {
      const item = node.items[Number(key)] as Node | undefined;
      if (item === undefined || isPair(item)) return null;
      found = { node: item, pair: null, isFlow };
    } else if (isMap(node)) {
      const own = ownPair(node, key);
      const pair = own ?? (index < path.length - 1 ? mergedPair(document, node, key) : undefined);
      if (!pair) return null;
      // Whether a merged value is in brackets is seen where its anchor is.
      found = own ? { node: pair.value as Node | null, pair, isFlow } : heldBy(document, pair);
    } else return null;
  }
  return atAnchor(document, found);
}

function atAnchor(document: Document.Parsed, found: Found): Found {
  if (!isAlias(found.node)) return found;
  const node = found.node.resolve(document) as Node | undefined;
  let holder: Found = { node: node ?? null, pair: null, isFlow: false };
  visit(document, {
    Node: (_, each, parents) => {
      if (each !== node) return undefined;
      const pair = parents.at(-1);
      holder = { node, pair: isPair(pair) ? pair : null, isFlow: isWithinFlow(parents) };
      return visit.BREAK;
    },
  });
  return holder;
}

function heldBy(document: Document.Parsed, wanted: Pair): Found {
  let isFlow = false;
  visit(document, {
    Pair: (_, each, parents) => {
      if (each !== wanted) return undefined;
      isFlow = isWithinFlow(parents);
      return visit.BREAK;
    },
  });
  return { node: wanted.value as Node | null, pair: wanted, isFlow };
}

const isWithinFlow = (parents: readonly unknown[]) =>
  parents.some((each) => (isMap(each) || isSeq(each)) && each.flow === true);

function set(scene: Scene, path: Path, value: Json): readonly TextEdit[] {
  const found = find(scene, path);
  if (found) return replace(scene, found, value);
  const key = path.at(-1) ?? '';
  const parent = find(scene, path.slice(0, -1));
  const { node } = parent ?? {};
  if (isMap(node)) return addPair(scene, node, parent?.isFlow ?? false, String(key), value);
  if (isSeq(node)) return insert(scene, path, value);
  return set(scene, path.slice(0, -1), typeof key === 'number' ? [value] : { [key]: value });
}

function replace(scene: Scene, { node, pair, isFlow }: Found, value: Json): readonly TextEdit[] {
  const { text } = scene;
  const range = node?.range;
  if (!node || !range || text.slice(range[0], range[1]).trim() === '') return fill(scene, pair, node, isFlow, value);
  const [from] = range;
  if (isScalar(node) && (node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL')) {
    const end = contentEnd(text, node);
    const style = node.type === 'BLOCK_FOLDED' ? '>' : '|';
    const place = { indent: indentOf(text, from, end), eol: scene.eol };
    const other = style === '>' ? '|' : '>';
    const block =
      typeof value === 'string' ? (blockScalar(style, value, place) ?? blockScalar(other, value, place)) : null;
    return [{ offset: from, length: end - from, text: block ?? oneLine(value, isFlow) }];
  }
  if ((isMap(node) || isSeq(node)) && !node.flow && pair) return replaceBlock(scene, pair, node, value);
  const quoted = isScalar(node) && typeof value === 'string' ? requoted(node.type ?? '', value) : null;
  return [{ offset: from, length: contentEnd(text, node) - from, text: quoted ?? oneLine(value, isFlow) }];
}

const oneLine = (value: Json, isFlow: boolean): string =>
  typeof value === 'object' && value !== null
    ? flowText(value)
    : yamlScalar(value as string | number | boolean, isFlow);

/** A text in the quotes that the former one had. */
function requoted(type: string, value: string): string | null {
  if (type === 'QUOTE_DOUBLE') return JSON.stringify(value);
  if (type !== 'QUOTE_SINGLE' || /[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe]/.test(value)) return null;
  return `'${value.replaceAll("'", "''")}'`;
}

/** Nothing is behind `key:` or `-` yet. */
function fill(scene: Scene, pair: Pair | null, node: Node | null, isFlow: boolean, value: Json): readonly TextEdit[] {
  const { text, eol } = scene;
  if (!pair) {
    const offset = node?.range?.[0] ?? text.length;
    const space = /[-:]/.test(text[offset - 1] ?? '') ? ' ' : '';
    return [{ offset, length: 0, text: `${space}${oneLine(value, isFlow)}` }];
  }
  const offset = colonEnd(pair);
  const isBlock = typeof value === 'object' && value !== null && Object.keys(value).length > 0 && !isFlow;
  if (!isBlock) return [{ offset, length: 0, text: ` ${oneLine(value, isFlow)}` }];
  const indent = columnOf(text, (pair.key as Node).range?.[0] ?? 0);
  const body = pairText('a', value, { indent, eol }).slice('a:'.length);
  return [{ offset: body.startsWith(eol) ? lineEnd(text, offset) : offset, length: 0, text: body }];
}

/** In the place of lines below `key:` comes something on its line. A comment behind the key stays. */
function replaceBlock(scene: Scene, pair: Pair, node: YAMLMap | YAMLSeq, value: Json): readonly TextEdit[] {
  const { text } = scene;
  const first = node.range?.[0] ?? 0;
  const from = text.lastIndexOf('\n', first - 1);
  const start = from < colonEnd(pair) ? colonEnd(pair) : from - (text[from - 1] === '\r' ? 1 : 0);
  const length = contentEnd(text, node) - start;
  const written = ` ${oneLine(value, false)}`;
  if (start === colonEnd(pair)) return [{ offset: start, length, text: written }];
  return [
    { offset: colonEnd(pair), length: 0, text: written },
    { offset: start, length, text: '' },
  ];
}

function addPair(scene: Scene, map: YAMLMap, isFlow: boolean, key: string, value: Json): readonly TextEdit[] {
  const { text, eol } = scene;
  const [first] = map.items;
  if (isFlow || map.flow) return addFlow(scene, map, `${yamlScalar(key)}: ${flowText(value)}`, map.items.length);
  if (!first) throw new Refusal('this map is empty; edit the text');
  const place = { indent: columnOf(text, startOf(first)), eol };
  const added = `${eol}${' '.repeat(place.indent)}${pairText(key, value, place)}`;
  return [{ offset: lineEnd(text, contentEnd(text, map.items.at(-1))), length: 0, text: added }];
}

function addFlow(scene: Scene, node: YAMLMap | YAMLSeq, entry: string, index: number): readonly TextEdit[] {
  const { text, eol } = scene;
  const next = node.items[index];
  if (next !== undefined) return [{ offset: startOf(next), length: 0, text: `${entry}, ` }];
  const [from, to] = node.range ?? [0, 0];
  const last = node.items.at(-1);
  const end = last === undefined ? from + 1 : contentEnd(text, last);
  const { own, comma } = gapBehind(text, end);
  if (own) {
    // The comment stays with what precedes it.
    const indent = ' '.repeat(last === undefined ? columnOf(text, from) + 2 : columnOf(text, startOf(last)));
    const added = { offset: own.to, length: 0, text: `${eol}${indent}${entry}${comma === null ? '' : ','}` };
    return last === undefined || comma !== null ? [added] : [{ offset: end, length: 0, text: ',' }, added];
  }
  if (last !== undefined) return [{ offset: end, length: 0, text: `, ${entry}` }];
  const isBlank = text.slice(from + 1, to - 1).trim() === '';
  return [{ offset: from + 1, length: isBlank ? to - from - 2 : 0, text: isMap(node) ? ` ${entry} ` : entry }];
}

/** Puts an item into the list at all of the path but its end, before the item that is there now. */
function insert(scene: Scene, path: Path, value: Json): readonly TextEdit[] {
  const { text, eol } = scene;
  const index = Number(path.at(-1));
  const found = find(scene, path.slice(0, -1));
  const list = found?.node;
  if (!isSeq(list)) return set(scene, path.slice(0, -1), [value]);
  if (found?.isFlow || list.flow) return addFlow(scene, list, flowText(value), index);
  const dashes = dashesOf(list);
  const [first = 0] = dashes;
  const place: BlockLayout = { indent: columnOf(text, first), eol };
  const beside = (list.items[index] ?? list.items.at(-1)) as YAMLMap | undefined;
  const entry = itemText(value, place, !isMap(beside) || beside.flow === true);
  const spaces = ' '.repeat(place.indent);
  if (index === 0) return [{ offset: first, length: 0, text: `${entry}${eol}${spaces}` }];
  const offset = lineEnd(text, contentEnd(text, list.items[Math.min(index, list.items.length) - 1]));
  return [{ offset, length: 0, text: `${eol}${spaces}${entry}` }];
}

function remove(scene: Scene, path: Path): readonly TextEdit[] {
  const { text } = scene;
  const found = find(scene, path.slice(0, -1));
  const holder = found?.node;
  if (!found || !(isMap(holder) || isSeq(holder))) throw new Refusal('there is nothing to take out');
  const items: readonly unknown[] = holder.items;
  const index = isMap(holder) ? holder.items.indexOf(ownPair(holder, path.at(-1) ?? '') as never) : Number(path.at(-1));
  const item = items[index];
  if (item === undefined && isMap(holder) && mergedPair(scene.document, holder, path.at(-1) ?? ''))
    throw new Refusal(`${path.at(-1)} comes from a merge key (<<); remove it where its anchor is`);
  if (item === undefined) throw new Refusal('there is nothing to take out');
  const isFlow = found.isFlow || holder.flow === true;
  if (isFlow) {
    const from = index > 0 ? contentEnd(text, items[index - 1]) : (holder.range?.[0] ?? 0) + 1;
    return withoutFlowItem(text, from, contentEnd(text, item), index === 0);
  }
  if (items.length === 1) return replace(scene, found, isMap(holder) ? {} : []);
  const starts = isSeq(holder) ? dashesOf(holder) : items.map(startOf);
  return removeLines(text, starts[index] ?? 0, contentEnd(text, item), starts[index + 1]);
}

/** Takes a block's entry out with its lines; one that begins behind a dash gives its place to the next. */
function removeLines(text: string, start: number, end: number, next: number | undefined): readonly TextEdit[] {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const until = lineEnd(text, end);
  if (text.slice(line, start).trim() !== '')
    return cut(start, next === undefined || text.slice(end, next).includes('#') ? end : next);
  if (until < text.length) return cut(line, text.indexOf('\n', until) + 1);
  return cut(line === 0 ? 0 : line - (text[line - 2] === '\r' ? 2 : 1), until);
}

const cut = (from: number, to: number): readonly TextEdit[] => [{ offset: from, length: to - from, text: '' }];

function startOf(item: unknown): number {
  const node = (isPair(item) ? item.key : item) as Node | undefined;
  return node?.range?.[0] ?? 0;
}

/** Returns where the last thing of a node ends that is not a comment and no empty line. */
function contentEnd(text: string, item: unknown): number {
  if (isPair(item)) {
    const value = item.value as Node | null;
    const isThere = value?.range && text.slice(value.range[0], value.range[1]).trim() !== '';
    return isThere ? contentEnd(text, value) : Math.max(colonEnd(item), (item.key as Node).range?.[1] ?? 0);
  }
  if ((isMap(item) || isSeq(item)) && !item.flow && item.items.length > 0) return contentEnd(text, item.items.at(-1));
  const [from = 0, to = 0] = (item as Node | undefined)?.range ?? [];
  return to > from && text[to - 1] === '\n' ? to - (text[to - 2] === '\r' ? 2 : 1) : to;
}

/** Behind the colon of a pair, or behind its key where it has none. */
function colonEnd({ key, srcToken }: Pair): number {
  const colon = (srcToken as CST.CollectionItem | undefined)?.sep?.find(({ type }) => type === 'map-value-ind');
  return colon ? colon.offset + 1 : ((key as Node).range?.[1] ?? 0);
}

function dashesOf(list: YAMLSeq): readonly number[] {
  const { items = [] } = (list.srcToken ?? {}) as Partial<CST.BlockSequence>;
  return items.flatMap(({ start }) => start.find(({ type }) => type === 'seq-item-ind')?.offset ?? []);
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

/** The end of the line, before what ends it. */
function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', offset);
  if (at < 0) return text.length;
  return text[at - 1] === '\r' && at > offset ? at - 1 : at;
}

/** Returns how far the first line below the sign of a block scalar is indented. */
function indentOf(text: string, from: number, end: number): number {
  return /\n( *)\S/.exec(text.slice(from, end))?.[1]?.length ?? columnOf(text, from);
}
