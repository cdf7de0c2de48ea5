import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSeries, slowestIn } from '../../scripts/loadedRuns.ts';
import { temporaryFolder } from '../support/temporary.ts';

const finished = (run: number, commit = 'abc', busy = 4) => ({
  commit,
  busy,
  run,
  at: '',
  minutes: 9,
  last: '',
  slowest: [],
});

test('a series is the runs of a commit beside as many processes, without a line that was cut off', () => {
  const file = join(temporaryFolder('load'), 'load.jsonl');
  expect(readSeries(file, 'abc', 4)).toEqual([]);
  const runs = [finished(1), finished(1, 'def'), finished(2, 'abc', 8), finished(2)];
  writeFileSync(file, `${runs.map((run) => JSON.stringify(run)).join('\n')}\n{"commit":"abc","bus`);
  expect(readSeries(file, 'abc', 4)).toEqual([finished(1), finished(2)]);
});

test('the slowest tests are found in the output', () => {
  const output = `ok\n\n━━ the 20 slowest of 3 tests\n  41.0 s  python test_a.py: b\n   2.5 s  unit   c.test.ts: d\n\n━━ the 10 slowest of 2 files\n  41.0 s  python test_a.py\n`;
  expect(slowestIn(output)).toEqual(['41.0 s  python test_a.py: b', '2.5 s  unit   c.test.ts: d']);
  expect(slowestIn('stopped')).toEqual([]);
});
