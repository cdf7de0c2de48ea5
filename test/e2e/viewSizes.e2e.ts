import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rehearsal } from '../support/terminal.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** The views of a side bar that is shown for the first time, on a small screen. */
const domain = copyDomain('order-desk');
let workbench: Workbench;

beforeAll(async () => {
  for (const day of [1, 2, 3, 4, 5])
    await rehearsal(
      ...['eval', domain.folder, '--tasks', 'lamp-variant', '--agent', day > 3 ? 'scripted' : 'gold'],
      ...['--out', join(domain.folder, '.rehearsal', 'runs', `2026010${day}-100000-order-desk`)],
    );
  workbench = await Workbench.open(domain.folder, { viewport: { width: 1280, height: 800 } });
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

/** Returns the number of rows of a view that are drawn as a whole, in the view and in the side bar. */
async function rowsIn(view: string): Promise<number> {
  return workbench.page.evaluate((name) => {
    const pane = document.querySelector(`.part.sidebar .pane:has(> .pane-header[aria-label^="${name}"])`);
    const bottom = document.querySelector('.part.sidebar')?.getBoundingClientRect().bottom ?? 0;
    const end = Math.min(bottom, pane?.getBoundingClientRect().bottom ?? 0);
    const rows = [...(pane?.querySelectorAll('.monaco-list-row') ?? [])];
    return rows.filter((row) => row.getBoundingClientRect().bottom <= end).length;
  }, view);
}

test('Domains and Runs show their rows without dragging', async () => {
  await workbench.showViews();
  await until('the rows', async () => {
    expect(await rowsIn('Domains')).toBeGreaterThan(8);
    expect(await rowsIn('Runs')).toBe(5);
  });
  await workbench.screenshot('view-sizes');
});

test('Forks shows a row as soon as it is opened', async () => {
  const { debug, page } = workbench;
  await workbench.openFile('tasks/lamp-variant.task.yaml');
  await debug.start();
  await debug.paused();
  await debug.show();
  await page.locator('.pane-header[aria-label^="Forks"]').click();
  await until('the recording', async () => expect(await rowsIn('Forks')).toBeGreaterThan(0));
  await workbench.screenshot('view-sizes-forks');
});
