// Waiting times of a person at the editor, in a real VS Code in a headless browser with the packaged extension. F5 is
// measured from the key press until the stopped line is drawn, including the adapter's process, the worker and the
// rollout up to the breakpoint; the first round is cold. Activation is the time that VS Code itself shows in Developer:
// Show Running Extensions. Desktop VS Code is not measured; it has no server
// between its renderer and the extension.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageExtension } from '../scripts/package.ts';
import { codeServerObstacle } from '../scripts/vscode/codeServer.ts';
import { copyDomain, Workbench } from '../test/e2e/support/workbench.ts';
import { type Measured, median, rounds, Skipped } from './measure.ts';

const task = 'tasks/lamp-variant.task.yaml';
const openings = rounds(5);

/** Shows each number as soon as it is measured, so that the first ones are kept if VS Code does not start. */
export async function measureEditor(show: (row: Measured) => void): Promise<readonly Measured[]> {
  const obstacle = codeServerObstacle();
  if (obstacle) throw new Skipped(obstacle);
  const vsix = await packageExtension();
  show({
    name: 'the .vsix',
    value: statSync(vsix).size / 1e6,
    unit: 'MB',
    note: 'packed again if its sources changed',
    promise: { at: 'most', value: 3 },
  });
  const domain = copyDomain('order-desk');
  const workbench = await Workbench.open(domain.folder, { vsix });
  try {
    const [first = Number.NaN, ...rest] = await firstStops(workbench, domain.folder);
    const note = 'order-desk, breakpoint on a rule 7 calls in, until the line is drawn';
    show({ name: 'F5 to the first stop, first time', value: first, unit: 'ms', note });
    show({
      name: 'F5 to the first stop',
      value: median(rest),
      unit: 'ms',
      note: `median of the ${rest.length} after that`,
      promise: { at: 'most', value: 1000 },
    });
    show({
      name: 'activation',
      value: median(await activations(workbench, vsix, domain.folder)),
      unit: 'ms',
      note: `as VS Code reports it, median of ${openings} windows`,
      promise: { at: 'most', value: 100 },
    });
  } finally {
    await workbench.close();
    domain.remove();
  }
  return [];
}

/** Returns the milliseconds from F5 to the stopped line, for each round. */
async function firstStops(workbench: Workbench, folder: string): Promise<number[]> {
  const lines = readFileSync(join(folder, 'policy.md'), 'utf8').split('\n');
  await workbench.openFile(task);
  await workbench.waitForText('.codelens-decoration', 'Debug');
  await workbench.openFile('policy.md');
  await workbench.debug.setBreakpoint(lines.findIndex((line) => line.startsWith('- Before any call')) + 1);
  const measured: number[] = [];
  for (let round = 0; round < rounds(6, 2); round += 1) {
    await workbench.openFile(task);
    await workbench.page.evaluate(watchFirstStop);
    await workbench.press('F5');
    measured.push(await workbench.page.evaluate(() => (globalThis as unknown as Watched).firstStop));
    await workbench.debug.press('stop');
    await workbench.debug.ended();
  }
  return measured;
}

type Watched = { firstStop: Promise<number> };

/** Runs in the page. Resolves with the time from the next F5 to the first frame that shows a stopped line. */
function watchFirstStop(): void {
  (globalThis as unknown as Watched).firstStop = new Promise((resolve) => {
    let pressed: number | undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'F5') pressed ??= performance.now();
    };
    document.addEventListener('keydown', onKey, { capture: true });
    const look = () => {
      if (pressed === undefined || !document.querySelector('.codicon-debug-stackframe')) {
        requestAnimationFrame(look);
        return;
      }
      document.removeEventListener('keydown', onKey, { capture: true });
      resolve(performance.now() - pressed);
    };
    look();
  });
}

/** Of this window, and of others that are opened for it. */
async function activations(workbench: Workbench, vsix: string, folder: string): Promise<number[]> {
  const measured = [await activation(workbench)];
  while (measured.length < openings) {
    const other = await Workbench.open(folder, { vsix });
    await other.openFile(task);
    await other.waitForText('.codelens-decoration', 'Debug');
    measured.push(await activation(other));
    await other.close();
  }
  return measured;
}

/** Returns what VS Code measured when it activated the extension, in milliseconds. */
async function activation(workbench: Workbench): Promise<number> {
  const { page } = workbench;
  // The list is sorted by time and draws only the rows that fit: a fast activation is below the edge of the window.
  const usual = page.viewportSize();
  await page.setViewportSize({ width: 1440, height: 2400 });
  await workbench.runCommand('Developer: Show Running Extensions');
  const row = page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'Rehearsal' }).first();
  await row.waitFor();
  const shown = (await row.textContent()) ?? '';
  if (usual) await page.setViewportSize(usual);
  const milliseconds = /Activation:\s*(\d+)\s*ms/.exec(shown)?.[1];
  if (milliseconds === undefined) throw new Error(`VS Code shows no activation time: ${shown}`);
  return Number(milliseconds);
}
