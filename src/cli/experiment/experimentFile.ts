import { dirname, resolve } from 'node:path';
import { type TrainingKind, trainingKinds } from '../../engine/core/domain/trainingKind.ts';
import { type Experiment, experimentFileSchema, type Stage } from '../../engine/core/evaluation/experiment.ts';
import { type Diagnostic, formatDiagnostic } from '../../engine/shell/files/diagnostic.ts';
import { describeIssues } from '../../engine/shell/source/issue.ts';
import { nearest } from '../../engine/shell/source/nearest.ts';
import { readSource } from '../../engine/shell/source/source.ts';
import { type Places, parseYaml } from '../../engine/shell/source/yaml.ts';
import { trainingKeys } from '../../training/trainingKeys.ts';
import { UsageError } from '../terminal/io.ts';
import { keyIn, wholePaths } from '../training/trainingFile.ts';

/** Options of `rehearsal train` that a file may set in addition to the keys of the trainer. */
const options: Readonly<Record<string, readonly string[]>> = { sft: ['trials'], grpo: [], evaluate: [] };

/** Keys that the plan of an experiment sets itself. */
const decided: readonly string[] = ['seed', 'model'];

type Stages = Pick<Experiment, TrainingKind>;

/** An experiment as a person wrote it. */
export type ExperimentFile = {
  readonly experiment: Experiment;
  /** The trainer's words about a key of a stage, with the line of the experiment before them where it is there. */
  readonly placed: (stage: Stage, words: string) => string;
};

/**
 * Reads an experiment (`*.experiment.yaml`); its paths are whole. Throws a `UsageError` with every finding and its line
 * for one that can't be run.
 */
export function readExperiment(path: string, cwd: string): ExperimentFile {
  const file = resolve(cwd, path);
  const refuse = (problems: readonly Diagnostic[]): never => {
    throw new UsageError(problems.map((problem) => formatDiagnostic(problem, cwd)).join('\n'));
  };
  const source = readSource(file, 'experiment');
  if ('problem' in source) return refuse([source.problem]);
  const { value, places, problem } = parseYaml(source.source, 'experiment');
  if (problem) return refuse([problem]);
  const parsed = experimentFileSchema.safeParse(value, { reportInput: true });
  if (!parsed.success)
    return refuse(
      describeIssues(parsed.error.issues, { kind: 'experiment', schema: 'experiment', places, prefix: [] }),
    );
  const experiment = parsed.data;
  const problems = [...keyProblems(experiment, places), ...pairProblems(experiment, places)];
  if (problems.length > 0) return refuse(problems);
  const folder = dirname(file);
  const wholeIn = (stages: Stages): Stages =>
    Object.fromEntries(
      trainingKinds.flatMap((kind) => (stages[kind] ? [[kind, wholePaths(kind, stages[kind], folder)]] : [])),
    );
  const { domain, model } = wholePaths('grpo', { domain: experiment.domain, model: experiment.model }, folder);
  return {
    experiment: {
      ...experiment,
      ...wholeIn(experiment),
      domain: String(domain),
      model: String(model),
      arms: Object.fromEntries(Object.entries(experiment.arms).map(([arm, stages]) => [arm, wholeIn(stages)])),
    },
    placed: ({ kind, arms }, words) => {
      const key = keyIn(words) ?? '';
      const held = [...arms.map((arm) => ['arms', arm, kind, key]), [kind, key], [key]].find(
        (at) => at.reduce<unknown>((each, part) => (each as Values | undefined)?.[part], value) !== undefined,
      );
      return held ? `${path}:${places.key(held).line}: ${words}` : words;
    },
  };
}

type Values = Readonly<Record<string, unknown>>;

function keyProblems(experiment: Experiment, places: Places): readonly Diagnostic[] {
  const parts: readonly (readonly [readonly string[], Stages])[] = [
    [[], experiment],
    ...Object.entries(experiment.arms).map(([arm, stages]) => [['arms', arm], stages] as const),
  ];
  return parts.flatMap(([path, stages]) =>
    trainingKinds.flatMap((kind) => {
      const known = [
        ...trainingKeys(kind).flatMap(({ name, isGiven }) => (isGiven || decided.includes(name) ? [] : [name])),
        ...(options[kind] ?? []),
      ];
      const unknown = Object.keys(stages[kind] ?? {}).filter((key) => !known.includes(key));
      return unknown.map((key): Diagnostic => {
        const meant = nearest(key, known);
        return {
          ...places.key([...path, kind, key]),
          code: 'experiment/unknown-key',
          severity: 'error',
          message: decided.includes(key)
            ? `The key ${key} can appear only once, for the whole experiment.`
            : `The key ${key} is not known to ${kind}.`,
          hint: decided.includes(key)
            ? `Write ${key === 'seed' ? 'seeds' : key} above the arms.`
            : meant === undefined
              ? `"npx rehearsal train ${kind} --explain" has them.`
              : `Did you mean "${meant}"?`,
        };
      });
    }),
  );
}

function pairProblems({ compare, arms }: Experiment, places: Places): readonly Diagnostic[] {
  const names = Object.keys(arms);
  return compare.flatMap((pair, at) =>
    pair.flatMap((arm, side): Diagnostic[] =>
      names.includes(arm)
        ? []
        : [
            {
              ...places.value(['compare', at, side]),
              code: 'experiment/unknown-arm',
              severity: 'error',
              message: `There is no arm ${arm}.`,
              hint: `The arms are ${names.join(', ')}.`,
            },
          ],
    ),
  );
}
