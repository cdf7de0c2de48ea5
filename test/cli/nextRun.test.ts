import { beforeAll, expect, test } from 'vitest';
import { nextRun, type Shortfall } from '../../src/cli/report/nextRun.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const folder = temporaryFolder('rehearsal-next-run');
const place = { folder, domain: 'domains/order-desk', out: undefined };
const io = { cwd: process.cwd(), typed: ['eval', 'domains/order-desk'] };
const rollout = (task: string, who?: 'environment', code = '') => ({
  task,
  trial: 0,
  failure: who === undefined ? null : { who, code, message: 'it failed' },
});
const ended = rollout('lamp-variant');
const begun = rollout('wrong-card');

beforeAll(() => rehearsal('eval', place.domain, '--tasks', ended.task, '--agent', 'gold', '--out', folder));

test.each<[Shortfall, string]>([
  [{ type: 'stopped', hasRecordings: false }, 'Run the command again'],
  [{ type: 'stopped', hasRecordings: true }, 'Resume with: npx rehearsal eval domains/order-desk --out '],
  [{ type: 'lost', rollouts: [begun, rollout('b')] }, `Run them again with --out ${folder}`],
  [{ type: 'lost', rollouts: [ended] }, `Run it again with --out ${folder} --retry-unscored 1`],
  [
    { type: 'lost', rollouts: [rollout('a', 'environment', 'task/gold')] },
    `Correct the task and run what is left with --out ${folder}`,
  ],
  [
    { type: 'lost', rollouts: [rollout('a', 'environment', 'tool/hung')] },
    'Correct the domain and run again with another --out',
  ],
  [
    { type: 'unscored', rollouts: [ended], isEnvironment: true },
    'Find the error in the domain with: npx rehearsal check domains/order-desk --audit',
  ],
  [
    { type: 'unscored', rollouts: [ended], isEnvironment: false },
    `Run it again with --out ${folder} --retry-unscored 1`,
  ],
  [{ type: 'left', trials: 2 }, 'Choose all tasks of the run and 2 trials to finish it'],
])('after %j', (shortfall, advice) => {
  expect(nextRun(shortfall, place, io)).toContain(advice);
});
