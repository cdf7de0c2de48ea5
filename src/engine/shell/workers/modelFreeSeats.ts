import { agendaUser } from '../../core/seats/agenda.ts';
import { faultyGoldAgent } from '../../core/seats/faultyGold.ts';
import { goldAgent } from '../../core/seats/gold.ts';
import { scriptedAgent, scriptedUser } from '../../core/seats/scripted.ts';
import type { AgentReply, SeatView, UserReply } from '../../core/seats/seat.ts';
import { Fault } from '../files/fault.ts';
import type { WorkerSeats } from './workerMessage.ts';

/** The reply of an agent without a model. Throws a `Fault` where a script has no more turns. */
export function modelFreeAgent(seat: Exclude<WorkerSeats['agent'], 'remote'>, view: SeatView): AgentReply {
  if (seat === 'gold') return goldAgent(view);
  if (seat === 'faultyGold') return faultyGoldAgent(view);
  const reply = scriptedAgent(view);
  if (reply) return reply;
  const { task } = view;
  const message = task.script
    ? `the script of task ${task.id} has no more turns`
    : `task ${task.id} has no script for the scripted seat`;
  throw new Fault({ who: 'agent', code: 'script/used-up', message });
}

/** The reply of a simulated user without a model. */
export function modelFreeUser(seat: Exclude<WorkerSeats['user'], 'remote'>, view: SeatView): UserReply {
  return seat === 'agenda' ? agendaUser(view) : scriptedUser(view);
}
