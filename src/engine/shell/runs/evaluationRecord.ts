import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { type EvaluationPart, evaluationParts, trainingKinds } from '../../core/domain/trainingKind.ts';
import { measureOf } from '../../core/evaluation/measure.ts';
import type { Recorded } from '../../core/events/event.ts';
import { issueText } from '../../core/text/issueText.ts';
import { loadDomain } from '../domain/loadDomain.ts';
import { readBoundedText } from '../files/boundedFile.ts';
import { fromDisk } from '../files/disk.ts';
import { messageOf } from '../files/fault.ts';
import { readRecording, readSidecar, sidecarPath } from '../records/recording.ts';
import { isRecording } from '../records/recordingName.ts';
import { toolKinds } from '../records/runFile.ts';
import { runFiles } from '../records/runFiles.ts';
import type { FinishedRollout, RunRecord } from '../records/runRecord.ts';
import { type RolloutLine, rolloutOfLine } from '../records/trainingRun.ts';

const configSchema = z.looseObject({
  kind: z.enum(trainingKinds),
  model: z.string(),
  domain: z.union([z.string(), z.array(z.json())]),
  seed: z.int(),
  temperature: z.number().optional(),
});
type Config = z.infer<typeof configSchema>;

/** The rollouts of a part of an evaluation: a line each. */
export const evaluationFile = (run: string, part: EvaluationPart): string =>
  join(run, runFiles.trajectories, part, runFiles.rollouts);

/** The parts of an evaluation that have rollouts; the one at a temperature first. */
export function partsPlayed(run: string): readonly EvaluationPart[] {
  return evaluationParts.filter((part) => evaluationLines(run, part).length > 0);
}

/** The rollouts of a part of an evaluation, a line each; undefined for one that can't be read. */
export function evaluationLines(run: string, part: EvaluationPart): readonly (RolloutLine | undefined)[] {
  const path = evaluationFile(run, part);
  const texts = existsSync(path) ? fromDisk(path, () => readBoundedText(path)).split('\n') : [];
  return texts.filter(Boolean).map(rolloutOfLine);
}

/**
 * Returns what a training run's folder says about it; null for a folder of something else, a sentence where it can't be
 * read.
 */
export function trainingConfigIn(run: string): Config | string | null {
  const path = join(run, runFiles.config);
  if (!existsSync(path)) return null;
  try {
    const { data, error } = configSchema.safeParse(JSON.parse(readBoundedText(path)));
    if (data) return data;
    return `${path}:1: is not a configuration of a training run (${issueText(error, 'the file')})`;
  } catch (error) {
    return `${path}:1: ${messageOf(error)}`;
  }
}

/** A part of an evaluation by the trainer as a record of a run; a sentence says why nothing of it can be measured. */
export function readEvaluation(folder: string, config: Config, part: EvaluationPart): RunRecord | string {
  const trajectories = join(folder, runFiles.trajectories, part);
  const domain = typeof config.domain === 'string' ? config.domain : '';
  // What its tools are is in the domain alone, which may be gone.
  const tools = existsSync(join(domain, 'domain.yaml')) ? toolKinds(loadDomain(domain).domain.tools) : [];
  const problems: string[] = [];
  const lines = evaluationLines(folder, part);
  if (lines.includes(undefined)) problems.push(`${evaluationFile(folder, part)} has a line that is not a rollout`);
  const read = lines.flatMap((line) => {
    const recorded = line && recordingOf(trajectories, line);
    if (typeof recorded === 'string') problems.push(recorded);
    return typeof recorded === 'object' ? [recorded] : [];
  });
  const started = read[0]?.started;
  if (!started) return problems[0] ?? `the evaluation ${folder} has no rollouts`;
  const rollouts = read.map(({ path, lines: events, started: { task } }): FinishedRollout => {
    const timings = readSidecar(sidecarPath(path)).lines;
    const measured = measureOf(
      events.map(({ event }) => event),
      tools,
      timings,
    );
    return { ...measured, recording: path, taskHash: task.hash, startedAt: timings[0]?.at };
  });
  const known = new Set(read.map(({ path }) => basename(path)));
  const sampling = part === 'greedy' ? 'greedy' : `temperature ${config.temperature ?? 1}`;
  return {
    folder,
    file: {
      domain: started.domain.name,
      folder: domain,
      seed: String(config.seed),
      trials: Math.max(...rollouts.map(({ trial }) => trial)) + 1,
      basis: started.basis,
      turnCap: started.turnCap,
      agent: `${config.model} (${sampling})`,
      user: started.seats.user,
      tasks: [...new Set(rollouts.map(({ task }) => task))],
      tools,
      policyHash: started.policyHash,
      publicKey: '',
    },
    rollouts,
    unfinished: readdirSync(trajectories).filter((name) => isRecording(name) && !known.has(name)),
    notRun: [],
    forks: [],
    problems,
  };
}

/** The recording that a line names, or what is wrong with it. */
function recordingOf(folder: string, { task, member, failure, recording }: RolloutLine) {
  const which = `task ${task}, trial ${member ?? '?'}`;
  if (recording === null) return `${which} has no recording${failure ? `: ${failure.message}` : ''}`;
  const path = join(folder, basename(recording));
  if (!existsSync(path)) return `${path} is missing, although rollouts.jsonl names it`;
  const { lines, problems } = readRecording(path);
  const [problem] = problems;
  if (problem) return `${path}:${problem.line}: ${problem.message}`;
  const started = startOf(lines);
  return started ? { path, lines, started } : `${path}:1: a recording begins with rolloutStarted`;
}

function startOf([first]: readonly Recorded[]) {
  return first?.event.type === 'rolloutStarted' ? first.event : undefined;
}
