import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
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
