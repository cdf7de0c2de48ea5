import { endsWithObject } from '../../core/answerEnd.ts';
import { brokenEndText } from '../../core/displayText.ts';
import { type JudgeAnswer, type JudgeQuestion, judgeAnswerIn } from '../../core/judgement.ts';
import type { OnRetry } from './endpointAttempts.ts';
import { type Answered, completeWhole } from './openai.ts';
import type { ModelSeat } from './seatSpec.ts';
import { structured, structuredText } from './structuredOutput.ts';

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
  const body = { messages, response_format: answerFormat };
  const { answer, call } = await completeWhole({ temperature: 0, ...seat }, key, 'judge', signal, body, onRetry);
  const content = structuredText(answer);
  const reply = judgeAnswerIn(content, transcript);
  // What was cut off may have quoted an object before its own.
  if (answer.brokenEnd === null || (reply.holds !== null && endsWithObject(content))) return { reply, call };
  return { reply: { holds: null, reason: `the judge's answer was ${brokenEndText[answer.brokenEnd]}` }, call };
}
