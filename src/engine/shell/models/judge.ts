import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { type JudgeAnswer, type JudgeQuestion, judgeAnswerIn } from '../../core/rollout/judgement.ts';
import type { OnRetry } from './endpointAttempts.ts';
import type { Answered } from './openai.ts';
import { askForObject, structured } from './structuredOutput.ts';

/** The answer of a judge. Its reason comes first, so that a model thinks before it decides. */
const answerFormat = structured('judgement', {
  type: 'object',
  properties: { reason: { type: 'string' }, holds: { type: 'boolean' } },
  required: ['reason', 'holds'],
  additionalProperties: false,
});

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
  const asked = {
    body: { messages, response_format: answerFormat },
    read: (text: string) => judgeAnswerIn(text, transcript),
    isAnswer: ({ holds }: JudgeAnswer) => holds !== null,
    broken: (how: string) => ({ holds: null, reason: `the judge's answer was ${how}` }),
  };
  return askForObject({ temperature: 0, ...seat }, key, 'judge', asked, signal, onRetry);
}
