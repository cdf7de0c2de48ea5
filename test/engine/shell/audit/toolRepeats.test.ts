import { expect, it } from 'vitest';
import { audit } from '../../../../src/engine/shell/audit/audit.ts';
import { firstCallers, HungTools } from '../../../../src/engine/shell/audit/hungTools.ts';
import { inFullSuite } from '../../../support/suite.ts';
import { folderOf } from '../load/domainFolder.ts';
import { auditOnce, checkWithKnownTools } from './findings.ts';
import { lendingDesk } from './lendingDesk.ts';

const hanging = `
export const wait = tool({
  description: 'Wait.',
  effect: 'read',
  timeoutMs: 300,
  input: z.object({}),
  run: () => new Promise(() => undefined),
});
`;

it('names a tool that does not return, and the faults of the other tools', async () => {
  const folder = folderOf({
    ...lendingDesk,
    'tools.ts': `${lendingDesk['tools.ts']}${hanging}`.replace(
      'run: ({ loan }, { db }) => row(db.loans, loan),',
      'run: ({ loan }, { db }) => Object.assign(row(db.loans, loan), { seen: true }),',
    ),
  });
  const lines = await auditOnce(checkWithKnownTools())(folder);
  expect(lines.filter((line) => !line.includes('tool/unused'))).toEqual([
    expect.stringMatching(/^tools\.ts:7 tool\/undeclared-write /),
    expect.stringMatching(
      /^tools\.ts:\d+ tool\/no-result wait\(\{\}\) has no result: .*gave no result within 300 ms.* busy machine/,
    ),
  ]);
});

it('calls a tool that reached its time limit in no other rollout', () => {
  const rollout = (callId: string, name: string, code: string | null) =>
    ({
      failure: code && { who: 'environment', code, message: 'it did not return' },
      arrived: [{ event: { type: 'toolCalled', call: { id: callId, name, arguments: {} } } }],
    }) as never;
  const hung = new HungTools();
  hung.noteRollout(rollout('a', 'renew', 'tool/hung'));
  hung.noteRollout(rollout('b', 'find', 'worker/memory'));
  const calling = (...tools: readonly string[]) => ({ actions: tools.map((tool) => ({ tool })) }) as never;
  expect([hung.calledBy(calling('find', 'renew')), hung.calledBy(calling('find'))]).toEqual(['renew', undefined]);
  expect(hung.resultOf('renew')?.failure).toMatchObject({ code: 'tool/hung' });
  const tasks = [calling('find'), calling('find'), calling('find', 'renew')].map((value) => ({ value }) as never);
  expect(firstCallers(tasks)).toEqual([tasks[0], tasks[2]]);
});

inFullSuite('plays no other task that needs a tool with an endless loop', async () => {
  const tasks = String(lendingDesk['tasks/loans.task.yaml']);
  const again = tasks.slice(tasks.indexOf('- id: return')).replace('id: return', 'id: again');
  const folder = folderOf({
    ...lendingDesk,
    'domain.yaml': `${lendingDesk['domain.yaml']}toolTimeoutMs: 300\n`,
    'tools.ts': String(lendingDesk['tools.ts']).replace('row(db.loans, loan).back = true;', 'for (;;);'),
    'tasks/loans.task.yaml': `${tasks}${again}`,
  });
  const played: string[] = [];
  const { loaded } = await checkWithKnownTools()(folder);
  const { undecided } = await audit(loaded, {
    signal: new AbortController().signal,
    onRollout: (what) => {
      played.push(what);
      return () => undefined;
    },
  });
  expect(played.filter((what) => /return|again/.test(what) && !what.startsWith('empty'))).toEqual([
    'gold seat, return',
  ]);
  expect(undecided).toEqual([
    {
      task: 'again',
      reason: 'its gold actions call return_loan, which did not return in another rollout',
      needsModel: false,
    },
  ]);
});

inFullSuite('names a tool with an endless loop once, although gold actions call it', async () => {
  const loop = 'while (loan) row(db.loans, loan);';
  const folder = folderOf({
    ...lendingDesk,
    'domain.yaml': `${lendingDesk['domain.yaml']}toolTimeoutMs: 300\n`,
    'tools.ts': String(lendingDesk['tools.ts']).replace('row(db.loans, loan).back = true;', loop),
  });
  expect(await auditOnce(checkWithKnownTools())(folder)).toEqual([
    expect.stringMatching(/^tools\.ts:24 tool\/no-result return_loan\(.* did not return within 300 ms/),
  ]);
});
