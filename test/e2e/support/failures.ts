import { afterEach } from 'vitest';
import { sharedPages } from './shared.ts';
import { screenshotFolder } from './workbench.ts';

/** The parts of the window to look at first: the side bar's views, the active editor, messages and the status bar. */
const shown = ['.part.sidebar', '.tab.active', '.notification-toast', '.debug-toolbar', '.part.statusbar'];

/** Saves a screenshot of every open page when a test fails, and prints its text to the log. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  const name = `${task.file.name}-${task.name}`.replaceAll(/[^\w.]+/g, '-').slice(0, 120);
  for (const [index, page] of (await sharedPages()).entries()) {
    await page.screenshot({ path: `${screenshotFolder()}/failed-${name}-${index}.png` });
    const words = await Promise.all(shown.map((part) => page.locator(part).allInnerTexts()));
    const lines = shown.map((part, at) => `${part}: ${words[at]?.join(' | ').replaceAll(/\s+/g, ' ').slice(0, 600)}`);
    console.error(`the page of "${task.name}" shows\n${lines.join('\n')}`);
  }
});
