import { readdir } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { type EvaluationPart, evaluationParts } from '../../engine/core/domain/trainingKind.ts';
import { readBoundedTextAsync } from '../../engine/shell/files/boundedFile.ts';
import { parseRecording } from '../../engine/shell/records/recording.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { rolloutOfLine } from '../../engine/shell/records/trainingRun.ts';
import type { PlayedStep, Rollout } from '../../webview/messages/protocol.ts';

/** Rollouts of a run whose folder is known; the parts of a run that only evaluates are at step 0. */
export type RecordedStep = { readonly step: number; readonly purpose: PlayedStep['purpose'] | EvaluationPart };

/**
 * Returns what of a run has a folder of recordings, newest first: its optimizer steps, and evaluations after them; of a
 * run that only evaluates its parts.
 */
export async function recordedSteps(runFolder: string): Promise<readonly RecordedStep[]> {
  const names = await readdir(join(runFolder, runFiles.trajectories)).catch(() => []);
  const steps = names.flatMap((name) => recordedStepOf(`${runFiles.trajectories}/${name}`) ?? []);
  return steps.sort((one, other) => other.step - one.step || one.purpose.localeCompare(other.purpose));
}

/** Returns what rollouts were played for, in words. */
export function recordedName({ step, purpose }: RecordedStep): string {
  return {
    training: `optimizer step ${step}`,
    evaluation: step === 0 ? 'evaluation before training' : `evaluation after optimizer step ${step}`,
    sampled: 'rollouts at the temperature',
    greedy: 'greedy rollouts',
  }[purpose];
}

const folderWords = { training: 'step', evaluation: 'evaluate' } as const;

/** Returns which rollouts a path of a run's folder is of. */
function recordedStepOf(path: string): RecordedStep | null {
  const [folder, name = ''] = path.split('/');
  if (folder !== runFiles.trajectories) return null;
  const part = evaluationParts.find((each) => each === name);
  if (part) return { step: 0, purpose: part };
  const [, word, step] = /^(step|evaluate)-(\d+)$/.exec(name) ?? [];
  if (word === undefined) return null;
  return { step: Number(step), purpose: word === folderWords.training ? 'training' : 'evaluation' };
}

/**
 * The rollouts of an optimizer step or of an evaluation: from its summary, or from its recordings while there is none.
 * An evaluation has a folder for each domain; a task's name begins with its domain where there are several.
 */
export async function readRollouts(runFolder: string, recorded: RecordedStep): Promise<readonly Rollout[]> {
  const folder = stepFolder(recorded);
  const entries = await readdir(join(runFolder, folder), { withFileTypes: true }).catch(() => []);
  const domains = entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
  if (domains.length === 0) return rolloutsIn(runFolder, folder);
  const found = domains.map(async (domain) => {
    const rollouts = await rolloutsIn(runFolder, `${folder}/${domain}`);
    return domains.length === 1 ? rollouts : rollouts.map((one) => ({ ...one, task: `${domain}/${one.task}` }));
  });
  return (await Promise.all(found)).flat();
}

async function rolloutsIn(runFolder: string, folder: string): Promise<readonly Rollout[]> {
  const summary = await readBoundedTextAsync(join(runFolder, folder, runFiles.rollouts)).catch(() => null);
  if (summary !== null) return summary.split('\n').flatMap((line) => summarized(line, folder));
  const names = await readdir(join(runFolder, folder)).catch(() => []);
  const recordings = names.filter((name) => name.endsWith('.traj.jsonl')).sort();
  return Promise.all(recordings.map((name) => recordedRollout(runFolder, `${folder}/${name}`)));
}

/**
 * The rollouts of a recording's task at other optimizer steps, newest step first, each with its step; of an evaluation
 * those of other evaluations. A task is played now and then: most steps are without it.
 */
export async function sameTaskElsewhere(
  runFolder: string,
  file: string,
): Promise<readonly { readonly recorded: RecordedStep; readonly rollout: Rollout }[]> {
  const own = recordedStepOf(file);
  if (own === null) return [];
  const task = (await readRollouts(runFolder, own)).find((rollout) => rollout.file === file)?.task;
  if (task === undefined) return [];
  const steps = (await recordedSteps(runFolder)).filter(
    ({ step, purpose }) => purpose === own.purpose && step !== own.step,
  );
  const found = await Promise.all(
    steps.map(async (recorded) =>
      (await readRollouts(runFolder, recorded))
        .filter((rollout) => rollout.task === task && rollout.file !== null)
        .map((rollout) => ({ recorded, rollout })),
    ),
  );
  return found.flat();
}

/**
 * The absolute path of a recording inside a run's folder; null for a path that leaves it or is not a recording.
 * @param file relative to the run's folder
 */
export function recordingPath(runFolder: string, file: string): string | null {
  const path = resolve(runFolder, file);
  const inside = relative(runFolder, path);
  const leaves = inside.startsWith('..') || isAbsolute(inside);
  return leaves || !path.endsWith('.traj.jsonl') ? null : path;
}

function stepFolder({ step, purpose }: RecordedStep): string {
  const name =
    purpose === 'sampled' || purpose === 'greedy'
      ? purpose
      : `${folderWords[purpose]}-${String(step).padStart(6, '0')}`;
  return `${runFiles.trajectories}/${name}`;
}

/** One line of the summary; an empty or torn line is not a rollout. */
function summarized(line: string, folder: string): Rollout[] {
  const rollout = rolloutOfLine(line);
  if (!rollout) return [];
  const { task, member, reward, turns, end_reason: endReason, failure, recording } = rollout;
  const file = recording === null ? null : `${folder}/${basename(recording)}`;
  return [{ file, task, member, reward, turns, endReason, failure: failure && failureText(failure) }];
}

/**
 * Returns what a recording itself says about its rollout, as far as it goes; one that can't be read has only its name.
 */
async function recordedRollout(runFolder: string, file: string): Promise<Rollout> {
  const text = await readBoundedTextAsync(join(runFolder, file)).catch(() => '');
  const events = parseRecording(file, text).lines.map(({ event }) => event);
  const started = events.find((event) => event.type === 'rolloutStarted');
  const ended = events.findLast((event) => event.type === 'rolloutEnded');
  return {
    file,
    task: started?.task.id ?? basename(file, '.traj.jsonl'),
    member: started?.trial ?? null,
    reward: events.findLast((event) => event.type === 'rewarded')?.reward ?? null,
    turns: events.filter(({ type }) => type === 'agentReplied').length,
    endReason: ended?.reason ?? null,
    failure: ended?.failure ? failureText(ended.failure) : null,
  };
}

function failureText({ who, message }: { readonly who: string; readonly message: string }): string {
  return `${who}: ${message}`;
}
