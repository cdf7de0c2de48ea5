import { expect, test } from 'vitest';
import { importedModules } from '../../scripts/release/commandLine.ts';
import { linksOf } from '../../scripts/release/extension.ts';
import { describeRelease } from '../../scripts/release/release.ts';
import { repositoryAddress, webAddress } from '../../scripts/release/repositoryAddress.ts';

test.each([
  ['https://example.org/team/tool.git', 'https://example.org/team/tool'],
  ['https://user:key@example.org/team/tool', 'https://example.org/team/tool'],
  ['git@example.org:team/tool.git', 'https://example.org/team/tool'],
  ['ssh://git@example.org/team/tool.git/', 'https://example.org/team/tool'],
  ['/srv/git/tool.git', undefined],
  ['', undefined],
])('the remote %j is at %j', (remote, address) => {
  expect(webAddress(remote)).toBe(address);
});

test('a workflow names its repository', () => {
  const environment = { GITHUB_SERVER_URL: 'https://example.org', GITHUB_REPOSITORY: 'team/tool' };
  expect(repositoryAddress(environment)).toBe('https://example.org/team/tool');
});

test('modules are followed through imports of every form', () => {
  const texts: Readonly<Record<string, string>> = {
    'dist/a.mjs': `import"./b.mjs";import{x}from"node:fs";const c=()=>import("./c.mjs");`,
    'dist/b.mjs': `export*from"./a.mjs";`,
    'dist/c.mjs': `import {d} from './deep/d.mjs'`,
    'dist/deep/d.mjs': `import e from "../e.mjs"`,
    'dist/e.mjs': '',
  };
  expect(importedModules(['dist/a.mjs'], (file) => texts[file] ?? '')).toEqual(Object.keys(texts));
});

test('an odd minor version is a pre-release, and links need an address', () => {
  const { version, isPreRelease } = describeRelease(undefined);
  expect(isPreRelease).toBe(Number(version.split('.')[1]) % 2 === 1);
  expect(linksOf({ repository: undefined })).toEqual({});
});
