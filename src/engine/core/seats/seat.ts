import type { Domain } from '../domain/domain.ts';
import type { Persona } from '../domain/persona.ts';
import type { Task } from '../domain/task.ts';
import type { RolloutStarted } from '../events/event.ts';
import type { Message, ToolCall } from '../events/message.ts';
import type { ProvidedMessage } from '../values/providerFields.ts';
import type { Random } from '../values/random.ts';
import type { Database } from '../world/database.ts';

/** Everything that a seat may read when it is its turn. The model-free seats are functions of exactly this. */
export type SeatView = {
  readonly domain: Domain;
  /** The rows that every rollout begins with: a user without a model tells by them which values are of one kind. */
  readonly database?: Database;
  readonly task: Task;
  readonly persona: Persona;
  readonly started: RolloutStarted;
  /** The messages that this seat sees: utterances, its own calls and their results. */
  readonly messages: readonly Message[];
  /** The agent made as many calls as it may before it has to speak to the user. */
  readonly isCallCapReached?: boolean;
  /** The seat's own stream for this reply; the same view always gets the same numbers. */
  readonly random: Random;
};

/** Everything that a user played by a model may read. It has no random numbers because the endpoint draws its own. */
export type UserView = Omit<SeatView, 'random'>;

export type AgentReply = ProvidedMessage & {
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly messageId?: string;
};

export type UserReply = ProvidedMessage & {
  readonly content: string;
  /** Calls of the user's own tools; the user speaks after their results. */
  readonly toolCalls?: readonly ToolCall[];
  readonly stop: 'done' | 'transferred' | 'gaveUp' | 'outOfScope' | null;
};

/** A seat without a model: its reply is a function of what it sees, so it replays and forks for free. */
export type PureAgent = (view: SeatView) => AgentReply;
export type PureUser = (view: SeatView) => UserReply;
