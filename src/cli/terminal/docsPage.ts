import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';
import { suggestion } from '../../engine/shell/source/nearest.ts';
import { UsageError } from './io.ts';

/** Returns the page that `help WORD` means: `docs/WORD` where there is one, and `docs` for the list of all; null for another word. */
export function pageNamed(word: string): string | null {
  if (word.startsWith('docs/')) return word;
  const page = word === 'docs' ? 'docs/overview' : `docs/${word}`;
  return /^[\w-]+$/.test(word) && existsSync(shippedFolder(`${page}.md`)) ? page : null;
}

/** Returns a page of the documentation. Throws a `UsageError` where this installation does not have it. */
export function docsPage(named: string): string {
  const name = named.replace(/\.md$/, '');
  const file = shippedFolder(`${name}.md`);
  if (/^docs\/(?:[\w-]+\/)?[\w-]+$/.test(name) && existsSync(file)) return readFileSync(file, 'utf8');
  const index = shippedFolder('docs/overview.md');
  if (!existsSync(index))
    throw new UsageError('this installation has no documentation. Install the package from npm: npm install rehearsal');
  const pages = readdirSync(dirname(index), { recursive: true, encoding: 'utf8' }).flatMap((path) =>
    path.endsWith('.md') ? [`docs/${path.slice(0, -3).replaceAll('\\', '/')}`] : [],
  );
  const hint = suggestion(name, pages) || '. `npx rehearsal help docs/overview` lists the pages.';
  throw new UsageError(`there is no page ${named}${hint}`);
}
