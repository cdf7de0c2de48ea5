import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MarkWriter, readMark, readSpool } from '../../../../src/engine/shell/workers/workerMarker.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

test('the spool keeps what was not sent, until it was', () => {
  const folder = temporaryFolder('rehearsal-mark');
  const file = openSync(join(folder, 'mark'), 'w+');
  onTestFinished(() => {
    closeSync(file);
    rmSync(folder, { recursive: true });
  });
  const mark = new MarkWriter(file);
  expect(mark.enter({ rollout: 7, tool: 'look', timeoutMs: 100 }, { first: 0, bytes: Buffer.from('one\n') })).toBe(
    true,
  );
  mark.leave();
  expect(mark.enter({ rollout: 7, tool: 'paint', timeoutMs: 100 }, { first: 0, bytes: Buffer.from('two\n') })).toBe(
    true,
  );
  expect(readMark(file)).toMatchObject({ rollout: 7, tool: 'paint', phase: 'inside', call: 2 });
  expect(readSpool(file, readMark(file))).toBe('one\ntwo\n');
  mark.enter({ rollout: 8, tool: 'look', timeoutMs: 100 }, { first: 2, bytes: Buffer.from('three\n') });
  expect([readMark(file).firstSpooled, readSpool(file, readMark(file))]).toEqual([2, 'three\n']);
});
