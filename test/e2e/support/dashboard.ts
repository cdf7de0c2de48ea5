import type { FrameLocator } from 'playwright-core';

/** The first cells of the table of optimizer steps. */
export async function stepsInTable(frame: FrameLocator): Promise<string[]> {
  const rows = frame.locator(
    '[aria-label="Metrics of every optimizer step"] vscode-data-grid-row:not([row-type="header"])',
  );
  return rows.locator('vscode-data-grid-cell:first-child').allInnerTexts();
}

/** Where a step's point lies inside the plot of a metric: the first and the last are at its left and right edge. */
function place(step: number, width: number): number {
  return step === 1 ? 5 : width - 5;
}

/** Clicks on the plot of a metric where the first or the last optimizer step has its point. */
export async function clickPoint(frame: FrameLocator, metric: string, step: number): Promise<void> {
  const plot = frame.locator(`section[aria-label="${metric}"] .u-over`);
  const box = await plot.boundingBox();
  if (!box) throw new Error(`${metric} has no plot`);
  await plot.click({ position: { x: place(step, box.width), y: box.height / 2 } });
}
