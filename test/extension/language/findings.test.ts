import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { findingsOf, forgetOutdated, showChecked } from '../../../src/extension/language/findings.ts';
import { smallDomain } from '../../support/smallDomain.ts';

const statusBar = vi.hoisted(() => ({ said: [] as string[] }));

vi.mock('vscode', () => ({
  DiagnosticSeverity: {},
  window: { setStatusBarMessage: (text: string) => statusBar.said.push(text) },
}));

const folder = smallDomain({}, '[]');
const file = join(folder, 'database.json');
const finding = {
  file,
  line: 1,
  column: 1,
  endLine: 1,
  endColumn: 2,
  code: 'database/x',
  severity: 'warning',
} as const;
const found = { ...finding, message: 'Cargo One is repair.' };
const [before, checkedAt, after] = [1000, 2000, 3000];

beforeEach(() => {
  statusBar.said = [];
  writeFileSync(file, '{}\n');
  showChecked(folder, [found], checkedAt * 1000);
});

test.each([
  ['saved before the audit', () => utimesSync(file, before, before), 1],
  ['changed after it', () => utimesSync(file, after, after), 0],
  ['removed', () => rmSync(file), 0],
])('findings of an audit are cleared when a file on the disk is %s: %#', (_, change, left) => {
  change();
  forgetOutdated(file);
  expect(findingsOf(folder)).toHaveLength(left);
  expect(statusBar.said).toEqual(
    left === 1 ? [] : [`Findings of the last check cleared: ${basename(folder)} has changed.`],
  );
});
