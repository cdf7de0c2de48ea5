import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import type { ModelSeat } from '../../src/engine/core/domain/seatSpec.ts';
import { randomStream } from '../../src/engine/core/values/random.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../../src/engine/shell/records/ledger.ts';
import { verifyRun } from '../../src/engine/shell/records/verifyRun.ts';
import { runBatch, type TrialResult } from '../../src/engine/shell/runs/batch.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { folderOf } from '../engine/shell/load/domainFolder.ts';
import { approveDomain } from '../support/approval.ts';
import { markdownTable, withGenerated } from '../support/markdownTable.ts';
import { isFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Cases, caseIn, caseName } from './cases.ts';
import type { Outcome, Seat } from './chatFaults.ts';
import { type Refused, serveCases } from './endpoint.ts';
import { faultDesk } from './faultDesk.ts';
import { injections } from './injections.ts';
import { nameOf } from './plan.ts';
import { type Scheduled, scheduleOf } from './schedule.ts';
import { streamedFaults } from './streamFaults.ts';
import { type Openings, usualOpenings, visitServer } from './visitServer.ts';

// Invariant: a fault of an endpoint or a server never becomes a reward. The rollout is as without it, or it has no
// reward and the fault is named; and a rollout without a fault has the reward of its work.

const wanted = Number(process.env['REHEARSAL_FAULTS'] ?? 14);
const seed = Number(process.env['REHEARSAL_SEED'] ?? 1);
/** Rollouts of one run. */
const perRun = 280;
/** The time limit of a request: longer than any answer takes on a busy machine. */
const limitMs = 15_000;

type Tally = Record<Outcome, number>;
const tallies = new Map<string, Tally>();
const wrong: string[] = [];
let affectedCases = 0;
let clean = 0;
let brokenOpenings = 0;

test(`${wanted} faults of endpoints and servers become no reward`, async () => {
  const schedule = scheduleOf(seed);
  const random = randomStream(seed, 'faults', 'openings');
  while (affectedCases < wanted) {
    const count = Math.min(perRun, Math.ceil(((wanted - affectedCases) * 7) / 6) + 10);
    const shared = new Set([1, 2].map(() => 1 + random.integer(Math.floor(count / 2))));
    // They are far apart, because the second attempt of a client whose connection was closed is one of the next openings.
    const quarter = Math.floor(count / 4);
    const broken = new Set([0, 2].map((before) => 1 + before * quarter + random.integer(quarter)));
    const scheduled = Array.from({ length: count }, () => schedule.next().value);
    await playRun(scheduled, { shared, broken });
  }
  expect(wrong).toEqual([]);
  expect(tallies.size).toBeGreaterThanOrEqual(Math.min(wanted, injections.length) * 0.95);
}, 3_600_000);

async function playRun(scheduled: readonly Scheduled[], openings: Openings): Promise<void> {
  const affected = new Set<number>();
  const cases: Cases = {
    planOf: (at) => scheduled[at]?.plan,
    isWrong: (at) => scheduled[at]?.isWrong ?? false,
    onInjected: (at) => void affected.add(at),
  };
  const { results, mcp } = await playCases(scheduled.length, cases, { openings });
  const sharing = results.filter(({ failure }) => failure?.code === 'mcp/shared-session');
  expect(sharing).toHaveLength(mcp.shared());
  for (const result of results) if (!sharing.includes(result)) judgeResult(result, scheduled, affected);
  if (mcp.sessions.size > affected.size) wrong.push(`${mcp.sessions.size} sessions are left`);
  brokenOpenings += mcp.broken();
}

type Playing = { readonly openings?: Openings; readonly refused?: Refused; readonly rateLimitMs?: number };

/** Plays cases in one run, and verifies it. */
async function playCases(
  count: number,
  cases: Cases,
  { openings = usualOpenings, refused, rateLimitMs = 120_000 }: Playing,
) {
  const [endpoint, mcp] = [await serveCases(cases, refused), await visitServer(cases, openings)];
  const folder = approveDomain(
    folderOf(
      faultDesk(
        endpoint.base,
        mcp.url,
        Array.from({ length: count }, (_, at) => caseName(at)),
        limitMs,
      ),
    ),
  );
  const run = temporaryFolder('fault-run');
  const model = (seat: Seat): ModelSeat => ({
    type: 'openai',
    model: 'm',
    baseUrl: `${endpoint.base}/${seat}/v1`,
    keyName: null,
    timeoutMs: limitMs,
    rateLimitMs,
  });
  const key = signingKey(join(run, '..', 'fault-key.pem'));
  const supervisor = await openSupervisor(loadDomain(folder), { workers: 2 });
  try {
    const results = await runBatch(supervisor, {
      folder: run,
      tasks: supervisor.domain.tasks,
      trials: 1,
      seed: String(seed),
      basis: 'evaluate',
      agent: model('agent'),
      user: model('user'),
      judge: model('judge'),
      toolSettings: { rateLimitMs },
      concurrency: 48,
      key,
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('no person is asked')),
    });
    expect(verifyRun(run, key.publicKey).problems).toEqual([]);
    return { results, mcp };
  } finally {
    await supervisor.close();
    endpoint.close();
    mcp.close();
  }
}

// All requests to an endpoint share its limit, so these faults affect whole runs.
const limits = (['agent', 'user', 'judge', 'tool'] as const).flatMap((seat) =>
  [429, 503].map((status) => ({ seat, status })),
);

test.each(sampled(limits, 5))('an endpoint that answers $status to every $seat leaves no reward', async (refused) => {
  const cases: Cases = { planOf: () => undefined, isWrong: () => false, onInjected: () => undefined };
  const { results } = await playCases(3, cases, { refused, rateLimitMs: 300 });
  const words = refused.status === 429 ? /limits the rate of requests/ : /answered 503/;
  expect(results.map(({ reward, reason }) => [reward, words.test(reason)])).toEqual(Array(3).fill([null, true]));
});

/** The reason for the reward 0 of a rollout whose agent did not do its work. */
const notDone = /is "later", expected "done"/;

/** Counts the outcome of a case, and records the case if its fault does not allow this outcome. */
function judgeResult(result: TrialResult, scheduled: readonly Scheduled[], affected: ReadonlySet<number>): void {
  const at = caseIn(result.task) ?? -1;
  const { plan, isWrong } = scheduled[at] ?? {};
  const due = isWrong ? 0 : 1;
  const said = `${result.reason} ${result.failure?.message ?? ''}`;
  if (!plan || !affected.has(at)) {
    clean += 1;
    if (result.reward !== due || (due === 0 && !notDone.test(said)))
      wrong.push(`${result.task}, left alone: reward ${result.reward}, not ${due}: ${said}`);
    return;
  }
  affectedCases += 1;
  const { outcomes } = plan.fault;
  const outcome = (['unchanged', 'agent', 'unscored'] as const).find((each) => {
    const cause = outcomes[each];
    // If the work was not done, the reward is 0 whatever the judge answers.
    const isDecided = each === 'unchanged' && due === 0 && plan.type === 'chat' && plan.seat === 'judge';
    if (!isDecided && !cause?.test(said)) return false;
    if (each === 'unchanged' && due === 0 && !notDone.test(said)) return false;
    return result.reward === { unchanged: due, agent: 0, unscored: null }[each];
  });
  const name = nameOf(plan);
  const tally = tallies.get(name) ?? { unchanged: 0, agent: 0, unscored: 0 };
  tallies.set(name, tally);
  if (outcome) tally[outcome] += 1;
  else wrong.push(`${result.task}, ${name}: reward ${result.reward}, due ${due}: ${said}`);
}

/** The texts of the page for the outcomes of a rollout. */
const words: Readonly<Record<Outcome, string>> = {
  unchanged: 'same as without the fault',
  unscored: 'no reward; the fault is named',
  agent: "the agent's failure, which is named",
};

test.runIf(isFullSuite)('the table in docs/injected-faults.md has every fault', async () => {
  const page = inRoot('docs', 'injected-faults.md');
  const inStreams = new Set(streamedFaults.map(({ name }) => name.replace(/, in a stream$/, '')));
  const own = injections.filter(({ fault }) => !streamedFaults.some((each) => each.name === fault.name));
  const rows = Map.groupBy(own, ({ fault }) => fault);
  const table = markdownTable([
    ['fault', 'where', 'the rollout'],
    ...[...rows].map(([{ name, outcomes }, plans]) => [
      name,
      plans.map((plan) => (plan.type === 'tool' ? 'MCP server' : plan.seat)).join(', ') +
        (inStreams.has(name) ? '; also in a stream' : ''),
      Object.keys(outcomes)
        .map((outcome) => words[outcome as Outcome])
        .join(', or '),
    ]),
  ]);
  await expect(withGenerated(readFileSync(page, 'utf8'), 'faults', table)).toMatchFileSnapshot(page);
});

afterAll(() => {
  const total = (outcome: Outcome) => [...tallies.values()].reduce((sum, tally) => sum + tally[outcome], 0);
  console.log(
    `${affectedCases} affected: ${total('unchanged')} as without the fault, ${total('unscored')} without a reward, ${total('agent')} counted as the agent's failure, ${wrong.length} wrong; ${clean} left alone; ${brokenOpenings} connections were closed when they were opened; ${tallies.size} kinds; seed ${seed}`,
  );
});
