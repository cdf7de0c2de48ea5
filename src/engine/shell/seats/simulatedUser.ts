import type { UserReply, UserView } from '../../core/seat.ts';
import { type Flaw, flawOf } from '../../core/simulator/flaw.ts';
import { simulatorChat } from '../../core/simulator/prompt.ts';
import { understood } from '../../core/simulator/stop.ts';
import { Fault } from '../fault.ts';
import { type Answered, complete, type ModelCall } from './openai.ts';
import type { ModelSeat } from './seatSpec.ts';

/**
 * A model in the user's seat. An answer that its guard refuses is asked for once more, with what was wrong; a second
 * one ends the rollout, which is then the simulator's failure and says nothing about the agent.
 */
export async function askUserModel(
  seat: ModelSeat,
  key: string,
  view: UserView,
  signal: AbortSignal,
): Promise<Answered<UserReply>> {
  const first = await answered(seat, key, view, signal, null);
  if (!first.flaw) return { reply: first.reply, call: first.call };
  const second = await answered(seat, key, view, signal, first.flaw.message);
  const refused = [first, second].flatMap(({ flaw, text }) => (flaw ? [{ ...flaw, content: text }] : []));
  const call = { ...both(first.call, second.call), flaws: refused };
  if (!second.flaw) return { reply: second.reply, call };
  const { code, message } = second.flaw;
  throw new Fault(
    {
      who: 'simulator',
      code: `simulator/${code}`,
      message: `${seat.model} does not play the user of this task: ${message}. Asked once more; before that: ${first.flaw.message}`,
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
): Promise<Tried> {
  const messages = simulatorChat(view, problem).map((message) => ({ ...message }));
  const { completion, call } = await complete(seat, key, 'simulator', signal, { messages });
  const text = completion.choices[0]?.message?.content ?? '';
  const { reply, withheld } = understood(text, view);
  return {
    reply,
    flaw: flawOf(view, reply),
    text,
    call: { ...call, ...(withheld === null ? {} : { withheld }) },
  };
}

/** Two calls for one message: the time and the tokens of both, the request of the second. */
function both(first: ModelCall, second: ModelCall): ModelCall {
  const usage =
    first.usage || second.usage
      ? {
          input: (first.usage?.input ?? 0) + (second.usage?.input ?? 0),
          output: (first.usage?.output ?? 0) + (second.usage?.output ?? 0),
        }
      : undefined;
  return { ...second, ms: first.ms + second.ms, ...(usage ? { usage } : {}) };
}
