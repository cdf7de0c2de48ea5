import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { batchesOf, evalArguments } from '../../../src/extension/testing/taskBatch.ts';
import { runs } from '../../support/runs.ts';

const chosen = (folder: string, task: string) => ({ folder, task });

it('one run for each domain', () => {
  const batches = batchesOf([
    chosen('/a', '1'),
    chosen('/a', '2'),
    chosen('/b', '1'),
    chosen('/a', '3'),
    chosen('/a', '1'),
  ]);
  expect(batches).toEqual([
    { folder: '/a', tasks: ['1', '2', '3'] },
    { folder: '/b', tasks: ['1'] },
  ]);
});

it('the seats that tasks name play them', () => {
  const [line = []] = evalArguments({ folder: '/a', tasks: ['x', 'y'] }, { trials: 3, out: '/r' });
  expect(line.join(' ')).toBe('eval /a --tasks x,y --trials 3 --task-agents --out /r --json --stream');
});

it('a list that is too long for a command line is split, without losing or repeating a task', () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,60}$/), { maxLength: 900 });
  fc.assert(
    fc.property(ids, (tasks) => {
      const lists = evalArguments({ folder: '/a', tasks }, { trials: 1, out: '/r' }).map(
        (args) => args[args.indexOf('--tasks') + 1] ?? '',
      );
      expect(lists.filter((list) => list.length > 16_000)).toEqual([]);
      expect(lists.flatMap((list) => list.split(','))).toEqual(tasks);
    }),
    { numRuns: runs(30) },
  );
});
