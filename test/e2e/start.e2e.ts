import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { freePort } from '../support/freePort.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Tests `npm start` without a desktop VS Code, from its first line to Ctrl+C. */
const domain = copyDomain('order-desk');
const scratch = mkdtempSync(join(tmpdir(), 'rehearsal-start-'));
const minutes = 60_000;
let started: ChildProcess;
let printed = '';
let port = 0;
let address = '';

beforeAll(async () => {
  port = await freePort();
  const script = [inRoot('scripts', 'bootstrap.mjs'), 'start'];
  const options = ['--browser', '--no-open', '--port', String(port), '--folder', domain.folder];
  const env = { ...process.env, NO_COLOR: '1', DISPLAY: '', WAYLAND_DISPLAY: '' };
  started = spawn(process.execPath, [...script, ...options, '--user-data', join(scratch, 'vscode')], { env });
  for (const stream of [started.stdout, started.stderr])
    stream?.on('data', (chunk: Buffer) => {
      printed += stripVTControlCharacters(chunk.toString());
    });
  address = await until(
    'the address',
    async () => {
      if (started.exitCode !== null) throw new Error(`it ended with ${started.exitCode}: ${printed}`);
      const found = /^ +(http:\/\/127\.0\.0\.1:\S+)$/m.exec(printed)?.[1];
      if (!found) throw new Error(`it printed: ${printed}`);
      return found;
    },
    3 * minutes,
  );
}, 4 * minutes);

afterAll(async () => {
  if (started.exitCode === null) started.kill('SIGTERM');
  domain.remove();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
});

test('its address is on loopback, at the port that was asked for, and has a token', async () => {
  const { origin, searchParams } = new URL(address);
  expect(origin).toBe(`http://127.0.0.1:${port}`);
  expect(searchParams.get('folder')).toBe(domain.folder);
  expect(searchParams.get('tkn')).toMatch(/^[\w-]{32}$/);
  expect(printed).toMatch(/VS Code is ready .* press F5/);
  await until('the last line', async () => expect(printed).toContain('Press Ctrl+C to end it.'));
  // Without a display, the same failure can be seen in a terminal.
  for (const command of ['run', 'debug'])
    expect(printed).toContain(`npx rehearsal ${command} domains/order-desk lamp-variant`);
});

test('with the token there is the page of VS Code, without it or with another one nothing', async () => {
  const entered = await fetch(address, { redirect: 'manual' });
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await fetch(new URL(entered.headers.get('location') ?? '', address), { headers: { cookie } });
  expect([entered.status, page.status]).toEqual([302, 200]);
  expect(await page.text()).toContain('workbench');
  const { origin } = new URL(address);
  const refused = await Promise.all(
    [origin, `${origin}/?folder=/`, `${origin}/?tkn=${'a'.repeat(32)}`].map((url) =>
      fetch(url, { redirect: 'manual' }),
    ),
  );
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
});

test('it opens the failing task with the walkthrough next to it, and Debug above the task stops there', async () => {
  const workbench = await Workbench.visit(address);
  try {
    await workbench.waitForText('.tab', 'lamp-variant.task');
    await workbench.waitForText('.gettingStartedContainer', 'Rehearse an agent in five minutes');
    await workbench.waitForText('.gettingStartedContainer .getting-started-step.expanded', 'Step through a failure');
    await workbench.waitForText('.codelens-decoration', 'Debug');
    // F5 debugs the element that has the focus.
    await workbench.page.locator('.monaco-editor.focused .view-line', { hasText: 'id: lamp-variant' }).waitFor();
    const ticked = (step: string) =>
      workbench.page.locator('.getting-started-step:has(.codicon-getting-started-step-checked)', {
        hasText: step,
      });
    await ticked('Open a sample domain').waitFor();
    const task = workbench.page.locator('.editor-group-container', { hasText: 'id: lamp-variant' });
    expect((await task.boundingBox())?.width).toBeGreaterThan(750);
    await workbench.screenshot('first-screen');
    await workbench.page.locator('.codelens-decoration a', { hasText: 'Debug' }).first().click();
    await workbench.debug.waitForConsole('confirm-before-write (makes the reward 0)', minutes);
    await ticked('Step through a failure').waitFor();
    expect(await ticked('Prove the fix in a fork').count()).toBe(0);
    await workbench.screenshot('start');
    await workbench.debug.press('stop');
    await workbench.debug.ended();
  } finally {
    await workbench.close();
  }
  expect(readdirSync(join(domain.folder, '.rehearsal', 'runs'))).toHaveLength(1);
});

test('to end it leaves no server behind', async () => {
  started.kill('SIGTERM');
  const [code] = started.exitCode === null ? await once(started, 'exit') : [started.exitCode];
  expect(code).toBe(0);
  await expect(fetch(address)).rejects.toThrow();
});
