// A recording of 10,000 events in the Trajectory view, in a real VS Code in a headless browser with the packaged
// extension: from Enter in the list of files until the first entry of the conversation is drawn and the number of steps
// is known; a short recording beside it says what of that is the editor's own. Memory is what all processes together (browser, server,
// extension host) weigh more with it than with the short one. Left out: desktop VS Code; a graphics card, so that the
// frames while scrolling are drawn by the processor.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageExtension } from '../scripts/package.ts';
import { descendantsOf } from '../scripts/processTree.ts';
import { codeServerObstacle } from '../scripts/vscode/codeServer.ts';
import { Workbench } from '../test/e2e/support/workbench.ts';
import { writeLongRecording } from './longRecording.ts';
import { type Measured, median, pssOf, rounds, Skipped } from './measure.ts';

const events = 10_000;

export async function measureTrajectory(show: (row: Measured) => void): Promise<readonly Measured[]> {
  const obstacle = codeServerObstacle();
  if (obstacle) throw new Skipped(obstacle);
  const vsix = await packageExtension();
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-bench-'));
  await writeLongRecording(join(folder, 'long.traj.jsonl'), events);
  await writeLongRecording(join(folder, 'short.traj.jsonl'), 100);
  const workbench = await Workbench.open(folder, { vsix });
  try {
    const short = await openings(workbench, 'short', 100);
    const note = 'a new page each time, until its first entries are drawn';
    show({ name: 'a recording of 100 events', value: median(short), unit: 'ms', note });
    const before = await weight(workbench);
    const first = await opened(workbench, 'long', events);
    const memory = (await weight(workbench)) - before;
    const long = await openings(workbench, 'long', events);
    show({ name: `a recording of ${events} events, first time`, value: first, unit: 'ms', note });
    show({
      name: `a recording of ${events} events`,
      value: median(long),
      unit: 'ms',
      note: `median of the ${long.length} after that`,
      promise: { at: 'most', value: 1000 },
    });
    show({
      name: `memory of a recording of ${events} events`,
      value: memory / 1e6,
      unit: 'MB',
      note: 'summed PSS of all processes, against a recording of 100',
      promise: { at: 'most', value: 200 },
    });
    const frames = await scrolled(workbench);
    show({ name: 'a frame while scrolling', value: median(frames), unit: 'ms', note: 'median of 180, without a GPU' });
    const slow = frames.toSorted((a, b) => a - b)[Math.floor(frames.length * 0.95)] ?? Number.NaN;
    show({ name: 'a slow frame while scrolling', value: slow, unit: 'ms', note: '95th of 100' });
  } finally {
    await workbench.close();
    rmSync(folder, { recursive: true });
  }
  return [];
}

/** Opens a recording several times, closing its tab before each, and returns the times in milliseconds. */
async function openings(workbench: Workbench, name: string, steps: number): Promise<number[]> {
  const measured: number[] = [];
  for (let round = 0; round < rounds(5); round += 1) {
    await workbench.runCommand('View: Close All Editors');
    measured.push(await opened(workbench, name, steps));
  }
  return measured;
}

/** Returns the milliseconds from Enter until a recording shows its first entries and its number of steps. */
async function opened(workbench: Workbench, name: string, steps: number): Promise<number> {
  await workbench.chooseFile(`${name}.traj.jsonl`);
  const from = performance.now();
  await workbench.press('Enter');
  const frame = workbench.webviewFrame();
  await frame.getByText(`${steps} steps`).waitFor();
  await frame.locator('article').first().waitFor();
  return performance.now() - from;
}

/** Returns the memory of all descendants of this process, in bytes, after they have become idle. */
async function weight(workbench: Workbench): Promise<number> {
  await workbench.page.waitForTimeout(5000);
  return pssOf(descendantsOf(process.pid));
}

/** Scrolls through the conversation and returns the milliseconds between frames. */
function scrolled(workbench: Workbench): Promise<number[]> {
  return workbench
    .webviewFrame()
    .locator('.scroller')
    .evaluate(
      (scroller) =>
        new Promise<number[]>((resolve) => {
          const times: number[] = [];
          let last = performance.now();
          const next = (now: number): void => {
            times.push(now - last);
            last = now;
            scroller.scrollTop += 240;
            if (times.length < 180) requestAnimationFrame(next);
            else resolve(times);
          };
          requestAnimationFrame(next);
        }),
    );
}
