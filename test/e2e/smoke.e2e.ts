import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyDomain, Workbench } from './support/workbench.ts';

const domain = copyDomain('order-desk');
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('the packaged extension runs in a real VS Code and its commands are in the palette', async () => {
  await workbench.openFile('policy.md');
  expect(await workbench.editorLines()).not.toEqual([]);
  // F9 works from the first moment, before the extension has looked for domains.
  await workbench.debug.setBreakpoint(3);
  await workbench.runCommand('Rehearsal: Open Training Dashboard');
  await workbench.waitForText('.tabs-container', 'Training');
  await workbench.webviewFrame().getByText('No training run yet').waitFor();
  await workbench.screenshot('smoke');
});
