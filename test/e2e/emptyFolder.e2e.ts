import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { until } from './support/until.ts';
import { Workbench } from './support/workbench.ts';

/** Writes the first domain of docs/domain-format.md into an empty folder. */
const folder = mkdtempSync(join(tmpdir(), 'rehearsal-empty-'));
let workbench: Workbench;

beforeAll(async () => {
  for (const [path, text] of firstDomain()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const settings = { 'editor.hover.enabled': 'on' };
  workbench = await Workbench.open(folder, { settings, viewport: { width: 1400, height: 900 } });
});

afterAll(async () => {
  await workbench?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

test('tools.ts has types without node_modules: a hover names them', async () => {
  await workbench.openFile('tools.ts');
  await until('the type of `tool`', async () => {
    await showHover('export const extend_loan = tool({', 3);
    const hover = workbench.page.locator('.monaco-hover:visible');
    await hover.filter({ hasText: 'ToolDefinition' }).waitFor({ timeout: 5000 });
  });
  await workbench.screenshot('types');
  await workbench.press('Escape');
  expect(await workbench.page.locator('.squiggly-error').count()).toBe(0);
});

test('a wrong type is an error, and a right one is not', async () => {
  const line = lineOf('loan.due = due;');
  await workbench.replaceLine(line, '    loan.due = 23;');
  const squiggle = workbench.page.locator('.squiggly-error');
  await until('an error below loan.due', async () => expect(await squiggle.count()).toBe(1));
  await workbench.replaceLine(line, '    loan.due = due;');
  // Once the next error shows, the right type has been checked: no other error is left.
  const call = lineOf('const loan = db.loans[loan_id];');
  await workbench.replaceLine(call, '    const loan = db.loan[loan_id];');
  await until('one error, in the other line', async () => {
    expect(await squiggle.count()).toBe(1);
    expect(await lineAt(squiggle)).toContain('db.loan[');
  });
  await workbench.replaceLine(call, '    const loan = db.loans[loan_id];');
  await until('no error', async () => expect(await squiggle.count()).toBe(0));
});

test('F5 rehearses its task to reward 1', async () => {
  const { debug } = workbench;
  await workbench.openFile('tasks/extend.task.yaml');
  await debug.start();
  await debug.waitForConsole(/REWARD 1\b/);
  await workbench.screenshot('first-domain');
  await debug.press('continue');
  await debug.ended();
  expect(existsSync(join(folder, 'node_modules'))).toBe(false);
});

/** Shows the hover of the name that is this many characters before the end of a line. */
async function showHover(text: string, before: number): Promise<void> {
  await workbench.goToLine(lineOf(text));
  await workbench.press('End', ...Array<string>(before).fill('ArrowLeft'), 'Control+K', 'Control+I');
}

/** Returns the text of the editor's line above an underline. */
async function lineAt(underline: Locator): Promise<string> {
  const box = await underline.boundingBox();
  const lines = workbench.page.locator('.editor-group-container.active .view-lines .view-line');
  return lines.evaluateAll(
    (all, top) => {
      const under = all.find((line) => {
        const place = line.getBoundingClientRect();
        return place.top <= top && top < place.bottom;
      });
      return under?.textContent ?? '';
    },
    (box?.y ?? 0) + 2,
  );
}

function lineOf(text: string): number {
  const lines = readFileSync(join(folder, 'tools.ts'), 'utf8').split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
}

/** Returns the code blocks of the page's first section: each names its file in its first line, except the database. */
function firstDomain(): [path: string, text: string][] {
  const page = readFileSync(inRoot('docs', 'domain-format.md'), 'utf8');
  const section = page.slice(page.indexOf('A first domain, complete'), page.indexOf('\n## domain.yaml'));
  const blocks = [...section.matchAll(/```\w+\n(.*?)```/gs)].map(([, text = '']) => text);
  return blocks.map((text) => {
    const [first = '', ...rest] = text.split('\n');
    const path = /^(?:#|\/\/|<!--) (\S+\.\w+)/.exec(first)?.[1];
    return path ? [path, rest.join('\n')] : ['database.json', text];
  });
}
