import { seatName } from '../../../engine/core/domain/seatSpec.ts';
import type { Json } from '../../../engine/core/values/json.ts';
import { rawJson } from '../../../engine/core/values/largeIntegers.ts';
import { agentBody, chatOf, requestTo, userBody, withoutMedia } from '../../../engine/shell/models/chatRequest.ts';
import { adapt } from '../../../engine/shell/models/refusedFields.ts';
import { sentRequests } from '../../../engine/shell/records/sentRequests.ts';
import { viewOf } from '../../../engine/shell/rollout/driver.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import { row, type Variable } from './rows.ts';
import { jsonChildren, shortened } from './variables.ts';

const nextSeat = { agentAwaited: 'agent', userAwaited: 'user' } as const;

/** The seat that speaks next at a step; null where something else happens first. */
export function seatNext({ state }: Step): 'agent' | 'user' | null {
  const { type } = state.phase;
  return type === 'agentAwaited' || type === 'userAwaited' ? nextSeat[type] : null;
}

/**
 * The request that comes next: where the step after this one is recorded, what its model was sent; at the last step,
 * what the seat's model will be sent, made as the seat makes it.
 */
export function nextRequest(debuggee: Debuggee, step: Step): readonly Variable[] {
  const seat = seatNext(step);
  if (!seat) return [row('none', 'no seat speaks next: step to where the agent or the user is next')];
  if (step.n + 1 < debuggee.steps.length) {
    const sent = sentRequests(debuggee.recording).filter((each) => each.step === step.n + 1);
    const name = step.state.started.seats[seat];
    if (sent.length === 0) return [row('none', `${name} took the ${seat}'s turn without asking a model`)];
    return sent.flatMap(({ body, name: number }) => [
      row('was sent', `to ${name} for step ${number}`),
      ...bodyRows(JSON.parse(body) as Json, body),
    ]);
  }
  const { [seat]: spec } = debuggee.seatsAhead;
  const { setting, task } = debuggee;
  const view = viewOf({ setting, task }, step.state, seat);
  const whose = debuggee.isLive ? `the ${seat}'s seat` : `the ${seat}'s seat in a fork from here`;
  switch (spec.type) {
    case 'openai': {
      const body = seat === 'agent' ? agentBody(view, spec) : userBody(view, spec);
      const { request } = adapt(spec, requestTo(spec, body));
      const text = JSON.stringify(withoutMedia(request));
      return [row('to', `${seatName(spec)} at ${spec.baseUrl}, in ${whose}`), ...bodyRows(JSON.parse(text), text)];
    }
    case 'agent': {
      const messages = JSON.parse(JSON.stringify(chatOf(view))) as Json;
      const told = shortened(messages);
      return [
        row('to', `${seatName(spec)}, in ${whose}: it asks its model itself and receives`),
        { name: 'messages', value: told, children: () => jsonChildren(messages) },
      ];
    }
    default:
      return [row('none', `${spec.type} has ${whose} and does not ask a model`)];
  }
}

function bodyRows(body: Json, text: string): readonly Variable[] {
  const whole = { text: () => JSON.stringify(rawJson(text), null, 2), language: 'json' } as const;
  return [{ name: 'body', value: text, type: 'JSON', whole }, ...jsonChildren(body)];
}
