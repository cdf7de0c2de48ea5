#!/usr/bin/env node
/**
 * What a person at the editor waits for, in a real VS Code in a headless browser with the packaged extension:
 *
 *   node bench/editor.ts [--rounds 5]
 *
 * Prints JSON lines {name, value, unit}. `f5ToFirstStop` counts from the key press until the stopped line is drawn
 * (the adapter's process, the lane and the rollout up to the breakpoint included); the first round is cold.
 * `activation` is what VS Code itself shows in Developer: Show Running Extensions: loading the code and `activate`.
 * Left out: desktop VS Code, whose renderer has no server between itself and the extension.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageExtension } from '../scripts/package.ts';
import { copyDomain, Workbench } from '../test/e2e/support/workbench.ts';

const task = 'tasks/lamp-variant.task.yaml';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
  const log = console.log;
  // Building and packing speak on standard output; this script's output is JSON lines only.
  console.log = (...words: unknown[]) => console.error(...words);
  const print = (name: string, value: number, unit: string) =>
    log(JSON.stringify({ name, value: Math.round(value), unit }));
  const vsix = await packageExtension();
  print('vsixSize', statSync(vsix).size, 'bytes');
  const domain = copyDomain('order-desk');
  const workbench = await Workbench.open(domain.folder, { vsix });
  try {
    const [first = 0, ...rest] = await firstStops(workbench, domain.folder, Number(values.rounds));
    print('f5ToFirstStopCold', first, 'ms');
    if (rest.length > 0) print('f5ToFirstStop', median(rest), 'ms');
    print('activation', await activation(workbench), 'ms');
  } finally {
    await workbench.close();
    domain.remove();
  }
}

/** Milliseconds from F5 to the stopped line, for each round. */
async function firstStops(workbench: Workbench, folder: string, rounds: number): Promise<number[]> {
  const lines = readFileSync(join(folder, 'policy.md'), 'utf8').split('\n');
  await workbench.openFile(task);
  await workbench.waitForText('.codelens-decoration', 'Debug');
  await workbench.openFile('policy.md');
  await workbench.debug.setBreakpoint(lines.findIndex((line) => line.startsWith('- Before any call')) + 1);
  const measured: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
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

/** Runs in the page: a promise of the time between the next F5 and the first frame that shows a stopped line. */
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

/** What VS Code measured when it activated the extension. */
async function activation(workbench: Workbench): Promise<number> {
  await workbench.runCommand('Developer: Show Running Extensions');
  const row = workbench.page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'Rehearsal' }).first();
  await row.waitFor();
  const shown = (await row.textContent()) ?? '';
  const milliseconds = /Activation:\s*(\d+)\s*ms/.exec(shown)?.[1];
  if (milliseconds === undefined) throw new Error(`VS Code shows no activation time: ${shown}`);
  return Number(milliseconds);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

await main();
