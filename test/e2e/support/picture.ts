import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/repository.ts';
import type { Workbench, WorkbenchOptions } from './workbench.ts';

/** The look of a workbench in the pictures of the README: dark, and without parts that the README does not mention. */
export const pictured: WorkbenchOptions = {
  viewport: { width: 1400, height: 900 },
  settings: {
    'workbench.colorTheme': 'Dark 2026',
    'editor.minimap.enabled': false,
    'breadcrumbs.enabled': false,
    'workbench.layoutControl.enabled': false,
  },
};

/**
 * Saves a picture for the documentation. With REHEARSAL_PICTURES=1 it is in docs/pictures, dark, and as NAME-light for the
 * site in light; otherwise it is with the other screenshots.
 */
export async function picture(workbench: Workbench, name: string): Promise<void> {
  const { page } = workbench;
  await page.mouse.move(2, 2);
  if (!process.env.REHEARSAL_PICTURES) {
    await workbench.screenshot(name);
    return;
  }
  const folder = inRoot('docs', 'pictures');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await workbench.setTheme('light');
  await page.screenshot({ path: join(folder, `${name}-light.png`) });
  await workbench.setTheme('dark');
}

/** Drags from one place to another, as a person does. */
async function drag(
  { page }: Workbench,
  from: readonly [number, number],
  to: readonly [number, number],
): Promise<void> {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move(...to, { steps: 8 });
  await page.mouse.up();
}

/** Makes room for a conversation: a wide side bar, WATCH closed, and VARIABLES tall. */
export async function arrangeDebugView(workbench: Workbench): Promise<void> {
  const { page } = workbench;
  const place = async (selector: string) => {
    const box = await page.locator(selector).first().boundingBox();
    if (!box) throw new Error(`${selector} is hidden`);
    return box;
  };
  const bar = await place('.part.sidebar');
  const middle = bar.y + bar.height / 2;
  await drag(workbench, [bar.x + bar.width, middle], [bar.x + 520, middle]);
  const watch = page.locator('.pane-header[aria-label="Watch Section"]');
  if ((await watch.getAttribute('aria-expanded')) === 'true') await watch.click();
  // Hovering waits until the header stops moving.
  await page.locator('.pane-header[aria-label="Call Stack Section"]').hover();
  const stack = await place('.pane-header[aria-label="Call Stack Section"]');
  await drag(workbench, [stack.x + 200, stack.y], [stack.x + 200, stack.y + 180]);
}
