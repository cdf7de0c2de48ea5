import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { parserQuestion } from '../../core/events/displayText.ts';
import type { UserReply, UserView } from '../../core/seats/seat.ts';
import { type Flaw, flawOf } from '../../core/simulator/guard.ts';
import { understood } from '../../core/simulator/stop.ts';
import { providedBy } from '../../core/values/providerFields.ts';
import { Fault } from '../files/fault.ts';
import { idsOfCalls, nameCalls } from './chatCalls.ts';
import { userBody } from './chatRequest.ts';
import type { OnRetry } from './endpointAttempts.ts';
import { joinCalls } from './modelCall.ts';
import { type Answered, afterCall, completeWhole, endOfAnswer } from './openai.ts';
import { recordedFields } from './sentBack.ts';

/**
 * A model in the user's seat. An answer that its guard refuses is asked for once more, with what was wrong; a second
 * one ends the rollout, which is then the simulator's failure and says nothing about the agent.
 */
export async function askUserModel(
  seat: ModelSeat,
  key: string,
  view: UserView,
  signal: AbortSignal,
  onRetry?: OnRetry,
): Promise<Answered<UserReply>> {
  const ask = (problem: string | null) => answered(seat, key, view, signal, problem, onRetry);
  const first = await ask(null);
  if (!first.flaw) return { reply: first.reply, call: first.call };
  const second = await ask(first.flaw.message).catch((error: unknown) => {
    throw error instanceof Fault ? afterCall(first.call, error) : error;
  });
  const refused = [first, second].flatMap(({ flaw, text }) => (flaw ? [{ ...flaw, content: text }] : []));
  const call = { ...second.call, ...joinCalls([first.call, second.call]), flaws: refused };
  if (!second.flaw) return { reply: second.reply, call };
  const { code, message } = second.flaw;
  const hints = [
    ...(refused.some((flaw) => flaw.code === 'unparsed-call') ? [parserQuestion] : []),
    ...(second.reply.brokenEnd === 'length'
      ? ['The answer was cut off at the token limit: set a larger maxTokens for the user']
      : []),
  ];
  throw new Fault(
    {
      who: 'simulator',
      code: `simulator/${code}`,
      message: `${seat.model} does not play the user of this task: ${message}. Asked once more; before that: ${[first.flaw.message, ...hints].join('. ')}`,
    },
    { note: call },
  );
}

type Tried = Answered<UserReply> & { readonly flaw: Flaw | null; readonly text: string };

async function answered(
  seat: ModelSeat,
  key: string,
  view: UserView,
  signal: AbortSignal,
  problem: string | null,
  onRetry: OnRetry | undefined,
): Promise<Tried> {
  const { answer, call } = await completeWhole(seat, key, 'simulator', signal, userBody(view, seat, problem), onRetry);
  const text = answer.content ?? '';
  const { userTools = [] } = view.started;
  const provided = providedBy({
    reasoning: answer.thoughts ?? undefined,
    brokenEnd: endOfAnswer(answer, userTools) ?? undefined,
    providerFields: recordedFields(seat, answer.cameWith),
  });
  const toolCalls =
    userTools.length > 0
      ? nameCalls(answer.toolCalls, `user_call_${view.messages.length}`, idsOfCalls(view.messages))
      : [];
  // No one receives the text beside a call.
  if (toolCalls.length > 0)
    return { reply: { content: text.trim(), stop: null, toolCalls, ...provided }, flaw: null, text, call };
  const { reply: said, withheld } = understood(text, view);
  const reply = { ...said, ...provided };
  return {
    reply,
    flaw: view.domain.file.guard === false ? null : flawOf(view, reply),
    text,
    call: { ...call, ...(withheld === null ? {} : { withheld }) },
  };
}
