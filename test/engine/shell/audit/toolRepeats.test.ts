import { expect, it } from 'vitest';
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
