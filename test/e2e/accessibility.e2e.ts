import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** What a screen reader gets of the views, and the icons that people tell buttons apart by. */
const domain = copyDomain('parcel-desk');
let workbench: Workbench;

beforeAll(async () => {
  const out = join(domain.folder, '.rehearsal', 'runs', '20260101-100000-gold');
  execFileSync(process.execPath, [
    inRoot('dist', 'rehearsal.mjs'),
    'eval',
    domain.folder,
    '--agent',
    'gold',
    '--out',
    out,
  ]);
  workbench = await Workbench.open(domain.folder);
  await workbench.showViews();
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const pane = (name: string): Locator =>
  workbench.page.locator('.pane').filter({ has: workbench.page.locator(`.pane-header[aria-label^="${name}"]`) });

/** The rows of a view: what is seen of each, and what is read. */
const rowsOf = (name: string) =>
  pane(name)
    .locator('.monaco-list-row')
    .evaluateAll((rows) =>
      rows.map((row) => ({
        seen: row.querySelector('.label-name')?.textContent ?? '',
        read: row.getAttribute('aria-label') ?? '',
        place: ['aria-level', 'aria-posinset', 'aria-setsize'].map((each) => Number(row.getAttribute(each))),
      })),
    );

test.each(['Domains', 'Runs'])('each row of %s is read with its name, its level and its position', async (name) => {
  await until(`rows of ${name}`, async () => expect((await rowsOf(name)).length).toBeGreaterThan(0));
  for (const { seen, read, place } of await rowsOf(name)) {
    expect(seen).not.toBe('');
    expect(read.startsWith(seen), `"${seen}" is read as "${read}"`).toBe(true);
    expect(place.every((each) => each > 0)).toBe(true);
  }
  const buttons = await pane(name)
    .locator('.pane-header .action-label')
    .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label') ?? ''));
  for (const button of buttons) expect(button).not.toBe('');
});

test('no two buttons in the toolbar of policy.md have one icon', async () => {
  await workbench.openFile('policy.md');
  const icons = () =>
    workbench.page
      .locator('.editor-actions .action-label.codicon')
      .evaluateAll((all) =>
        all.map((each) => [...each.classList].filter((name) => /^codicon-(?!modifier)/.test(name)).join(' ')),
      );
  await until('the form button', async () => expect(await icons()).toContain('codicon-layout'));
  const found = await icons();
  expect(new Set(found).size).toBe(found.length);
  const pictures = await workbench.page
    .locator('.editor-actions .action-label.codicon')
    .evaluateAll((all) => all.map((each) => getComputedStyle(each, '::before').content));
  expect(new Set(pictures).size).toBe(pictures.length);
});
