import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { changedLines } from '../../../../src/engine/shell/domain/policyChange.ts';
import { readRunFile } from '../../../../src/engine/shell/records/runFile.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal } from '../../../support/terminal.ts';
import { lendingDesk } from '../audit/lendingDesk.ts';
import { folderOf } from '../load/domainFolder.ts';

it('a run records how its policy differs from that of the last run of the domain, and verify shows it', async () => {
  const [folder, runs] = [folderOf(lendingDesk), temporaryFolder('rehearsal-runs')];
  const play = async (name: string) => {
    const { code } = await rehearsal('eval', folder, '--out', join(runs, name));
    expect(code).toBe(0);
    const file = readRunFile(join(runs, name));
    return typeof file === 'string' ? file : file.policyChange;
  };
  expect(await play('first')).toBeUndefined();
  expect(await play('second')).toMatchObject({ run: 'first', lines: [] });
  const policy = join(folder, 'policy.md');
  writeFileSync(policy, readFileSync(policy, 'utf8').replace('Renew only what', 'Never renew what'));
  const lines = ['-- Renew only what is not reserved.', '+- Never renew what is not reserved.'];
  expect(await play('third')).toMatchObject({ run: 'second', lines });
  const { out, code } = await rehearsal('verify', join(runs, 'third'));
  expect({ out, code }).toEqual({
    code: 0,
    out: `the policy differs from that of the run before, second:\n  ${lines.join('\n  ')}\n2 recordings verified\n`,
  });
  expect((await rehearsal('verify', join(runs, 'second'))).out).toBe('2 recordings verified\n');
});

it('the removed and added lines turn one text into the other', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '- d'), { maxLength: 8 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = changedLines(before, after);
      const kept = (own: string, sign: string) => {
        const rest = own.split('\n');
        for (const line of lines.filter((each) => each.startsWith(sign))) rest.splice(rest.indexOf(line.slice(1)), 1);
        return rest.toSorted();
      };
      expect(kept(before, '-')).toEqual(kept(after, '+'));
      expect(changedLines(before, before)).toEqual([]);
    }),
  );
});
