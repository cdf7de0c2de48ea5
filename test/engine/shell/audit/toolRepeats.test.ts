import { expect, it } from 'vitest';
import { audit } from '../../../../src/engine/shell/audit/audit.ts';
import { HungCalls } from '../../../../src/engine/shell/audit/hungCalls.ts';
import type { Part } from '../../../../src/engine/shell/audit/stage.ts';
import { folderOf } from '../load/domainFolder.ts';
import { auditOnce, checkWithKnownTools, shown } from './findings.ts';
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

it('makes no further call of a tool after two different calls reached its time limit', async () => {
  const task = (id: string, tool: string, loan: string) => ({ id, actions: [{ tool, arguments: { loan } }] }) as never;
  const [found, one, same, other, third] = [
    task('found', 'find', 'L1'),
    task('one', 'renew', 'L1'),
    task('same', 'renew', 'L1'),
    task('other', 'renew', 'L2'),
    task('third', 'renew', 'L3'),
  ];
  const abandoned: string[] = [];
  const stage = {
    play: async ({ task: { id, actions }, signal }: Part) => {
      signal?.addEventListener('abort', () => abandoned.push(id));
      if (id === 'third') await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      const [{ tool, arguments: args } = actions[0] as never] = actions;
      const call = { type: 'toolCalled', call: { id: 'c', name: tool, arguments: args } };
      const failure = tool === 'find' ? null : { who: 'environment', code: 'tool/hung', message: 'it hung' };
      return { failure, arrived: [{ event: call }] };
    },
  } as never;
  const hung = new HungCalls();
  const played = hung.playGold(stage, third);
  await hung.playGold(stage, one);
  expect([found, same, other, third].map((each) => hung.leftOutTool(each))).toEqual([null, 'renew', null, null]);
  await hung.playGold(stage, other);
  expect([found, third].map((each) => hung.leftOutTool(each))).toEqual([null, 'renew']);
  expect([await played, abandoned]).toEqual([null, ['third']]);
  const tools = [{ name: 'renew' }, { name: 'find' }] as never;
  expect(hung.tried(tools).map(({ sample }) => sample.arguments)).toEqual([{ loan: 'L1' }, { loan: 'L2' }]);
});

it('reports an endless loop in a tool that every task calls once, and the tasks that it leaves out', async () => {
  const tasks = String(lendingDesk['tasks/loans.task.yaml']);
  const renewed = tasks.slice(0, tasks.indexOf('- id: return'));
  const again = [1, 2].map((n) => renewed.replace('id: renew', `id: again-${n}`));
  const folder = folderOf({
    ...lendingDesk,
    'domain.yaml': `${lendingDesk['domain.yaml']}toolTimeoutMs: 300\n`,
    'tools.ts': String(lendingDesk['tools.ts']).replace('row(db.loans, loan).day = day;', 'for (;;);'),
    'tasks/loans.task.yaml': `${tasks}${again.join('')}`,
  });
  const { loaded } = await checkWithKnownTools()(folder);
  const told: (readonly [done: number, total: number, what: string])[] = [];
  const { diagnostics, undecided } = await audit(loaded, {
    signal: new AbortController().signal,
    onProgress: (...progress) => told.push(progress),
  });
  expect(shown(folder, diagnostics)).toEqual([
    expect.stringMatching(/^tools\.ts:14 tool\/no-result renew_loan\(.*did not return within 300 ms/),
  ]);
  expect(undecided.map(({ task }) => task)).toEqual(['again-1', 'again-2']);
  expect(undecided[0]?.reason).toBe('gold actions call renew_loan, which reached its time limit in another rollout');
  expect(new Set(told.map(([, total]) => total)).size).toBe(1);
  expect(told.at(-1)?.[0]).toBe(told.at(-1)?.[1]);
  // A rollout of a task that calls renew_loan would make the call at its end, for the expected database.
  const others = told.map(([, , what]) => what).filter((what) => !/^gold seat plays (?:renew|again-.)$/.test(what));
  expect(others.toSorted()).toEqual([
    'agent that does nothing plays return',
    ...['gold seat plays return', 'gold seat plays return'],
    ...['two calls of find_loan', 'two calls of find_loan'],
    ...['two calls of return_loan', 'two calls of return_loan'],
  ]);
});
