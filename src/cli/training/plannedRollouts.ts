import type { TrainingKind } from '../../engine/core/domain/trainingKind.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { sum } from '../../engine/core/values/statistics.ts';
import { fitTasks } from '../../engine/shell/load/fitness.ts';
import { settingOf } from '../../training/trainingKeys.ts';
import { tasksInSplit } from '../options/rolloutOptions.ts';
import type { Launch } from '../targets/target.ts';
import type { TrainingDomain, TrainingRequest } from './trainingConfiguration.ts';

type Asked = { readonly kind: TrainingKind; readonly config: Launch['config'] };

const evaluates = (asked: Asked) => Number(settingOf(asked, 'evaluate_every') ?? 0) > 0;

/** Throws a `UsageError` where a domain has no task that the run can play; the trainer would find it only after its start. */
export function requireTasks({ kind, domains }: TrainingRequest, config: Launch['config']): void {
  const asked = { kind, config };
  if (kind === 'sft' && !evaluates(asked)) return;
  const key = kind === 'sft' ? 'evaluate_split' : 'split';
  const split = settingOf(asked, key);
  if (split !== 'train' && split !== 'test') return;
  const other = split === 'train' ? 'test' : 'train';
  for (const { loaded } of domains) tasksInSplit(loaded, split, `, or choose other tasks with --set ${key}=${other}`);
}

/** Returns the rollouts that a run plays to evaluate the model, in words; null where it plays none. */
export function evaluationText({ kind, domains, heldOut }: TrainingRequest, config: Launch['config']): string | null {
  const asked = { kind, config };
  const number = (name: string) => Number(settingOf(asked, name));
  if (kind === 'evaluate') {
    const split = settingOf(asked, 'split');
    const tasks = tasksOf(domains, split);
    const [trials, greedy] = [number('trials'), number('greedy_trials')];
    return `${counted(tasks * (trials + greedy), 'rollout')}: ${tasksText(tasks, split)}, ${counted(trials, 'trial')} each at temperature ${number('temperature')} and ${greedy} greedy`;
  }
  if (!evaluates(asked)) return null;
  const split = settingOf(asked, 'evaluate_split');
  const tasks = tasksOf([...domains, ...heldOut], split);
  const trials = number('evaluate_trials');
  return `${counted(tasks * trials, 'rollout')} before the first optimizer step, after every ${counted(number('evaluate_every'), 'step')} and after the last: ${tasksText(tasks, split)}, ${counted(trials, 'trial')} each`;
}

function tasksText(tasks: number, split: unknown): string {
  return `${counted(tasks, 'task')} of ${split === null ? 'both splits' : `the split ${split}`}`;
}

function tasksOf(domains: readonly TrainingDomain[], split: unknown): number {
  return sum(
    domains.map(({ loaded }) => {
      const tasks = loaded.tasks.filter((task) => split === null || task.split === split);
      return fitTasks(tasks, loaded).fit.length;
    }),
  );
}
