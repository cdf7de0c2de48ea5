import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isFullSuite, sampled } from '../../support/suite.ts';
import { disks } from './faults/disk.ts';
import { domainCode } from './faults/domainCode.ts';
import { models } from './faults/models.ts';
import { clocks, processes } from './faults/processes.ts';
import { closeKept, type FaultRow, keeping, root, source } from './faults/scene.ts';
import { pythonTools, servers, simulatedTools } from './faults/sources.ts';

// Tests each row of the table in docs/faults.md: injects the fault, and compares the message and the remaining files
// with the table. `vitest run test/engine/shell/faults.test.ts -u` writes the table again.

afterAll(closeKept);
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

const table = source('docs/faults.md');
const areas: Readonly<Record<string, readonly FaultRow[]>> = {
  Models: models,
  'MCP servers': servers,
  'Simulated tools': simulatedTools,
  Python: pythonTools,
  "The domain's code": domainCode,
  Disk: disks,
  Processes: processes,
  Clock: clocks,
};
const head = ['Fault', 'How it is injected', 'What you see', 'What is kept'];
const seen = new Map<string, string>();

describe.each(Object.entries(areas))('%s', (_area, rows) => {
  test.each(sampled(rows, 16).map((row) => [row.fault, row] as const))(
    '%s',
    async (fault, { sees, kept, inject, obstacle }) => {
      const why = obstacle?.() ?? null;
      if (why !== null) {
        console.warn(`SKIPPED: ${fault}: ${why}`);
        return;
      }
      const affected = await inject();
      await keeping[kept](affected);
      const told = affected.lines.join('\n');
      expect(told).not.toMatch(/\n\s+at .*:\d+:\d+/);
      expect(told).not.toContain('sk-secret');
      if (sees === null) {
        seen.set(fault, 'nothing');
        return;
      }
      const line = affected.lines.find((each) => sees.test(each));
      expect(line, `no line like ${sees} in:\n${told}`).toBeDefined();
      seen.set(fault, shown(line ?? '', affected));
    },
  );
});

/** Returns a line without the parts that differ between machines. */
function shown(line: string, { run, folder }: { readonly run: string; readonly folder: string }): string {
  return line
    .replaceAll(run, 'RUN')
    .replaceAll(folder, 'DOMAIN')
    .replaceAll(process.execPath, 'node')
    .replaceAll(source('test/engine/shell/fixtures/'), '')
    .replaceAll(join(root, '/'), '')
    .replace(/(changed|flaky) \d+/, '$1 FILE')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll('|', '\\|')
    .replace(/^(?:error|result|agent) +/, (label) => `${label.trim()}: `);
}

// On other platforms, the same faults have different numbers and signals.
test.runIf(isFullSuite && process.platform === 'linux')(
  'the table in docs/faults.md is what the tests see',
  async () => {
    const text = readFileSync(table, 'utf8');
    const before = new Map(text.split('\n').map((line) => [cellsOf(line)[0] ?? '', cellsOf(line)[2] ?? '']));
    const sections = Object.entries(areas).map(([area, rows]) => {
      const cells = rows.map(({ fault, injected, kept }) => [
        fault,
        injected,
        seen.get(fault) ?? before.get(fault) ?? '',
        kept,
      ]);
      return `## ${area}\n\n${markdown([head, ...cells])}`;
    });
    const [introduction = ''] = text.split('\n## ');
    await expect(`${introduction.trim()}\n\n${sections.join('\n\n')}\n`).toMatchFileSnapshot(table);
    const rows = Object.values(areas).flat();
    expect(new Set(rows.map(({ fault }) => fault)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(25);
  },
);

function cellsOf(line: string): readonly string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function markdown(rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...rest] = rows;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}
