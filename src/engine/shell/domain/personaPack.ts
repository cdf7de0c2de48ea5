import { constants, copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Persona, personaSchema } from '../../core/domain/persona.ts';
import { makeFolder, onDisk } from '../files/disk.ts';
import { shippedFolder } from '../files/shippedFolder.ts';
import { parseItems } from '../source/items.ts';
import { inside, readSource } from '../source/source.ts';
import type { LoadedDomain } from './loadDomain.ts';

const suffix = '.persona.yaml';

/** A file of personas that ships with the engine, to be copied into a domain. */
export type PersonaPack = { readonly name: string; readonly file: string; readonly personas: readonly Persona[] };

/** The packs that ship with the engine, by name. */
export function personaPacks(): readonly PersonaPack[] {
  const folder = shippedFolder('personas');
  return readdirSync(folder)
    .filter((file) => file.endsWith(suffix))
    .toSorted()
    .map((file) => {
      const path = join(folder, file);
      return { name: file.slice(0, -suffix.length), file: path, personas: personasIn(path) };
    });
}

/**
 * Copies a pack into the folder of personas of a domain, as its own file that people edit and git keeps.
 * @returns the path of the copy, or a sentence that says why there is none
 */
export function addPack({ folder, domain }: LoadedDomain, pack: PersonaPack): { readonly file: string } | string {
  const personas = inside(folder, domain.file.personas);
  if (personas === null) return `the folder of personas, ${domain.file.personas}, is outside of the domain`;
  const file = join(personas, `${pack.name}${suffix}`);
  if (existsSync(file)) return `${file} already exists`;
  const taken = pack.personas.find(({ id }) => domain.personas.some((own) => own.id === id));
  if (taken) return `this domain already has a persona ${taken.id}`;
  makeFolder(personas, { within: folder });
  onDisk(file, () => copyFileSync(pack.file, file, constants.COPYFILE_EXCL));
  return { file };
}

function personasIn(file: string): readonly Persona[] {
  const read = readSource(file, 'persona');
  if ('problem' in read) throw new Error(`${file}: ${read.problem.message}`);
  const { items, diagnostics } = parseItems(read.source, { kind: 'persona', schema: 'persona', item: personaSchema });
  const [problem] = diagnostics;
  if (problem) throw new Error(`${file}:${problem.line}: ${problem.message}`);
  return items.map(({ value }) => value);
}
