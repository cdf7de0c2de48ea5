import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { inRoot } from './repository.ts';
import { Failure } from './terminal.ts';

/** The notices of everything that is bundled, below dist/. */
export const noticesFile = 'THIRD-PARTY-NOTICES.txt';

/** A package that code of the product was bundled from. */
type Bundled = { readonly name: string; readonly version: string; readonly license: string; readonly text: string };

const inPackage = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/**
 * Returns the notices of the packages that esbuild read for some bundles: name, version, and the text of the licence.
 * Throws a `Failure` that names the packages without a text.
 * @param root what the paths in the metafiles are relative to
 */
export function noticesOf(metafiles: readonly Metafile[], root: string): string {
  const files = [...new Set(metafiles.flatMap(({ inputs }) => Object.keys(inputs)))].sort();
  const byFolder = Map.groupBy(files, (path) => inPackage.exec(path)?.[0] ?? '');
  byFolder.delete('');
  const folders = [...byFolder].sort(([one], [other]) => (one < other ? -1 : 1));
  const packages = new Map(
    folders.map(([folder, sources]) => {
      const bundled = bundledFrom(
        join(root, folder),
        sources.map((path) => join(root, path)),
      );
      return [nameOf(bundled), bundled] as const;
    }),
  );
  const missing = [...packages.values()].filter(({ text }) => text === '').map(nameOf);
  if (missing.length > 0)
    throw new Failure(
      `No licence text was found for ${missing.join(', ')}, which is bundled. ` +
        'A package without one cannot be shipped: replace it, or ask its author to add the text.',
    );
  const entries = [...packages.values()].map((each) => `${nameOf(each)} (${each.license})\n\n${each.text}`);
  return [introduction, ...entries].join(`\n\n${'-'.repeat(80)}\n\n`).concat('\n');
}

const introduction = 'Rehearsal contains code of the following packages, under the licences printed here.';
const nameOf = ({ name, version }: Bundled) => `${name} ${version}`;

/** @param sources files of the package that are bundled */
function bundledFrom(folder: string, sources: readonly string[]): Bundled {
  const manifest = join(folder, 'package.json');
  const { name, version, license } = JSON.parse(readFileSync(manifest, 'utf8')) as Partial<Bundled>;
  const names = readdirSync(folder);
  const files = names.filter((each) => licenceFile.test(each)).sort();
  const texts = files.length > 0 ? files.map((each) => join(folder, each)) : keptText(name);
  const readme = names.find((each) => /^readme/i.test(each));
  const section = readme && /^#+ Licen[cs]e\n([\s\S]+)/m.exec(readText(join(folder, readme)))?.[1];
  return {
    name: name ?? folder,
    version: version ?? 'without a version',
    license: typeof license === 'string' ? license : 'see the text',
    text: [texts.map(readText).join('\n\n') || fullText(section), ...headersIn(sources)].filter(Boolean).join('\n\n'),
  };
}

/** Packages whose archive lacks the licence text of their repository; a copy of that text is in `licences/`. */
const keptTexts: Readonly<Record<string, string>> = { '@microsoft/fast-': 'microsoft-fast.txt' };

function keptText(name = ''): readonly string[] {
  const found = Object.keys(keptTexts).find((prefix) => name.startsWith(prefix));
  return found ? [inRoot('scripts', 'licences', keptTexts[found] ?? '')] : [];
}

/** The licences at the top of source files, each once: a package may contain code under another licence than its own. */
function headersIn(sources: readonly string[]): readonly string[] {
  const headers = sources.flatMap((file) => {
    const [, comment = ''] = /^(?:'use strict';\s*)?((?:\/\/.*\n)+|\/\*[\s\S]*?\*\/)/.exec(readText(file)) ?? [];
    const text = comment.replaceAll(/^\s*(?:\/\/|\/?\*+\/?) ?|\s*\*\/$/gm, '').trim();
    return /permission is (?:hereby )?granted/i.test(text) ? [text] : [];
  });
  return [...new Set(headers)];
}

/** The section of a README, where it is a whole text and not only the licence's name. */
function fullText(section = ''): string {
  return /copyright[\s\S]*permission/i.test(section) ? section.trim() : '';
}

const readText = (file: string) => readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim();
