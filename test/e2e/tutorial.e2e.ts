import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrangeDebugView, picture, pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Follows docs/tutorial.md in its order, and takes its pictures. story.e2e.ts covers editing a message. */
const domain = copyDomain('order-desk');
const task = 'tasks/lamp-variant.task.yaml';
const cancellations = 'tasks/cancellations.task.yaml';
const rule = domain.lineOf('policy.md', '{#confirm-before-write}');
let workbench: Workbench;

beforeAll(async () => {
  // Tall enough for a row of a table to be seen below its table.
  workbench = await Workbench.open(domain.folder, { ...pictured, viewport: { width: 1400, height: 1250 } });
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('without a breakpoint, F5 stops where a rule of the policy is violated, and says which', async () => {
  const { debug, page } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await debug.show();
  await arrangeDebugView(workbench);
  await page.locator('.exception-widget').waitFor();
  await workbench.waitForText('.exception-widget', 'rule confirm-before-write violated');
  await workbench.waitForText('.exception-widget', 'rule change-once violated');
  await workbench.waitForText('.exception-widget', 'policy violation');
  await debug.expand('Messages');
  await picture(workbench, 'violation');
});

test('/why is the chain of evidence behind a verdict', async () => {
  const { debug } = workbench;
  await debug.evaluate('/why');
  await debug.waitForConsole('Before any call that changes something, say exactly what you are about to do');
  await debug.waitForConsole('step 16  before change_item: confirm-before-write, change-once violated');
  await debug.waitForConsole('the database is as it was at the start');
  await picture(workbench, 'why');
  await debug.press('stop');
  await debug.ended();
});

test("a breakpoint on an order's status stops where it changes", async () => {
  const { debug } = workbench;
  const status = ['Database', 'orders', 'W1001 … W1100', 'W1014', 'status'];
  const line = domain.lineOf(cancellations, 'id: mistaken-order');
  await workbench.openFile(cancellations);
  await debug.setBreakpoint(line);
  await debug.start();
  await debug.stoppedAt(line);
  expect(await debug.value(...status)).toContain('"pending"');
  await debug.chooseIn(status, 'Break on Value Change');
  await debug.press('continue');
  await workbench.waitForText('.debug-call-stack .monaco-list-rows', 'the database is written');
  await workbench.waitForText('.pane-header[aria-label="Call Stack Section"]', 'orders.W1014.status');
  await debug.waitForConsole('orders.W1014.status: "pending" -> "cancelled"');
  await picture(workbench, 'data-breakpoint');
  await debug.press('stop');
  await debug.ended();
});

test('a violation stops also with a breakpoint on a rule that held, and the call stack offers to edit the message', async () => {
  const { debug, page } = workbench;
  await workbench.openFile('policy.md');
  await debug.setBreakpoint(domain.lineOf('policy.md', '- Only pending orders can change'));
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(rule);
  await page.locator('.exception-widget').waitFor();
  for (const reason of ['rule confirm-before-write violated', 'rule change-once violated', 'rule pending-only held'])
    await workbench.waitForText('.exception-widget', reason);
  await workbench.screenshot('violation-next-to-held');
  const frame = page.locator('.debug-call-stack .monaco-list-row', { hasText: 'before change_item' }).first();
  await workbench.chooseInMenu(frame, 'Edit What the Agent Says');
  const box = page.locator('.quick-input-box input');
  await until('an empty box', async () => expect(await box.inputValue()).toBe(''));
  await workbench.press('Escape');
  await debug.press('stop');
  await debug.ended();
});
