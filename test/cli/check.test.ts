import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { notAudited } from '../../src/cli/commands/check.ts';
import { added, changed, lendingDesk } from '../engine/shell/audit/lendingDesk.ts';
import { folderOf } from '../engine/shell/load/domainFolder.ts';
import { rehearsal } from '../support/terminal.ts';

type Json = {
  readonly diagnostics: readonly { readonly code: string; readonly soundness?: string; readonly fix?: object }[];
  readonly fixed: number;
  readonly audit?: { readonly rollouts: number; readonly undecided: readonly object[] };
};

const tasks = 'tasks/loans.task.yaml';
const unsound = () => {
  const files = changed(tasks, 'tool: return_loan', 'tool: return_lone');
  const more = '  assertions: [{ path: loans.L2.back, equals: true }]\n  verifiers: []\n';
  return folderOf({ ...files, [tasks]: `${files[tasks]}${more}` });
};

describe('rehearsal check', () => {
  it('counts findings that can be fixed, and changes nothing without --fix', async () => {
    const folder = unsound();
    const before = readFileSync(join(folder, tasks), 'utf8');
    const { code, out } = await rehearsal('check', folder);
    expect(code).toBe(1);
    expect(out).toContain('2 of them can be fixed with --fix');
    expect(readFileSync(join(folder, tasks), 'utf8')).toBe(before);
  });

  it('reports that a single finding can be fixed', async () => {
    const folder = folderOf(changed(tasks, 'tool: return_loan', 'tool: return_lone'));
    expect((await rehearsal('check', folder)).out).toMatch(/; 1 finding, which can be fixed with --fix\n$/);
  });

  it('fixes findings with --fix, and reports the rest', async () => {
    const folder = unsound();
    const { code, out } = await rehearsal('check', folder, '--fix');
    expect({ code, last: out.trim().split('\n').at(-1) }).toEqual({
      code: 0,
      last: 'lending-desk: 2 tasks, 1 persona, 3 rules, 3 tools; no findings, 2 fixed',
    });
    const text = readFileSync(join(folder, tasks), 'utf8');
    expect(text).toContain('tool: return_loan,');
    expect(text).toContain('- id: return\n  evaluate: [database, communicate, assertions]\n');
  });

  it('counts the tools of servers as well, and says where they were not asked', async () => {
    const folder = inRoot('templates/mcp');
    const asked = await rehearsal('check', folder);
    expect(asked.out).toMatch(/, 3 tools; no findings\n$/);
    const still = await rehearsal('check', folder, '--static');
    expect(still.out).toMatch(/, 0 tools, those of "list" not asked; no findings\n$/);
    const { tools, unasked } = JSON.parse((await rehearsal('check', folder, '--json')).out) as Record<string, unknown>;
    expect([tools, unasked]).toEqual([['list_books', 'add_book', 'remove_book'], []]);
  });

  it('describes no tools where their code cannot be read, and reports only that', async () => {
    const folder = folderOf(changed('tools.ts', 'export const return_loan', 'expot const return_loan'));
    const { described, diagnostics } = JSON.parse((await rehearsal('check', folder, '--json')).out);
    expect([described, diagnostics.map(({ code }: { readonly code: string }) => code)]).toEqual([null, ['tool/code']]);
    const read = JSON.parse((await rehearsal('check', folderOf(lendingDesk), '--json')).out);
    expect(read.described).toHaveLength(3);
  });

  it('gives the edits of a fix as data, and the number of the sixteen', async () => {
    const { out } = await rehearsal('check', unsound(), '--static', '--json');
    const { diagnostics } = JSON.parse(out) as Json;
    const edit = { line: 20, column: 15, endLine: 20, endColumn: 26, text: 'return_loan' };
    expect(diagnostics[0]).toMatchObject({ code: 'task/unknown-tool', soundness: 'E10', fix: { edits: [edit] } });
    expect(diagnostics[1]).toMatchObject({ code: 'task/unused-demand', soundness: 'E2' });
  });

  it('plays the domain with --audit, and fails on a warning', async () => {
    const question = `- id: question
  split: test
  persona: plain
  user: { goal: Ask when L2 ends., known: { loan: L2 } }
  actions: [{ tool: find_loan, arguments: { loan: L2 } }]
  assertions: [{ path: loans.L2.day, equals: Tuesday }]
  evaluate: [assertions]
`;
    const folder = folderOf(added(tasks, question));
    expect((await rehearsal('check', folder)).code).toBe(0);
    const { code, out, err } = await rehearsal('check', folder, '--audit', '--json');
    const { diagnostics, audit } = JSON.parse(out) as Json;
    expect({ code, codes: diagnostics.map((each) => each.soundness) }).toEqual({ code: 1, codes: ['E3'] });
    expect(audit?.undecided).toEqual([]);
    expect(audit?.rollouts).toBeGreaterThan(10);
    const progress = [...err.matchAll(/(\d+)\/(\d+) /g)].map(([, done, total]) => [Number(done), Number(total)]);
    const [done, total] = progress.at(-1) ?? [];
    expect([done, new Set(progress.map(([, all]) => all))]).toEqual([total, new Set([total])]);
  });

  it('says that a domain is sound', async () => {
    const { code, out } = await rehearsal('check', folderOf(lendingDesk), '--audit');
    expect(code).toBe(0);
    expect(out).toMatch(/; no findings, audited\n$/);
  });

  it('names the tasks that are not audited for one reason on one line', () => {
    const [hung, simulated] = ['gold actions call renew_loan', 'a model answers for a simulated tool'];
    const undecided = ['a', 'b'].map((task) => ({ task, reason: hung })).concat({ task: 'c', reason: simulated });
    expect(notAudited(undecided)).toEqual([`a, b: not audited, ${hung}`, `c: not audited, ${simulated}`]);
  });

  it('does not audit a domain that has errors', async () => {
    const { code, out } = await rehearsal('check', unsound(), '--audit');
    expect(code).toBe(1);
    expect(out).toMatch(/not audited: correct the errors first/);
  });

  it('refuses to run nothing and everything', async () => {
    const { code, err } = await rehearsal('check', folderOf(lendingDesk), '--static', '--audit');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('choose one') });
  });
});
