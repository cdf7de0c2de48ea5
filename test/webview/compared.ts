import type {
  ComparedMetrics,
  ComparedRecording,
  RecordingsCompared,
  RunsCompared,
} from '../../src/webview/messages/compared.ts';

const none = { mean: 0, median: 0, p95: 0, max: 0 };

/** Metrics of a run that was made for a test. */
export function metrics(part: Partial<ComparedMetrics> = {}): ComparedMetrics {
  return {
    rollouts: 4,
    scored: 4,
    tasks: 2,
    meanReward: 1,
    reward: { value: 1, low: 0.34, high: 1 },
    scoredTasks: { all: 2, some: 0, none: 0 },
    completionRate: 1,
    passHat: [
      { k: 1, tasks: 2, value: 1, low: 0.34, high: 1 },
      { k: 2, tasks: 2, value: 1, low: 0.34, high: 1 },
    ],
    flipRate: 0,
    allCorrect: 1,
    allWrong: 0,
    turns: { ...none, mean: 5 },
    calls: [{ tool: 'get_order', calls: 8, errors: 0, share: 1 }],
    callsPerRollout: 2,
    toolErrorRate: 0,
    unnecessaryRate: 0,
    handOffRate: null,
    confirmationRate: 1,
    violationRate: 0,
    latency: { rollout: none, agent: none },
    tokens: { total: 0 },
    money: null,
    failedBy: { agent: 0 },
    ...part,
  };
}

const run = (name: string, agent: string, measured: ComparedMetrics): RunsCompared['runs'][number] => ({
  folder: `/runs/${name}`,
  run: { domain: 'order-desk', seed: '1', basis: 'evaluate', agent, user: 'agenda', policyHash: 'p' },
  metrics: measured,
  unfinished: 0,
  problems: [],
});

const trial = (name: string, task: string, number: number, reward: number | null) => ({
  trial: number,
  reward,
  failedBy: reward === 1 ? null : 'agent',
  recording: `/runs/${name}/${task}.${number}.traj.jsonl`,
});

/** Two runs of two trials: one task broke, one was fixed, one is unchanged, one is in one run only. */
export const twoRuns: RunsCompared = {
  runs: [
    run('before', 'gold', metrics()),
    run(
      'after',
      'scripted',
      metrics({
        meanReward: 0.5,
        reward: { value: 0.5, low: 0.09, high: 0.91 },
        passHat: [{ k: 1, tasks: 2, value: 0.5, low: 0.09, high: 0.91 }],
        calls: [
          { tool: 'get_order', calls: 3, errors: 1, share: 0.75 },
          { tool: 'cancel_order', calls: 1, errors: 0, share: 0.25 },
        ],
        tokens: { total: 1234 },
        failedBy: { agent: 2, simulator: 0 },
      }),
    ),
  ],
  tasks: [
    { task: 'stays', trials: [[trial('before', 'stays', 0, 1)], [trial('after', 'stays', 0, 1)]] },
    { task: 'fixed', trials: [[trial('before', 'fixed', 0, 0)], [trial('after', 'fixed', 0, 1)]] },
    {
      task: 'broke',
      trials: [
        [trial('before', 'broke', 0, 1), trial('before', 'broke', 1, 1)],
        [trial('after', 'broke', 0, 1), trial('after', 'broke', 1, 0)],
      ],
    },
    { task: 'alone', trials: [[trial('before', 'alone', 0, 1)], []] },
  ],
  pairs: [
    {
      tasks: [
        { task: 'stays', rewards: [1, 1], trials: [1, 1], difference: 0, flip: 'same' },
        { task: 'fixed', rewards: [0, 1], trials: [1, 1], difference: 1, flip: 'fixed' },
        { task: 'broke', rewards: [1, 0.5], trials: [2, 2], difference: -0.5, flip: 'broke' },
      ],
      difference: { value: 1 / 6, low: -0.5, high: 1 },
      better: 1,
      worse: 1,
      p: 1,
      verdict: 'no difference is shown',
      advice: ['This does not show that the runs are equal.', 'About 44 tasks would decide; now there are 3.'],
      settings: ["agent's seat: gold → scripted", 'text of the policy'],
      changedTasks: [],
      onlyInOne: ['alone'],
      partings: [{ task: 'broke', trial: 1, steps: [7, null], what: 'agent', texts: ['Shall I?', '(nothing more)'] }],
      alike: 2,
    },
  ],
};

/** A recording as the comparison shows it. */
export function recording(name: string, reward: number | null): ComparedRecording {
  return {
    path: `/runs/${name}/broke.1.traj.jsonl`,
    started: {
      task: 'broke',
      domain: 'order-desk',
      agent: 'gold',
      user: 'agenda',
      seed: '1',
      trial: 1,
      basis: 'evaluate',
    },
    events: 31,
    isRunning: false,
    measure: {
      reward,
      reason: reward === 1 ? 'the database held' : 'the orders differ',
      endReason: 'userStopped',
      failedBy: reward === 1 ? null : 'agent',
      failure: null,
      turns: 6,
      calls: [{ tool: 'get_order', calls: 2, errors: 1 }],
      latency: { agent: [900, 600], user: [], tools: [1] },
      tokens: { agent: { input: 900, output: 334 }, user: { input: 0, output: 0 } },
    },
    stoppedCalls: [],
    verdicts: [
      { name: 'communicate', verdict: 'held', detail: 'said', step: 30 },
      {
        name: 'database',
        verdict: reward === 1 ? 'held' : 'violated',
        detail: reward === 1 ? 'as expected' : 'status is "open"',
        step: 29,
      },
    ],
    problems: [],
  };
}

/** Two recordings that diverge at their third row. */
export const twoRecordings: RecordingsCompared = {
  recordings: [recording('before', 1), recording('after', 0)],
  settings: ["agent's seat: gold → scripted"],
  fork: null,
  divergence: { steps: [7, 7], what: 'agent', texts: ['Shall I cancel it?', 'cancel_order({"id":"W1"})'] },
  rows: [
    {
      first: { n: 2, what: 'user', text: 'Please cancel W1.', isError: false },
      second: { n: 2, what: 'user', text: 'Please cancel W1.', isError: false },
      isAlike: true,
    },
    {
      first: { n: 5, what: 'result', text: '{"status":"open"}', isError: false },
      second: { n: 5, what: 'result', text: '{"status":"open"}', isError: false },
      isAlike: true,
    },
    {
      first: { n: 7, what: 'agent', text: 'Shall I cancel it?', isError: false },
      second: { n: 7, what: 'agent', text: 'cancel_order({"id":"W1"})', isError: false },
      isAlike: false,
    },
    { first: null, second: { n: 9, what: 'result', text: 'Error: ask first', isError: true }, isAlike: false },
  ],
  database: {
    differences: [{ place: 'orders.W1.status', first: '"cancelled"', second: '"open"' }],
    more: 0,
    problem: null,
  },
};
