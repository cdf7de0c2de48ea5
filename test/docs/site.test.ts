import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { inRoot } from '../../scripts/repository.ts';

type Item = { readonly text: string; readonly link: string };
type Configuration = {
  readonly srcExclude: readonly string[];
  readonly themeConfig: { readonly sidebar: readonly { readonly text: string; readonly items: readonly Item[] }[] };
};

test('the sidebar of the site has every page once, and no other', async () => {
  const { default: configuration } = (await import(inRoot('docs/.vitepress/config.mjs'))) as {
    readonly default: Configuration;
  };
  const pages = globSync('**/*.md', { cwd: inRoot('docs'), exclude: [...configuration.srcExclude] })
    .map((file) => `/${file.replaceAll('\\', '/').replace(/\.md$/, '')}`)
    .filter((page) => page !== '/index');
  const links = configuration.themeConfig.sidebar.flatMap(({ items }) => items.map(({ link }) => link));
  expect(links.toSorted()).toEqual(pages.toSorted());
});

test.each(['architecture.md', 'decisions/folders.md', 'glossary.md'])(
  'each source file that docs/%s names exists',
  (page) => {
    const sources = globSync('{src,trainer,scripts,test,bench}/**/*.{ts,tsx,py}', { cwd: inRoot('.') })
      .map((file) => `/${file.replaceAll('\\', '/')}`)
      .join('\n');
    const named = readFileSync(inRoot('docs', page), 'utf8').matchAll(
      /`(?:\.\.\/)*(\w[\w.-]*\/[\w./-]+\.(?:tsx?|py))`/g,
    );
    const missing = [...named].flatMap(([, file]) => (`${sources}\n`.includes(`/${file}\n`) ? [] : [file]));
    expect(missing).toEqual([]);
  },
);

test('each YAML example of a page can be read', () => {
  const broken = globSync(['docs/**/*.md', 'domains/*/README.md', 'README.md'], { cwd: inRoot('.') }).flatMap(
    (page) => {
      const blocks = readFileSync(inRoot(page), 'utf8').matchAll(/^( *)```yaml[^\n]*\n(.*?)^\1```/gms);
      return [...blocks].flatMap(([, , text = '']) =>
        [...parseAllDocuments(text)].flatMap(({ errors }) => errors.map(({ message }) => `${page}: ${message}`)),
      );
    },
  );
  expect(broken).toEqual([]);
});
