import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { batchesOf, evalArguments } from '../../../src/extension/testing/taskBatch.ts';
import { runs } from '../../support/runs.ts';

const chosen = (folder: string, task: string, agent?: string) => ({ folder, task, agent });

it('one run for each domain and agent', () => {
  const batches = batchesOf([
    chosen('/a', '1'),
    chosen('/a', '2', 'scripted'),
    chosen('/b', '1'),
    chosen('/a', '3'),
    chosen('/a', '1'),
  ]);
  expect(batches).toEqual([
    { folder: '/a', agent: undefined, tasks: ['1', '3'] },
    { folder: '/a', agent: 'scripted', tasks: ['2'] },
    { folder: '/b', agent: undefined, tasks: ['1'] },
  ]);
});

it('a seat that the task names is given on; the domain keeps its own', () => {
  const options = { trials: 3, out: '/r' };
  const [named = []] = evalArguments({ folder: '/a', agent: 'scripted', tasks: ['x', 'y'] }, options);
  expect(named.join(' ')).toBe('eval /a --tasks x,y --trials 3 --agent scripted --out /r --json --stream');
  expect(evalArguments({ folder: '/a', agent: undefined, tasks: ['x'] }, options)[0]).not.toContain('--agent');
});

it('a list that is too long for a command line is split, without losing or repeating a task', () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,60}$/), { maxLength: 900 });
  fc.assert(
    fc.property(ids, (tasks) => {
      const lists = evalArguments({ folder: '/a', agent: undefined, tasks }, { trials: 1, out: '/r' }).map(
        (args) => args[args.indexOf('--tasks') + 1] ?? '',
      );
      expect(lists.filter((list) => list.length > 16_000)).toEqual([]);
      expect(lists.flatMap((list) => list.split(','))).toEqual(tasks);
    }),
    { numRuns: runs(30) },
  );
});
