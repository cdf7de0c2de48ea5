import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { inside } from '../../engine/shell/source/source.ts';
import { UsageError } from '../terminal/io.ts';

type Kind = 'task' | 'persona';
const keys = { task: 'tasks', persona: 'personas' } as const;

/** A name for which there is no file of this kind yet, without its suffix. */
export function freeName({ folder, domain }: LoadedDomain, kind: Kind, wanted: string): string {
  const target = inside(folder, domain.file[keys[kind]]) ?? folder;
  let name = wanted;
  for (let number = 2; existsSync(join(target, `${name}.${kind}.yaml`)); number++) name = `${wanted}-${number}`;
  return name;
}

/** The path of a file that is not there yet, in the folder that the domain has for this kind. */
export function freeFile(loaded: LoadedDomain, kind: Kind, wanted: string): string {
  const key = keys[kind];
  const place = loaded.domain.file[key];
  const target = inside(loaded.folder, place);
  if (target === null) throw new UsageError(`the folder of ${key}, ${place}, is outside of the domain`);
  return join(target, `${freeName(loaded, kind, wanted)}.${kind}.yaml`);
}
