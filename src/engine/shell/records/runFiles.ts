/**
 * The files in the folder of a training run; `docs/training-protocol.md` describes their contents. The folder of an
 * experiment has its result under the same names.
 */
export const runFiles = {
  launch: 'launch.json',
  target: 'target.json',
  config: 'config.json',
  metrics: 'metrics.jsonl',
  events: 'events.jsonl',
  log: 'log.txt',
  connection: 'connection.jsonl',
  rayJob: 'ray.json',
  pid: 'pid',
  lock: '.lock',
  stop: 'stop',
  checkpoints: 'checkpoints',
  /** The copy of the weights that vLLM samples with. */
  serving: 'serving',
  trajectories: 'trajectories',
  /** In each folder of recordings: what became of them, a line for each. */
  rollouts: 'rollouts.jsonl',
  result: 'result.json',
  resultText: 'result.txt',
} as const;

/** Describes a run of rollouts; it is in the folder of the run. */
export const runFileName = 'run.json';
