import { join } from 'node:path';
import type { Task } from '../../engine/core/domain/task.ts';
import { byRole } from '../../engine/core/evaluation/measure.ts';
import { moneyOf, type Prices } from '../../engine/core/evaluation/metrics.ts';
import { crashOutcome, outcomeOf } from '../../engine/core/evaluation/outcome.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { sum } from '../../engine/core/values/statistics.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { eventInWords } from '../../engine/shell/domain/reasonInWords.ts';
import { readRecording, readSidecar, sidecarPath } from '../../engine/shell/records/recording.ts';
import { recordingName, rolloutName } from '../../engine/shell/records/recordingName.ts';
import type { RunLine } from '../../engine/shell/records/runLine.ts';
import type { BatchOptions, TrialResult } from '../../engine/shell/runs/batch.ts';
import type { Io } from './io.ts';
import { transcriptReader } from './transcript.ts';

/** Prints rollouts as JSON lines while they happen. */
export type RunLines = Required<Pick<BatchOptions, 'onEvents' | 'onFinished' | 'onModel'>>;

/**
 * Lines for the rollouts of a batch.
 * @param folder of the run
 * @param domain whose policy puts reasons in words
 * @param prices of its models, where they were given
 */
export function runLines(io: Pick<Io, 'out'>, folder: string, domain: LoadedDomain, prices: Prices = {}): RunLines {
  const readers = new Map<string, ReturnType<typeof transcriptReader>>();
  const recordingOf = (name: string) => join(folder, recordingName(name));
  const begin = (task: Task, trial: number) => {
    const recording = recordingOf(rolloutName(task, trial));
    const reader = transcriptReader(recording, domain, true);
    readers.set(recording, reader);
    print(io, { type: 'rolloutBegan', task: task.id, trial, recording });
    return reader;
  };
  return {
    onEvents: (task, trial, events) => {
      const said = events.flatMap(readers.get(recordingOf(rolloutName(task, trial))) ?? begin(task, trial));
      if (said.length > 0) print(io, { type: 'rolloutSpoke', task: task.id, trial, text: text(said) });
    },
    onModel: (notice) => {
      const role = notice.role === 'tool' ? 'tools' : notice.role;
      if (notice.type === 'askedAgain' && notice.retry.waitMs !== undefined) {
        const { reason, waitMs } = notice.retry;
        print(io, { type: 'modelWaits', role, seconds: Math.ceil(waitMs / 1000), reason });
      }
      if (notice.type !== 'answered' || !notice.usage) return;
      const { input, output } = notice.usage;
      const tokens = { ...byRole(() => ({ input: 0, output: 0 })), [role]: { input, output } };
      print(io, { type: 'modelAnswered', role, input, output, money: moneyOf(tokens, prices) });
    },
    onFinished: ({ task, trial, recording, endReason, reason, crashed }: TrialResult) => {
      readers.delete(recording);
      if (crashed) {
        print(io, { type: 'rolloutFinished', outcome: crashOutcome(task, trial, reason), recording });
        return;
      }
      // What was cancelled continues with the next run, and has not come out yet.
      if (endReason !== 'cancelled') print(io, finished(recording, domain));
    },
  };
}

/**
 * Prints the lines of a rollout that has ended: all that was said, and how it came out.
 * @param domain whose policy puts reasons in words; null where it is not there
 */
export function printRollout(io: Pick<Io, 'out'>, recording: string, domain: LoadedDomain | null): void {
  const { lines } = readRecording(recording);
  const line = finished(recording, domain);
  const { task, trial } = line.outcome;
  const said = lines.flatMap(transcriptReader(recording, domain, true));
  print(io, { type: 'rolloutSpoke', task, trial, text: text(said) });
  print(io, line);
}

const worded = (domain: LoadedDomain | null, event: RolloutEvent) => (domain ? eventInWords(domain, event) : event);

function finished(recording: string, domain: LoadedDomain | null): RunLine & { readonly type: 'rolloutFinished' } {
  const events = readRecording(recording).lines.map(({ event }) => worded(domain, event));
  const ms = sum(readSidecar(sidecarPath(recording)).lines.map((line) => line.ms ?? 0));
  return { type: 'rolloutFinished', outcome: outcomeOf(events, ms / 1000), recording };
}

const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

function print(io: Pick<Io, 'out'>, line: RunLine): void {
  io.out(`${JSON.stringify(line)}\n`);
}
