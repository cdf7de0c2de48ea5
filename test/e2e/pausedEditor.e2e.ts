import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrangeDebugView } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

const domain = copyDomain('order-desk');
const task = 'tasks/lamp-variant.task.yaml';
const rule = domain.lineOf('policy.md', 'Before any call that changes something');
/** The line at which a violation stops, so that the box of VS Code is below the whole rule. */
const ruleEnd = domain.lineOf('policy.md', '{#confirm-before-write}');
const policy = join(domain.folder, 'policy.md');
const before = readFileSync(policy, 'utf8');
let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(domain.folder, { settings: { 'editor.hover.enabled': 'on' } });
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('while paused, rules show verdicts and tools show calls, and a hover shows them in full', async () => {
  const { debug, page } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.paused();
  await debug.show();
  await arrangeDebugView(workbench);
  await debug.stoppedAt(ruleEnd);
  await until('the verdict', async () => expect(await lensAbove('- Before any call')).toContain(violated));
  await workbench.screenshot('paused-rule');
  await debug.press('step-into');
  await debug.stoppedAt(domain.lineOf('tools.ts', 'export const change_item'));
  await shows('is called with {"order_id":"W1138"');
  await workbench.screenshot('paused-tools');
  await until('the hover over a tool', async () => {
    await page.mouse.move(2, 2);
    await page
      .locator('.editor-instance .view-line span', { hasText: /^change_item$/ })
      .first()
      .hover();
    const hover = page.locator('.debug-hover-widget');
    await hover.waitFor({ timeout: 3000 });
    expect(await hover.textContent()).toContain('W1138');
  });
  await workbench.screenshot('paused-hover');
});

test('a verdict stays above its rule when the policy is edited while the rollout is paused', async () => {
  const { debug, page } = workbench;
  await debug.press('step-back');
  await debug.stoppedAt(rule);
  await workbench.goToLine(rule);
  await workbench.press('Home');
  await page.keyboard.insertText('- Be brief.\n\n');
  await until('the verdict in the text that is not saved', aboveItsRule);
  await workbench.save();
  await until('the verdict in the saved text', aboveItsRule);
  await debug.press('step-into');
  await debug.press('step-back');
  await debug.stoppedAt(rule + 2);
  await workbench.screenshot('paused-edited-policy');
  await workbench.openFile('policy.md');
  await workbench.press('Control+Z');
  await workbench.save();
  await workbench.clearNotifications();
});

test('a policy that another program edits is reported while paused, and no more once it is as it was', async () => {
  const { debug, page } = workbench;
  const notice = page.locator('.part.statusbar', { hasText: 'policy.md changed since step' });
  // The test before this one left a change.
  writeFileSync(policy, before);
  await notice.waitFor({ state: 'hidden' });
  await debug.stoppedAt(rule);
  writeFileSync(policy, before.replace('- Before any call', '- Be brief.\n\n- Before any call'));
  await notice.waitFor();
  await until('the verdict above its rule', aboveItsRule);
  await debug.stoppedAt(rule + 2);
  await workbench.screenshot('paused-policy-of-another-program');
  writeFileSync(policy, before);
  await notice.waitFor({ state: 'hidden' });
  await debug.stoppedAt(rule);
});

test('all files that changed are reported, also a domain.yaml that is deleted, and nothing else is lost', async () => {
  const { debug, page } = workbench;
  const notice = page.locator('.part.statusbar .statusbar-item', { hasText: 'changed since step' });
  const tools = join(domain.folder, 'tools.ts');
  const domainFile = join(domain.folder, 'domain.yaml');
  const [toolsBefore, domainBefore] = [tools, domainFile].map((each) => readFileSync(each, 'utf8')) as [string, string];
  await debug.stoppedAt(rule);
  writeFileSync(policy, `${before}\n- Be brief.\n`);
  await notice.filter({ hasText: 'policy.md changed since step' }).waitFor();
  writeFileSync(tools, `${toolsBefore}\n// Edited.\n`);
  await notice.filter({ hasText: 'policy.md, tools.ts changed since step' }).waitFor();
  rmSync(domainFile);
  await notice.filter({ hasText: 'policy.md, domain.yaml, tools.ts changed since step' }).waitFor();
  await workbench.screenshot('paused-several-files-changed');
  await debug.stoppedAt(rule);
  await until('the verdict above its rule', async () =>
    expect(await lensAbove('- Before any call')).toContain(violated),
  );
  await notice.click();
  await workbench.notification(/domain\.yaml/);
  await workbench.screenshot('paused-domain-file-deleted');
  await debug.press('step-into');
  await debug.press('step-back');
  await debug.stoppedAt(rule);
  writeFileSync(domainFile, domainBefore);
  writeFileSync(tools, toolsBefore);
  await notice.filter({ hasText: 'policy.md changed since step' }).waitFor();
  writeFileSync(policy, before);
  await notice.waitFor({ state: 'hidden' });
  await workbench.clearNotifications();
});

test('tasks and rules show the result of the last run above them, and a click opens the recording', async () => {
  const { debug, page } = workbench;
  await page.mouse.move(2, 2);
  for (const [stop, below] of [
    ['before change_item: confirm-before-write', 'turn 6'],
    ['before transfer_to_human: hand-off', 'turn 7'],
    ['reward 0', ''],
  ] as const) {
    await debug.press('continue');
    await debug.standsAt(stop, below);
  }
  await debug.press('stop');
  await debug.ended();
  await workbench.openFile('policy.md');
  const lenses = page.locator('.editor-instance .codelens-decoration');
  await until('the lens of a rule', async () =>
    expect((await lenses.allInnerTexts()).join('\n')).toMatch(/Last run: violated (?:once|2 times), held/),
  );
  await workbench.screenshot('last-results-policy');
  await workbench.openFile(task);
  await page.mouse.move(2, 2);
  await until('the lens of a task', async () =>
    expect((await lenses.allInnerTexts()).join('\n')).toMatch(/0\/1 passed · just now/),
  );
  await workbench.screenshot('last-results-task');
  await until('the recording in its editor', async () => {
    await lenses.getByText('0/1 passed').click({ timeout: 3000 });
    await page.locator('.tab.active', { hasText: 'lamp-variant.0.traj.jsonl' }).waitFor({ timeout: 5000 });
  });
  await workbench.screenshot('last-results-recording');
});

test('in a narrow editor, the box and the verdicts are not inside a rule', async () => {
  const { debug, page } = workbench;
  await workbench.openFile(task);
  await debug.start();
  await debug.stoppedAt(ruleEnd);
  await debug.show();
  await page.setViewportSize({ width: 1000, height: 1400 });
  const placeOf = async (selector: string, hasText: string | RegExp) => {
    const box = await page.locator(`.editor-group-container.active ${selector}`, { hasText }).first().boundingBox();
    if (!box) throw new Error(`${hasText} is not drawn`);
    return box.y;
  };
  await until('the box below the rule', async () => {
    const places = await Promise.all([
      placeOf('.view-line', /Before\sany\scall/),
      placeOf('.view-line', '{#confirm-before-write}'),
      placeOf('.zone-widget', violated),
      placeOf('.view-line', /Make\sone\stool/),
    ]);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(await lensAbove('- Before any call')).toContain(violated);
    expect(await lensAbove('- Look the order')).toMatch(/^\s*held/);
  });
  expect(await page.locator('.editor-group-container.active .debug-inline-value').count()).toBe(0);
  for (const theme of ['light', 'high contrast', 'dark'] as const) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`paused-narrow-${theme.replace(' ', '-')}`);
  }
  await debug.press('stop');
  await debug.ended();
});

const violated = 'violated: change_item was called before anything was proposed';

async function aboveItsRule(): Promise<void> {
  expect(await lensAbove('- Before any call')).toContain(violated);
  expect(await lensAbove('- Be brief.')).not.toContain('violated');
}

/** Returns the text of the lenses directly above the line of the editor that begins with a text; empty without a lens. */
async function lensAbove(beginning: string): Promise<string> {
  return workbench.page.evaluate((wanted) => {
    const editor = '.editor-group-container.active .monaco-editor';
    const text = (element: Element) => (element.textContent ?? '').replaceAll('\u00a0', ' ');
    const all = (selector: string) => [...document.querySelectorAll(`${editor} ${selector}`)];
    const line = all('.view-line').find((each) => text(each).trimStart().startsWith(wanted));
    if (!line) throw new Error(`no line begins with ${wanted}`);
    const { top, height } = line.getBoundingClientRect();
    const isAbove = (each: Element) => Math.abs(each.getBoundingClientRect().bottom - top) < height / 2;
    return all('.codelens-decoration').filter(isAbove).map(text).join(' ');
  }, beginning);
}

async function shows(text: string): Promise<void> {
  await until(`"${text}" in the editor`, async () =>
    expect((await workbench.editorLines()).join('\n')).toContain(text),
  );
}
