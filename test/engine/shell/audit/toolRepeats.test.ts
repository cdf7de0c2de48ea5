import { expect, it } from 'vitest';
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
