import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import JSZip from 'jszip';
import { beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { until } from '../e2e/support/until.ts';
import { copyDomain, Workbench } from '../e2e/support/workbench.ts';
import { emptyFolder, partOf, targetsIn } from './parts.ts';

let archive: JSZip;
const text = async (path: string) => (await archive.file(path)?.async('text')) ?? '';

beforeAll(async () => {
  archive = await JSZip.loadAsync(readFileSync(partOf('.vsix')));
});

test('its manifest has what the Marketplace and Open VSX show', async () => {
  const manifest = JSON.parse(await text('extension/package.json')) as Record<string, unknown>;
  expect(manifest).toMatchObject({
    icon: expect.any(String),
    keywords: expect.arrayContaining(['agents', 'debugger', 'evaluation']),
    galleryBanner: { color: expect.stringMatching(/^#/), theme: 'dark' },
    repository: { url: expect.stringMatching(/^git\+https:\/\/.+\.git$/) },
    bugs: { url: expect.stringMatching(/^https:\/\/.+\/issues$/) },
  });
  expect(manifest).not.toHaveProperty('private');
  expect(manifest).not.toHaveProperty('devDependencies');
  const icon = await archive.file(`extension/${manifest['icon']}`)?.async('nodebuffer');
  // Width and height are at a fixed place in a PNG file. The Marketplace wants at least 128 pixels.
  expect([icon?.readUInt32BE(16), icon?.readUInt32BE(20)]).toEqual([256, 256]);
  expect(await text('extension.vsixmanifest')).toContain('Microsoft.VisualStudio.Code.PreRelease');
});

test('pictures and links of its README are absolute', async () => {
  const { absolute, relative } = targetsIn(await text('extension/readme.md'));
  expect(absolute.length).toBeGreaterThan(5);
  expect(relative).toEqual([]);
});

test('a VS Code that installs it offers to debug a task, and shows its README with the picture', async () => {
  const domain = copyDomain('order-desk');
  // The server unpacks an extension beside its package, and the folder of a release has only what is published.
  const vsix = join(emptyFolder(), 'rehearsal.vsix');
  copyFileSync(partOf('.vsix'), vsix);
  const workbench = await Workbench.open(domain.folder, { vsix });
  try {
    await workbench.openFile('tasks/lamp-variant.task.yaml');
    await workbench.waitForText('.codelens-decoration', 'Debug');
    // A release takes the picture from its repository.
    const { page } = workbench;
    const picture = inRoot('docs', 'pictures', 'story.png');
    await page.context().route(/\/docs\/pictures\/story\.png$/, (route) => route.fulfill({ path: picture }));
    await workbench.runCommand('Extensions: Show Installed Extensions');
    await page.locator('.extension-list-item', { hasText: 'Rehearsal' }).first().click();
    const story = workbench.webviewFrame().locator('img[src*="story"]');
    await until('the picture', async () => {
      const width = await story.evaluate((image) => (image as { readonly naturalWidth?: number }).naturalWidth);
      expect(width).toBeGreaterThan(500);
    });
    await workbench.screenshot('extension-readme');
  } finally {
    await workbench.close();
    domain.remove();
  }
});
