import { brokenEndText } from '../../core/answerEnd.ts';
import { type JudgeAnswer, type JudgeQuestion, judgeAnswerIn } from '../../core/judgement.ts';
import { type Answered, completeWhole, type OnRetry } from './openai.ts';
import type { ModelSeat } from './seatSpec.ts';

/** Asks a model to judge, at temperature 0 unless its seat says otherwise. What it answers is an event. */
export async function askJudgeModel(
  seat: ModelSeat,
  key: string,
  { instructions, transcript, question }: JudgeQuestion,
  signal: AbortSignal,
  onRetry?: OnRetry,
): Promise<Answered<JudgeAnswer>> {
  const messages = [
    { role: 'system' as const, content: instructions },
    { role: 'user' as const, content: `${transcript}\n\nQuestion: ${question}` },
  ];
  const { answer, call } = await completeWhole({ temperature: 0, ...seat }, key, 'judge', signal, { messages }, onRetry);
  const reply = judgeAnswerIn(answer.content ?? '');
  if (reply.holds !== null || answer.brokenEnd === null) return { reply, call };
  return { reply: { holds: null, reason: `the judge's answer was ${brokenEndText[answer.brokenEnd]}` }, call };
}
