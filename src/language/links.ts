import { join } from 'node:path';
import type { Location } from '../engine/shell/files/diagnostic.ts';
import { inside } from '../engine/shell/source/source.ts';
import { type LanguageDomain, textOf } from './symbols/languageDomain.ts';
import { isYaml, roleAt } from './symbols/roles.ts';
import { placeOfSpan } from './symbols/text.ts';
import { scalarsOf } from './symbols/yamlText.ts';

/** A part of a file that opens another file of the domain. */
export type FileLink = { readonly at: Location; readonly target: string };

const folders = ['personas', 'tasks', 'simulatedTools'];

/** The files that a file of the domain names: its policy, its rules, its databases, an agent's file. */
export function linksOf(domain: LanguageDomain, file: string): readonly FileLink[] {
  const text = textOf(domain, file);
  if (!text || !isYaml(text.kind)) return [];
  const { kind, source } = text;
  return scalarsOf(source).flatMap((scalar) => {
    const { path, isKey, value, from, to } = scalar;
    if (isKey || typeof value !== 'string') return [];
    const isAgent = kind === 'domain' && path[0] === 'agent' && value.startsWith('agent:');
    const isFile = roleAt(kind, path, false)?.type === 'file' && !folders.includes(String(path[0]));
    if (!isAgent && !isFile) return [];
    const named = isAgent ? value.slice('agent:'.length) : value;
    const target = isAgent ? join(domain.loaded.folder, named) : inside(domain.loaded.folder, named);
    return target === null
      ? []
      : [{ at: placeOfSpan(source, { from: Math.max(to - named.length, from), to }), target }];
  });
}
