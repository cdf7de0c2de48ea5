import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** A machine without the trainer's environment, and a package index that accepts a request and never answers. */
const domain = copyDomain('parcel-desk');
const scratch = mkdtempSync(join(tmpdir(), 'rehearsal-first-'));
const cache = join(scratch, 'cache');
const asked = new Set<Socket>();
let index: Server;
let workbench: Workbench;

beforeAll(async () => {
  index = createServer((socket) => {
    asked.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((done) => index.listen(0, '127.0.0.1', done));
  const address = index.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const pip = { PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`, PIP_CONFIG_FILE: '/dev/null' };
  workbench = await Workbench.open(domain.folder, { env: { REHEARSAL_CACHE: cache, ...pip } });
});

afterAll(async () => {
  await workbench?.close();
  for (const socket of asked) socket.destroy();
  index.close();
  domain.remove();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
});

test('to cancel while the Python environment is made ends it at once and leaves nothing half-made', async () => {
  await workbench.runCommand('Rehearsal: Train with SFT…');
  await workbench.pick('tiny');
  await workbench.answer('2');
  const plan = workbench.page.locator('.monaco-dialog-box', { hasText: 'Start SFT?' });
  await workbench.waitForText('.monaco-dialog-box', /Downloads: the trainer's Python environment: about \d+ MB/);
  expect(asked.size).toBe(0);
  await workbench.screenshot('training-plan');
  await plan.getByRole('button', { name: 'Start', exact: true }).click();
  await until('pip at work', async () => expect(asked.size).toBeGreaterThan(0));
  expect(runningIn(cache)).not.toEqual([]);
  await workbench.screenshot('environment');
  await workbench.notification('Rehearsal: starting SFT', 'Cancel');
  await workbench.webviewFrame().locator('.status.stopped').waitFor();
  await until('the end of every process', async () => expect(runningIn(cache)).toEqual([]));
  const made = readdirSync(cache, { recursive: true, encoding: 'utf8' });
  expect(made.filter((path) => path.endsWith('.done'))).toEqual([]);
  const training = join(domain.folder, '.rehearsal', 'training');
  const [run = ''] = readdirSync(training);
  expect(readdirSync(join(training, run)).filter((name) => name === 'pid' || name === 'checkpoints')).toEqual([]);
  const events = readFileSync(join(training, run, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n');
  expect(events.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['stopped']);
  expect(await workbench.notifications()).toEqual([]);
});

test('Open Sample Domain copies the sample and opens the copy at its failing task', async () => {
  // A view that is still being drawn takes the focus, and a list without focus closes.
  await workbench.runCommand('View: Close All Editors');
  await workbench.runCommand('Rehearsal: Open Sample Domain…');
  const samples = ['order-desk', 'help-line', 'library-desk', 'parcel-desk'];
  await until('the samples', async () =>
    expect((await workbench.picks()).map((pick) => samples.find((name) => pick.startsWith(name)))).toEqual(samples),
  );
  await workbench.answer('order-desk');
  await workbench.answerPath(`${scratch}/`, 'Folder in which to create the folder order-desk');
  const copy = join(scratch, 'order-desk');
  await until('the copy', async () => expect(existsSync(join(copy, 'domain.yaml'))).toBe(true));
  await until('the window of the copy', async () =>
    expect(new URL(workbench.page.url()).searchParams.get('folder')).toBe(copy),
  );
  await workbench.waitForText('.explorer-folders-view', 'policy.md');
  for (const file of ['policy.md', 'tools.ts', 'tasks/lamp-variant.task.yaml']) {
    expect(readFileSync(join(copy, file), 'utf8')).toBe(readFileSync(inRoot('domains', 'order-desk', file), 'utf8'));
  }
  // The window shows the failing task, and the walkthrough with the step that is done.
  await workbench.waitForText('.tab', 'lamp-variant.task');
  await workbench.waitForText('.codelens-decoration', 'Debug');
  const ticked = workbench.page.locator('.getting-started-step:has(.codicon-getting-started-step-checked)');
  await ticked.filter({ hasText: 'Open a sample domain' }).waitFor();
  await workbench.screenshot('sample');
});

/** Returns the command lines of the processes that contain the path of a folder. */
function runningIn(folder: string): string[] {
  const text = execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8', maxBuffer: 1e8 });
  return text.split('\n').filter((line) => line.includes(folder));
}
