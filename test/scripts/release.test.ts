import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { importedModules } from '../../scripts/release/commandLine.ts';
import { linksOf, withoutRelativeLinks, withProjectUrls } from '../../scripts/release/links.ts';
import { describeRelease } from '../../scripts/release/release.ts';
import { missingAddressText, repositoryAddress, webAddress } from '../../scripts/release/repositoryAddress.ts';
import { inRoot } from '../../scripts/repository.ts';
import { targetsIn } from '../release/parts.ts';

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

test.each([
  [undefined, 'the clone has no remote "origin"'],
  ['/srv/tool', 'the remote "origin" of the clone is /srv/tool, which is not a web address'],
])('a release without an address says why, where origin is %j', (origin, why) => {
  expect(missingAddressText(origin)).toContain(why);
  expect(missingAddressText(origin)).toContain('pass --repository https://HOST/OWNER/NAME');
});

test.each([
  ['[Rules](docs/rule-language.md#calls)', 'Rules (`npx rehearsal help docs/rule-language`)'],
  ['[Contributing](CONTRIBUTING.md)', 'Contributing (`CONTRIBUTING.md`)'],
  ['![A story.](docs/pictures/story.png)', '_A story._'],
  ['[MUA-RL](https://arxiv.org/abs/2508.18669)', '[MUA-RL](https://arxiv.org/abs/2508.18669)'],
])('without an address, %s is %s', (written, packed) => {
  expect(withoutRelativeLinks(written)).toBe(packed);
});

test.each(['README.md', 'CHANGELOG.md'])('without an address, the packed %s has no relative link', (file) => {
  const { relative } = targetsIn(withoutRelativeLinks(readFileSync(inRoot(file), 'utf8')));
  expect(relative).toEqual([]);
});

test('the trainer links to the repository of a release', () => {
  const project = '[project]\nname = "a"\n';
  const release = { repository: 'https://example.org/team/tool', version: '0.1.0' };
  expect(withProjectUrls(project, release)).toContain('[project.urls]\nHomepage = "https://example.org/team/tool"\n');
  expect(withProjectUrls(project, { ...release, repository: undefined })).toBe(project);
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
