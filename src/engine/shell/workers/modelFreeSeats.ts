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
  const { id, script } = view.task;
  // A task without a script is a configuration error and says nothing about an agent, so it has no reward.
  throw script
    ? new Fault({ who: 'agent', code: 'script/used-up', message: `the script of task ${id} has no more turns` })
    : new Fault({
        who: 'environment',
        code: 'script/missing',
        message: `task ${id} has no script for the scripted seat`,
      });
}
