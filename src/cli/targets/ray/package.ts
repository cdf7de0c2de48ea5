import { createHash } from 'node:crypto';
import JSZip from 'jszip';
import { environmentFault } from '../targetFaults.ts';
import { bytesIn, bytesOf, type Tree } from '../trees.ts';

/** Ray keeps packages in the memory of the cluster's head. */
const largest = 200e6;

/** A package with the files of some trees, each in a folder of it. The same content has the same name. */
export type RayPackage = { readonly name: string; readonly content: Uint8Array };

/** Throws a `Fault` where the files are too much for a package. */
export async function packageOf(
  folders: Readonly<Record<string, Tree>>,
  texts: Readonly<Record<string, string>>,
): Promise<RayPackage> {
  const size = bytesIn(Object.values(folders));
  if (size > largest)
    throw environmentFault(
      'ray/size',
      `the files of the run total ${(size / 1e6).toFixed(0)} MB, and a Ray job accepts ${largest / 1e6} MB: put the model into a folder that the cluster's machines see, or on a hub, and name that with --model`,
    );
  const zip = new JSZip();
  const digest = createHash('sha256');
  // A fixed date: what is brought decides the bytes, and so the name.
  const date = new Date(Date.UTC(1980, 0, 1));
  const add = (path: string, content: Uint8Array | string) => {
    zip.file(path, content, { date, createFolders: false });
    digest.update(`${path}\0`).update(content).update('\0');
  };
  for (const [folder, { name, files }] of Object.entries(folders))
    for (const [path, { from }] of files) add((folder + path.slice(name.length)).replace(/^\//, ''), bytesOf(from));
  for (const [path, text] of Object.entries(texts)) add(path, text);
  const content = await zip.generateAsync({ type: 'uint8array', compression: 'DEFLATE' });
  return { name: `_ray_pkg_${digest.digest('hex').slice(0, 32)}.zip`, content };
}
