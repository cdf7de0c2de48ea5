import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameLocator } from 'playwright-core';

/** The first cells of the table of optimizer steps. */
export async function stepsInTable(frame: FrameLocator): Promise<string[]> {
  const rows = frame.locator(
    '[aria-label="Metrics of every optimizer step"] vscode-data-grid-row:not([row-type="header"])',
  );
  return rows.locator('vscode-data-grid-cell:first-child').allInnerTexts();
}

/** Returns the horizontal position of a step's point in a plot: the first and last step are at its edges. */
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

/** Writes a training run below a folder as a trainer would, with two optimizer steps, and returns its folder. */
export function writeTrainingRun(root: string, domain: string): string {
  const run = join(root, '.rehearsal', 'training', '20260101-000000-grpo');
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, 'config.json'), JSON.stringify({ kind: 'grpo', model: 'tiny', domain, steps: 3 }));
  const lines = [1, 2].map((step) => `${JSON.stringify({ step, time: step, reward: step / 4, loss: 0.1 })}\n`);
  writeFileSync(join(run, 'metrics.jsonl'), lines.join(''));
  writeFileSync(join(run, 'events.jsonl'), `${JSON.stringify({ time: 1, type: 'started' })}\n`);
  // A live process, as the trainer is.
  writeFileSync(join(run, 'pid'), `${process.pid}\n`);
  return run;
}
