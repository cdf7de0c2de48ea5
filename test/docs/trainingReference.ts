import { type TrainingKind, trainingKinds } from '../../src/engine/core/domain/trainingKind.ts';
import { byName, defaultOf, type TrainingKey, trainingKeys } from '../../src/training/trainingKeys.ts';

const heads: Readonly<Record<TrainingKind, string>> = { sft: 'SFT', grpo: 'GRPO', evaluate: 'Evaluation' };
const profiles = ['trial', 'cpu', 'gpu', 'paper'];

/** The sections of a kind in order, with the names of their keys. */
const sections: Readonly<Record<string, readonly string[]>> = {
  'model and tasks': [
    ...['model', 'domain', 'recordings', 'least_reward', 'split', 'basis', 'user', 'agent', 'profile', 'dialect'],
    ...['thinking', 'exact_history', 'python'],
  ],
  learning: [
    ...['algorithm', 'steps', 'epochs', 'batch', 'tasks_per_step', 'group_size', 'learning_rate', 'warmup_steps'],
    ...['schedule', 'lora_rank', 'beta', 'epsilon', 'epsilon_high', 'importance_sampling_cap', 'skip_dead_groups'],
    ...['refills', 'format_reward', 'tool_reward', 'seed', 'trl'],
  ],
  rollouts: [
    ...['trials', 'greedy_trials', 'temperature', 'top_p', 'max_tokens', 'turn_cap', 'context', 'concurrency'],
    ...['rollout_timeout_s', 'vllm_python', 'vllm_memory', 'user_prices'],
  ],
  'evaluation during training': [
    ...['evaluate_every', 'evaluate_split', 'evaluate_user', 'evaluate_basis', 'evaluate_trials', 'held_out'],
    ...['validation_share'],
  ],
  'memory and processors': ['micro_batch', 'gradient_checkpointing', 'dtype', 'quantization', 'processes', 'threads'],
  'checkpoints, alarms and trackers': ['save_every', 'keep_checkpoints', 'alarms', 'pause_on', 'report_to'],
};

/** Returns the reference of all keys of the trainer's configurations, as printed by `rehearsal train --explain`. */
export function trainingReference(): string {
  return `# Keys of a training run

A \`*.training.yaml\` has \`kind\` and any of these keys. \`rehearsal train --config first.training.yaml\` reads it. Options of the command override it, and its paths are relative to it. The editor completes and explains the keys. Choose *Train* above the first line of the file to start the run, or *Train with a Configuration…*, which can also create the file. \`rehearsal train grpo --explain\` prints the keys. The [glossary](../glossary.md#training) explains the terms of training.

\`\`\`yaml
kind: grpo
domain:
  - { folder: ../parcel-desk, weight: 2 }
  - { folder: ../order-desk }
profile: gpu
algorithm: dapo
learning_rate: 2e-5
evaluate_every: 10
\`\`\`

A default is the profile's. The values of an algorithm's paper override it, and your values override both. \`rehearsal train grpo DOMAIN --profile paper\` is MUA-RL's unchanged recipe. [alarms.md](alarms.md) lists the names for \`alarms\` and \`pause_on\`.

${trainingKinds.map(kindReference).join('\n\n')}
`;
}

function kindReference(kind: TrainingKind): string {
  const head = heads[kind];
  const keys = trainingKeys(kind).filter(({ isGiven }) => !isGiven);
  const ofRay = keys.filter(({ isForRay }) => isForRay);
  const others = new Map(keys.filter(({ isForRay }) => !isForRay).map((key) => [key.name, key]));
  const lists = Object.entries(sections).flatMap(([name, names]) => {
    const shown = names.flatMap((each) => others.get(each) ?? []);
    for (const { name: each } of shown) others.delete(each);
    return shown.length === 0 ? [] : [`### ${head}: ${name}`, shown.map(entryOf).join('\n')];
  });
  if (others.size > 0)
    throw new Error(
      `test/docs/trainingReference.ts: no section has ${[...others.keys()].join(', ')}. Add them to one.`,
    );
  const varied = keys.filter((key) => isVaried(key));
  const named = keys.filter(({ paper, trl, verl }) => [paper, trl, verl].some((each) => each !== undefined));
  return [
    `## ${head} (\`kind: ${kind}\`)`,
    ...lists,
    ...(ofRay.length === 0
      ? []
      : [
          `### Only on a Ray cluster: ${kind}`,
          'With `--target ray://HOST:8265` ([Ray](../training-ray.md)).',
          ofRay.map(entryOf).join('\n'),
        ]),
    `### ${head}: defaults by profile`,
    table(
      ['key', ...profiles],
      varied.map(({ name, defaults }) => [
        `\`${name}\``,
        ...profiles.map((each) => defaultOf({ defaults: { [each]: defaults[each] ?? null } })),
      ]),
    ),
    `### ${head}: the same key elsewhere`,
    'The value in the paper of MUA-RL, and the names in TRL and verl.',
    table(
      ['key', 'MUA-RL', 'TRL', 'verl'],
      named.map(({ name, paper, trl, verl }) => [`\`${name}\``, paper ?? '', trl ?? '', verl ?? '']),
    ),
  ].join('\n\n');
}

const isVaried = ({ defaults }: TrainingKey) =>
  new Set(Object.values(defaults).map((each) => JSON.stringify(each))).size > 1;

/** Returns a line of a list: the name of a key, its type and default, and its description. */
function entryOf(key: TrainingKey): string {
  const { name, type, about, unit, algorithms, defaults } = key;
  const facts = [type.replaceAll(' | ', ' or ')];
  if (unit !== undefined) facts.push(unit);
  if (isVaried(key)) facts.push('default by profile');
  else if (Object.keys(defaults).length > 0) facts.push(`default ${defaultOf(key)}`);
  if (algorithms !== undefined) facts.push(`by algorithm: ${byName(algorithms)}`);
  return `- \`${name}\` (${facts.join('; ')}): ${about.replace(/\s+/g, ' ')}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lineOf = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`;
  return [lineOf(head), lineOf(head.map(() => '---')), ...rows.map(lineOf)].join('\n');
}
