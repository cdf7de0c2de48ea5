import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrangeDebugView } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

const domain = copyDomain('order-desk');
const task = 'tasks/lamp-variant.task.yaml';
const declared = domain.lineOf('tools.ts', 'export const change_item');
const first = domain.lineOf('tools.ts', 'const order = pending(db, order_id);');
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('stepping into a call continues in the source of the tool, and stepping out continues in the conversation', async () => {
  const { debug } = workbench;
  await workbench.openFile('tools.ts');
  await debug.setBreakpoint(declared);
  await workbench.openFile(task);
  await debug.start();
  // The script calls before asking, so the exception filter for violated rules stops first.
  await debug.paused();
  await debug.show();
  await arrangeDebugView(workbench);
  await standsAt('before change_item: confirm-before-write');
  await debug.press('continue');
  await debug.stoppedAt(declared);
  await standsAt('change_item is called');
  const from = Date.now();
  await debug.press('step-into');
  await debug.stoppedAt(first).catch(async (error: unknown) => {
    await workbench.screenshot('inside-tool-failed');
    console.log((await debug.callStack()).join('\n'), await debug.consoleText());
    throw error;
  });
  console.log(`from the step to the tool's first line: ${Date.now() - from} ms`);
  await workbench.screenshot('inside-tool-entered');
  await debug.press('step-over');
  await debug.stoppedAt(first + 1);
  const scope = await until('the scope of what the function declares', async () => {
    const found = (await debug.variables()).find(({ depth, name }) => depth === 1 && name.startsWith('Block'));
    if (!found) throw new Error(JSON.stringify(await debug.variables()));
    return found.name;
  });
  await debug.waitForValue([scope, 'order'], /pending/);
  await workbench.screenshot('inside-tool');
  await debug.press('step-out');
  await standsAt('the database is written');
  await debug.stoppedAt(declared);
  await workbench.screenshot('inside-tool-left');
  await until('the inspector is closed', async () =>
    expect((await debug.callStack()).join('\n')).not.toContain('tools of order-desk'),
  );
});

async function standsAt(place: string): Promise<void> {
  await until(`the debugger at "${place}"`, async () => {
    await workbench.debug.paused();
    expect((await workbench.debug.callStack()).join('\n')).toContain(place);
  });
}
