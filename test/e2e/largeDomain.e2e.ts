import { createWriteStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** A domain with 2,000 more tasks and a database of 40 MB. */
const domain = copyDomain('order-desk');
const task = 'tasks/lamp-variant.task.yaml';
const rule = domain.lineOf('policy.md', '- Before any call that changes something');
let workbench: Workbench;

beforeAll(async () => {
  const [, one = ''] = readFileSync(join(domain.folder, 'tasks', 'train.task.yaml'), 'utf8').split(/^(?=- id: )/m);
  for (const file of [0, 1, 2, 3]) {
    const texts = Array.from({ length: 500 }, (_, nth) => one.replace(/^- id: .*$/m, `- id: many-${file}-${nth}`));
    writeFileSync(join(domain.folder, 'tasks', `many-${file}.task.yaml`), texts.join(''));
  }
  await growDatabase(40_000_000);
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

/** Adds customers until the database has so many bytes. */
async function growDatabase(bytes: number): Promise<void> {
  const file = join(domain.folder, 'database.json');
  const database = JSON.parse(readFileSync(file, 'utf8')) as { readonly customers: Record<string, object> };
  const [known = {}] = Object.values(database.customers);
  const note = 'x'.repeat(1000);
  for (let at = 0; at < bytes / 1100; at += 1)
    database.customers[`C9${at}`] = { ...known, email: `c9${at}@example.com`, address: note };
  const out = createWriteStream(file);
  out.end(JSON.stringify(database));
  await finished(out);
  expect(statSync(file).size).toBeGreaterThan(bytes);
}

test('F5 stops on the rule, and VARIABLES has the database', async () => {
  const { debug } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await debug.show();
  await debug.expand('Database', 'orders');
  await workbench.screenshot('large-debugged');
  await debug.press('stop');
  await debug.ended();
});

test('the form opens, and an edit is in the text', async () => {
  const frame = () => workbench.webviewFrame();
  await workbench.openFile(task);
  await workbench.runCommand('Rehearsal: Open in Visual Editor');
  await frame().getByLabel('Description', { exact: true }).fill('A lamp of a large shop.');
  await until('the file', async () => {
    await workbench.press('Control+S');
    expect(readFileSync(join(domain.folder, task), 'utf8')).toContain('A lamp of a large shop.');
  });
});
