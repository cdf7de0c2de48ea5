import { expect, it } from 'vitest';
import { type Files, folderOf } from '../load/domainFolder.ts';
import { auditOnce, checkWithKnownTools } from './findings.ts';
import { changed, lendingDesk } from './lendingDesk.ts';

/** The code of each write, which changes the row of a loan. */
const writes = {
  add_five: 'found.fee += 5;',
  add_two: 'found.fee += 2;',
  double_fee: 'found.fee *= 2;',
  halve_fee: 'found.fee /= 2;',
  pay_fee: "if (found.fee < 5) throw new ToolError('there is no fee'); found.paid = true;",
  tag_first: "found.tags.push('first');",
  tag_second: "found.tags.push('second');",
};

const tool = ([name, body]: readonly [string, string]) => `
export const ${name} = tool({
  description: 'Change a loan.',
  effect: 'write',
  input: z.object({ loan: z.string() }),
  run: ({ loan }, { db }) => {
    const found = row(db.loans, loan) as any;
    ${body}
    return 'ok';
  },
});
`;

const task = (first: keyof typeof writes, second: keyof typeof writes) => `- id: ${first}-${second}
  split: test
  persona: plain
  user:
    goal: You want ${first} and ${second} for your loan L1.
    opening: Please do both for my loan L1.
    known: { loan: L1 }
  actions:
    - { tool: find_loan, arguments: { loan: L1 } }
    - { tool: ${first}, arguments: { loan: L1 } }
    - { tool: ${second}, arguments: { loan: L1 } }
`;

/** The desk with a task for each pair of writes, and a tool whose results differ between calls. */
const desk = (domain: string): Files => ({
  ...lendingDesk,
  'domain.yaml': `${lendingDesk['domain.yaml']}${domain}`,
  'rules.yaml': `${lendingDesk['rules.yaml']}- { rule: look-up, check: before, tools: [halve_fee], require: [add_two] }\n`,
  'tools.ts': String(
    changed(
      'tools.ts',
      "row(db.loans, loan).back = true;\n    return 'ok';",
      'row(db.loans, loan).back = true;\n    return { calls: (calls += 1), tags: calls % 2 ? [1, 2] : [2, 1] };',
    )['tools.ts'],
  )
    .replace('function row', 'let calls = 0;\nfunction row')
    .concat(...Object.entries(writes).map(tool)),
  'database.json': String(lendingDesk['database.json']).replaceAll('"title"', '"fee": 1, "tags": [], "title"'),
  'tasks/more.task.yaml': [
    task('add_five', 'double_fee'),
    task('add_five', 'add_two'),
    task('add_five', 'pay_fee'),
    task('add_two', 'halve_fee'),
    task('tag_first', 'tag_second'),
  ].join(''),
});

it('finds gold actions whose order alone decides the end state, in the fields that are compared exactly', async () => {
  const folder = folderOf(desk('compare: { unordered: [tags], tolerance: { calls: 10 } }\n'));
  expect(await auditOnce(checkWithKnownTools())(folder)).toEqual([
    'tasks/more.task.yaml:11 task/gold-order The order of the gold actions alone decides the end state. They make add_five({"loan":"L1"}) before double_fee({"loan":"L1"}); in the other order all calls succeed as well, and loans.L1.fee is 7, expected 12.',
  ]);
});
