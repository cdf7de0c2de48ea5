import type { Domain } from '../core/domain/domain.ts';
import type { ModelRole } from '../core/evaluation/measure.ts';
import type { CheckedQuestion } from './checkedFold/checkedQuestion.ts';
import type { CheckedRollout } from './checkedFold/checkedRollout.ts';
import { answerQuestion } from './externalSeats.ts';
import { cancelled, cancelledResult, Fault } from './files/fault.ts';
import { redactedValue } from './keys/secrets.ts';
import type { SupervisedRollout } from './supervisedRollout.ts';
import type { CallAnswer, PythonAnswer, Question, SimulatedAnswer } from './workers/workerMessage.ts';
import type { Worker, WorkerWord } from './workers.ts';

type AskedWord = Extract<WorkerWord, { readonly type: 'question' }>;

/** The parts of the supervisor that an answer needs. */
export type AnswerPorts = {
  readonly domain: Domain;
  /** Brings the events of a rollout to the disk. Returns false if the disk refuses them, which ends the rollout. */
  readonly write: (live: SupervisedRollout) => boolean;
  readonly giveUp: (live: SupervisedRollout, error: unknown) => void;
};

/** Whose model answers a question, if one does. */
const roleOf: Readonly<Partial<Record<Question['type'], ModelRole>>> = {
  agent: 'agent',
  user: 'user',
  judge: 'judge',
  simulated: 'tools',
};

/** Answers a question about the state of a source from what was recorded. Returns false where nothing is. */
export function answerRecorded(
  worker: Worker<SupervisedRollout>,
  live: SupervisedRollout,
  check: CheckedRollout,
  { question, about }: AskedWord,
): boolean {
  const state = about.type === 'source' ? live.request.recordedSources?.[about.source] : undefined;
  if (state === undefined) return false;
  check.answered(about, { state });
  worker.process.send({ type: 'answer', question, value: { state } });
  return true;
}

/** Answers a question from outside the worker, or refuses it with the fault that kept it from an answer. */
export async function answerWorker(
  worker: Worker<SupervisedRollout>,
  live: SupervisedRollout,
  check: CheckedRollout,
  { question, about }: AskedWord,
  asked: CheckedQuestion,
  { domain, write, giveUp }: AnswerPorts,
): Promise<void> {
  if (!write(live)) return;
  const isGone = () => live.worker !== worker || live.check !== check;
  if (about.type === 'agent') live.calls = new AbortController();
  const given = cancelledCall(about);
  const { signal: ofCall } = live.calls;
  const signal = given ? AbortSignal.any([live.abort.signal, ofCall]) : live.abort.signal;
  try {
    const reach = { domain, tools: live.tools };
    const { answer, note } = await answerQuestion(asked, live.externalSeats, reach, signal).catch((error: unknown) => {
      if (!given || !ofCall.aborted || live.abort.signal.aborted) throw error;
      return { answer: given, note: undefined };
    });
    if (isGone()) return;
    const value = redactedValue(answer);
    const kept = redactedValue(note ?? null);
    live.record.note(kept, roleOf[about.type] ?? null);
    if (kept) live.request.onNote?.(kept);
    check.answered(about, value);
    worker.process.send({ type: 'answer', question, value });
  } catch (error) {
    if (isGone()) return;
    const fault = live.abort.signal.aborted ? cancelled() : error;
    if (!(fault instanceof Fault)) return giveUp(live, error);
    live.isStopped ||= fault.reason === 'cancelled';
    live.record.note(redactedValue(fault.note), roleOf[about.type] ?? null);
    check.refused();
    worker.process.send({ type: 'refusal', question, reason: fault.reason, failure: redactedValue(fault.failure) });
  }
}

/** Returns what answers a call that is cancelled alone; null for a question that is not a call outside the worker. */
function cancelledCall({ type }: Question): CallAnswer | PythonAnswer | SimulatedAnswer | null {
  const content = cancelledResult;
  if (type === 'tool') return { content, isError: true };
  if (type === 'simulated') return { content, isError: true, writes: [] };
  return type === 'python' ? { refusal: content } : null;
}
