import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isWithin } from '../../engine/shell/files/boundedFile.ts';
import { listingLimits } from '../../engine/shell/files/entriesBelow.ts';
import { workFolder } from '../../engine/shell/files/workFolders.ts';
import type { RemoteCall } from './ssh/remoteAgent.ts';
import type { Launch } from './target.ts';
import { environmentFault } from './targetFaults.ts';

type TreeFile = {
  /** The path of the file, or its bytes. */
  readonly from: string | Uint8Array;
  /** The SHA-256 of its bytes. */
  readonly content: string;
  readonly size: number;
  readonly canRun: boolean;
};

/** A file or a folder of this machine as a target is to have it. The same content is the same tree. */
export type Tree = { readonly hash: string; readonly name: string; readonly files: ReadonlyMap<string, TreeFile> };

export const notCopied: ReadonlySet<string> = new Set([
  '.git',
  workFolder,
  'node_modules',
  '__pycache__',
  '.venv',
  '.DS_Store',
  '.pytest_cache',
]);
const chunkSize = 1 << 20;

/** A tree of everything in a folder but what is made again there, or of one file. */
export function treeOf(
  path: string,
  isWanted: (file: string) => boolean = () => true,
  most: number = listingLimits.entries,
): Tree {
  const name = basename(path);
  const isFile = statSync(path).isFile();
  const found = isFile ? [path] : filesIn(path, most);
  const files = new Map<string, TreeFile>();
  for (const from of found.sort()) {
    const inside = relative(isFile ? dirname(path) : path, from)
      .split(sep)
      .join('/');
    if (isWanted(inside)) files.set(isFile ? inside : `${name}/${inside}`, fileOf(from));
  }
  return treeWith(name, files);
}

/** Returns the tree of some files, by their paths, which begin with its name. */
export function treeWith(name: string, files: Tree['files']): Tree {
  const digest = createHash('sha256');
  for (const [inside, { content, canRun }] of files) digest.update(`${inside}\0${content}\0${canRun}\n`);
  return { hash: digest.digest('hex').slice(0, 32), name, files };
}

/** The folders that a tree's links may lead to: its own, and the blobs that a model in the cache of a hub links to. */
function rootsOf(folder: string): readonly string[] {
  const real = realpathSync(folder);
  const blobs = join(real, '..', '..', 'blobs');
  return basename(dirname(real)) === 'snapshots' && existsSync(blobs) ? [real, realpathSync(blobs)] : [real];
}

/** Folders that links lead to are copied under each of their names; a link to a folder that it is in has no end. */
function filesIn(root: string, most: number): string[] {
  const roots = rootsOf(root);
  const found: string[] = [];
  const folders = [{ folder: root, ancestors: [] as readonly string[] }];
  for (let entries = 0, next = folders.pop(); next; next = folders.pop()) {
    const { folder, ancestors } = next;
    const real = realpathSync(folder);
    if (ancestors.includes(real)) continue;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (notCopied.has(name)) continue;
      entries += 1;
      if (entries > most) throw tooMany(root, most);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (!stat?.isDirectory() && !stat?.isFile()) continue;
      throwUnlessInside(path, roots);
      if (stat.isDirectory()) folders.push({ folder: path, ancestors: [...ancestors, real] });
      else found.push(path);
    }
  }
  return found;
}

function tooMany(root: string, most: number): Error {
  return environmentFault(
    'target/too-many-files',
    `${root} has more than ${most.toLocaleString('en')} files and folders, counted under each link to them, so it is not sent to another machine. Move what is not needed elsewhere`,
  );
}

/** A link would send a file of this machine that was not named to another one. */
function throwUnlessInside(path: string, roots: readonly string[]): void {
  const real = realpathSync(path);
  if (roots.some((root) => real === root || isWithin(root, real))) return;
  throw environmentFault(
    'target/link',
    `${path} is a link to ${real}, outside of ${roots[0]}, so it is not sent to another machine. Put a copy in its place, or remove it`,
  );
}

function fileOf(from: string): TreeFile {
  const { size, mode } = statSync(from);
  return { from, content: contentHash(from), size, canRun: (mode & 0o100) !== 0 };
}

function contentHash(path: string): string {
  const digest = createHash('sha256');
  const chunk = Buffer.alloc(chunkSize);
  const file = openSync(path, 'r');
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk))
      digest.update(chunk.subarray(0, read));
  } finally {
    closeSync(file);
  }
  return digest.digest('hex');
}

/** Returns the bytes of a file of a tree. */
export function bytesOf(from: TreeFile['from']): Uint8Array {
  return typeof from === 'string' ? readFileSync(from) : from;
}

/** Returns how much all files of some trees take. */
export function bytesIn(trees: Iterable<Tree>): number {
  return [...trees].flatMap(({ files }) => [...files.values()]).reduce((sum, { size }) => sum + size, 0);
}

/** The files of this machine that a configuration names. */
export type Brought = {
  readonly trees: readonly Tree[];
  /**
   * A configuration, or one path, with the places on the target of all that is brought.
   * @param folder the target's folder, as its own machine names it
   */
  readonly placedIn: <T>(folder: string, value: T) => T;
};

/** Finds every absolute path of this machine in a configuration, and reads what lies there. */
export function broughtBy({ config }: Launch): Brought {
  const places = new Map<string, Tree>();
  const named = pathsIn(config).sort((one, other) => one.length - other.length);
  // What a tree leaves out, such as the runs below a domain's folder, is its own tree.
  const above = (path: string) => [...places.keys()].findLast((root) => isIn(root, path));
  for (const path of named) if (above(path) === undefined) places.set(path, treeOf(path));
  const place = (folder: string, path: string): string => {
    const root = above(path);
    const tree = root === undefined ? undefined : places.get(root);
    if (root === undefined || tree === undefined) return path;
    const inside = relative(root, path).split(sep).join('/');
    return [placeOfTree(folder, tree), ...(inside ? [inside] : [])].join('/');
  };
  return {
    trees: [...places.values()],
    placedIn: <T>(folder: string, value: T) => mapped(value, (path) => place(folder, path)) as T,
  };
}

/** Whether a tree of the first path holds the second. */
function isIn(root: string, path: string): boolean {
  const inside = relative(root, path);
  return !isAbsolute(inside) && !inside.split(sep).some((part) => part === '..' || notCopied.has(part));
}

/** Returns where a tree's file or folder lies on the target. */
export function placeOfTree(folder: string, { hash, name }: Tree): string {
  return `${folder}/trees/${hash}/${name}`;
}

/** These name the command line of this machine and its working folder, or a place of the target itself. */
const notBrought = new Set(['run', 'engine_command', 'engine_cwd', 'storage', 'python', 'vllm_python']);

/** Every absolute path of this machine in a configuration. */
export function pathsIn(value: unknown): string[] {
  if (typeof value === 'string') return isPath(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (notBrought.has(name) ? [] : pathsIn(inner)));
}

function mapped(value: unknown, place: (path: string) => string): unknown {
  if (typeof value === 'string') return isPath(value) ? place(value) : value;
  if (Array.isArray(value)) return value.map((inner) => mapped(inner, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, notBrought.has(name) ? inner : mapped(inner, place)]),
  );
}

const isPath = (text: string) => resolve(text) === text && existsSync(text);

/** Sends the contents that the remote agent asks for. */
export async function sendTrees(call: RemoteCall, trees: readonly Tree[], want: readonly string[]): Promise<void> {
  const contents = new Map(trees.flatMap(({ files }) => [...files.values()].map((file) => [file.content, file])));
  for (const content of want) {
    const file = contents.get(content);
    if (!file) continue;
    await call.send(`${JSON.stringify({ size: file.size })}\n`);
    if (typeof file.from !== 'string') await call.send(file.from);
    else
      for await (const chunk of createReadStream(file.from, { end: Math.max(0, file.size - 1) }))
        await call.send(chunk);
  }
}

/** Returns what the remote agent receives about trees before it says what it wants. */
export function listed(trees: readonly Tree[]): object {
  const fileList = ({ files }: Tree) =>
    Object.fromEntries([...files].map(([path, { content, size, canRun }]) => [path, [content, size, canRun]]));
  return Object.fromEntries(trees.map((tree) => [tree.hash, fileList(tree)]));
}
