import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { check } from '../../../../src/engine/shell/domain/check.ts';
import { formatDiagnostic } from '../../../../src/engine/shell/files/diagnostic.ts';
import { desk, deskTools, type Files, folderOf } from '../load/domainFolder.ts';

async function checked(files: Files, describeTools?: (folder: string) => Promise<typeof deskTools>) {
  const folder = folderOf({ ...desk, ...files });
  const result = await check({ folder, ...(describeTools ? { describeTools } : {}) });
  return { folder, ok: result.ok, lines: result.diagnostics.map((each) => formatDiagnostic(each, folder)) };
}

describe('check', () => {
  it('has no findings for a good domain', async () => {
    expect(await checked({}, async () => deskTools)).toMatchObject({ ok: true, lines: [] });
  });

  it('prints file, place, severity, code and hint', async () => {
    const { ok, lines } = await checked({ 'domain.yaml': 'name: desk\nturnCup: 3\n' });
    expect(ok).toBe(false);
    expect(lines[0]).toBe(
      'domain.yaml:2:1 error domain/unknown-key The key turnCup is not known here. Did you mean "turnCap"?',
    );
  });

  it('finds problems without running code', async () => {
    const text = String(desk['tasks/first.task.yaml']).replace('tool: find_order', 'tool: find');
    expect((await checked({ 'tasks/first.task.yaml': text })).lines).toEqual([
      'tasks/first.task.yaml:7:13 error task/unknown-tool There is no tool find. The tools are find_order, cancel_order.',
    ]);
  });

  it.each([
    [
      'tools.ts',
      'const a = 1;\nexport const find_order = tool((;\n',
      'tools.ts:2:33 error tool/code Expression expected.',
    ],
    [
      'tools.ts',
      'const a = 1;\nexpot const b = 1;\nconst c = 1;\n',
      "tools.ts:2:7 error tool/code Expected ';', '}' or the end of the file.",
    ],
    ['tools.ts', 'const a = [1,\n', 'tools.ts:1:14 error tool/code '],
    ['verifiers.ts', 'enum Side { A }\n', 'verifiers.ts:1:1 error tool/code An enum is not erasable'],
  ])('finds a syntax error in %s without running code', async (file, text, expected) => {
    const { ok, lines } = await checked({ [file]: text });
    expect({ ok, lines }).toEqual({ ok: false, lines: [expect.stringContaining(expected)] });
  });

  it('finds a duplicate key in a database', async () => {
    const { lines } = await checked({ 'database.json': '{"orders": {"W1": {},\n  "W1": {}}}' });
    expect(lines).toEqual([
      'database.json:2:3 error database/duplicate-key The key W1 appears here a second time, so the first value is lost. Keep one of the two.',
    ]);
  });

  it('reports where the code of the domain fails', async () => {
    const failing = (folder: string) => {
      const error = new Error('boom is not defined');
      error.stack = `ReferenceError: boom is not defined\n    at file://${join(folder, 'tools.ts')}:3:7`;
      return Promise.reject(error);
    };
    expect((await checked({}, failing)).lines).toEqual([
      'tools.ts:3:1 error tool/load-failed boom is not defined. The tools of this domain could not be read; correct this first.',
    ]);
  });

  it('reports only the failure, not the tools that are unknown because of it', async () => {
    const text = String(desk['tasks/first.task.yaml']).replace('tool: find_order', 'tool: find');
    const { lines } = await checked({ 'tasks/first.task.yaml': text }, () => Promise.reject(new Error('boom')));
    expect(lines).toEqual([expect.stringMatching(/^tools\.ts:1:1 error tool\/load-failed boom\./)]);
  });

  it('reports the findings of a worker on the code of the domain', async () => {
    const failing = (folder: string) => {
      const failure = {
        who: 'environment',
        code: 'tool/syntax',
        message: 'tools.ts:2:3: an enum is not erasable',
        file: join(folder, 'tools.ts'),
        line: 2,
      };
      return Promise.reject(Object.assign(new Error(failure.message), { failure }));
    };
    expect((await checked({}, failing)).lines[0]).toMatch(
      /^tools\.ts:2:3 error tool\/syntax An enum is not erasable\. The tools/,
    );
  });
});
