import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TrainingKind } from '../../engine/core/domain/trainingKind.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { quantile } from '../../engine/core/values/statistics.ts';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { valueOfLine } from '../../engine/shell/records/trainingRun.ts';
import { settingOf } from '../../training/trainingKeys.ts';
import { environmentDownload } from '../python/pythonEnvironment.ts';
import { gpusHere, planFor, withProfile } from '../targets/gpus.ts';
import type { PromptLength } from '../targets/needs.ts';
import { readJson } from '../targets/runFolder.ts';
import type { Launch, Plan, Target } from '../targets/target.ts';
import type { TargetSpec } from '../targets/targets.ts';
import type { Io } from '../terminal/io.ts';

/** A plan with the model, the time that earlier runs suggest, and what the run learns from. */
export type TrainingPlan = Plan & Expected & Partial<LearnedFrom>;

/** The domains of a run and its input. */
export type LearnedFrom = {
  /** Names of the folders. */
  readonly domains: readonly string[];
  readonly kind: TrainingKind;
  /** In words; null for an evaluation. */
  readonly input: string | null;
  /** The rollouts that evaluate the model, in words; null without any. */
  readonly evaluation: string | null;
  /** The errors that keep tasks from being used. */
  readonly leftOut: readonly string[];
};

type Expected = {
  readonly model: string;
  readonly steps?: number;
  /** The median of an optimizer step in earlier runs with the same kind, model and profile; absent without any. */
  readonly secondsPerStep?: number;
  readonly earlierRuns: number;
};

/** Returns what a launch is expected to need. Nothing is started, copied or downloaded. */
export async function planOf(launch: Launch, spec: TargetSpec, target: Target, io: Io): Promise<TrainingPlan> {
  const isOwn = spec.target === 'local' && launch.python === undefined;
  const bytes = isOwn ? await environmentDownload(io) : 0;
  if (bytes === 0) {
    const { launch: complete, plan } = await target.preflight(launch, io);
    return { ...plan, ...expectedOf(complete) };
  }
  const gpus = gpusHere();
  const { launch: complete, reason } = withProfile(launch, gpus);
  const downloads = [{ what: "the trainer's Python environment", bytes }];
  return { ...planFor(target.name, complete, gpus, reason), downloads, ...expectedOf(complete) };
}

/** Returns what the configuration and the runs beside it say about the time. */
export function expectedOf({ kind, run, config }: Launch): Expected {
  const { model, profile } = config;
  const steps = settingOf({ kind, config }, 'steps');
  const others = existsSync(dirname(run)) ? readdirSync(dirname(run)).map((name) => join(dirname(run), name)) : [];
  const alike = others.filter((other) => {
    if (other === run || !existsSync(join(other, runFiles.metrics))) return false;
    const { kind: itsKind, model: itsModel, profile: itsProfile } = readJson(join(other, runFiles.config));
    return itsKind === kind && itsModel === model && itsProfile === profile;
  });
  const seconds = alike.map(stepSeconds).filter((each) => each !== undefined);
  return {
    model: String(model),
    ...(typeof steps === 'number' ? { steps } : {}),
    ...(seconds.length === 0 ? {} : { secondsPerStep: quantile(seconds, 0.5) }),
    earlierRuns: seconds.length,
  };
}

/** The median time of a run's optimizer steps; undefined where it measured none. */
function stepSeconds(run: string): number | undefined {
  const values = readBoundedText(join(run, runFiles.metrics))
    .split('\n')
    .flatMap((line) => {
      const { step_seconds: seconds } = (valueOfLine(line) ?? {}) as { readonly step_seconds?: unknown };
      return typeof seconds === 'number' ? [seconds] : [];
    });
  return values.length === 0 ? undefined : quantile(values, 0.5);
}

/** Formats a plan for a terminal, one line for each fact. */
export function planText(plan: TrainingPlan): string {
  return planLines(plan)
    .map(([name, text]) => `${name.padEnd(9)}  ${text}\n`)
    .join('');
}

/** Returns the facts of a plan as pairs of a name and a text. */
export function planLines(plan: TrainingPlan): readonly (readonly [string, string])[] {
  const {
    target,
    device,
    profile,
    reason,
    model,
    needs,
    prompt,
    downloads,
    domains = [],
    input,
    evaluation,
    leftOut = [],
  } = plan;
  const isTrained = plan.kind !== 'evaluate';
  const millions = needs?.parameters === undefined ? '' : `, ${(needs.parameters / 1e6).toFixed(0)} million parameters`;
  const files = [
    ...downloads,
    ...(needs?.download ? [{ what: `the weights of ${model}`, bytes: needs.download }] : []),
  ];
  return [
    ...(domains.length > 0 ? [['domain', domains.join(', ')] as const] : []),
    ...(input ? [['input', input] as const] : []),
    ...(evaluation ? [['evaluate', evaluation] as const] : []),
    ['target', device === undefined ? target : `${target} (${device})`],
    ['profile', `${profile}. ${reason}`],
    ['model', `${model}${millions}`],
    ...(needs?.chat ? [['dialect', needs.chat] as const] : []),
    ...(prompt ? [['context', promptText(prompt)] as const] : []),
    [
      'memory',
      needs?.memory
        ? `${gibibytes(needs.memory.needed)} of ${gibibytes(needs.memory.available)} for weights${isTrained ? ', gradients and optimizer' : ''}, without activations${needs.memory.vllm === undefined ? '' : `; vLLM may take ${gibibytes(needs.memory.vllm)} while it samples`}`
        : `known once the trainer is installed on ${target}`,
    ],
    [
      'disk',
      needs
        ? `${gibibytes(needs.disk)} ${isTrained ? 'to write' : 'for recordings'}, ${gibibytes(needs.free)} free`
        : `checked before training, once the trainer is installed on ${target}`,
    ],
    ['downloads', files.map(({ what, bytes }) => `${what}: about ${megabytes(bytes)}`).join('; ') || 'none'],
    ['time', timeText(plan)],
    ...leftOut.map((error) => ['not used', error] as const),
  ];
}

function promptText({ domain, tokens, room, answer }: PromptLength): string {
  const left = room - tokens;
  const taken = `the policy and the tools of ${domain} take ${tokens} of ${room} tokens`;
  if (left <= 0) return `${taken}, so not every task of it fits`;
  const ofAnswer = answer === undefined ? '' : `, and one answer can have ${answer}`;
  return `${taken}; ${left} are left for the conversation${ofAnswer}`;
}

function timeText({ steps, secondsPerStep, earlierRuns }: TrainingPlan): string {
  if (secondsPerStep === undefined) {
    const what = steps === undefined ? 'not known' : `not known for ${counted(steps, 'optimizer step')}`;
    return `${what}, because no earlier run has this kind, model and profile`;
  }
  const step = `${secondsPerStep.toFixed(1)} s per optimizer step, the median of ${counted(earlierRuns, 'earlier run')}`;
  return steps === undefined
    ? step
    : `about ${duration(steps * secondsPerStep)} for ${counted(steps, 'step')} (${step})`;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

const gibibytes = (bytes: number) =>
  bytes < 0.1 * 2 ** 30 ? `${Math.ceil(bytes / 2 ** 20)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`;
const megabytes = (bytes: number) => `${Math.max(1, Math.round(bytes / 1e6))} MB`;
