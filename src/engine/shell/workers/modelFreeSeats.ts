import type { ModelFreeAgent, ModelFreeUser } from '../../core/domain/seatSpec.ts';
import { agendaUser } from '../../core/seats/agenda.ts';
import { faultyGoldAgent } from '../../core/seats/faultyGold.ts';
import { goldAgent } from '../../core/seats/gold.ts';
import { scriptedAgent, scriptedUser } from '../../core/seats/scripted.ts';
import type { AgentReply, SeatView, UserReply } from '../../core/seats/seat.ts';
import { Fault } from '../files/fault.ts';

/** The reply of each agent without a model. `scripted` throws a `Fault` where a script has no more turns. */
export const modelFreeAgents: Readonly<Record<ModelFreeAgent, (view: SeatView) => AgentReply>> = {
  gold: goldAgent,
  faultyGold: faultyGoldAgent,
  scripted: scriptedReply,
};

/** The reply of each simulated user without a model. */
export const modelFreeUsers: Readonly<Record<ModelFreeUser, (view: SeatView) => UserReply>> = {
  agenda: agendaUser,
  scripted: scriptedUser,
};

function scriptedReply(view: SeatView): AgentReply {
  const reply = scriptedAgent(view);
  if (reply) return reply;
  const { task } = view;
  const message = task.script
    ? `the script of task ${task.id} has no more turns`
    : `task ${task.id} has no script for the scripted seat`;
  throw new Fault({ who: 'agent', code: 'script/used-up', message });
}
