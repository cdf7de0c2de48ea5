import type { JudgeAnswer, JudgeQuestion } from '../core/judgement.ts';
import type { AgentReply, UserReply } from '../core/seat.ts';
import { Fault } from './fault.ts';
import type { Answer, LaneSeats, Question, RemoteView } from './lane/laneMessage.ts';
import type { McpInstance } from './mcp.ts';
import type { ModelCall } from './seats/openai.ts';
import { type ModelSeat, pureSeats, type SeatSpec } from './seats/seatSpec.ts';

/** How a seat outside the lane is asked. A person's answer comes from whoever runs the rollout. */
export type Outside = {
  readonly agent: (
    view: RemoteView,
    signal: AbortSignal,
  ) => Promise<{ readonly reply: AgentReply; readonly call?: ModelCall }>;
  readonly user: (
    view: RemoteView,
    signal: AbortSignal,
  ) => Promise<{ readonly reply: UserReply; readonly call?: ModelCall }>;
  /** Absent where the rollout has no judge. */
  readonly judge?: (
    question: JudgeQuestion,
    signal: AbortSignal,
  ) => Promise<{ readonly reply: JudgeAnswer; readonly call?: ModelCall }>;
};

/** A person's next turn of a seat, typed in a terminal or in the Debug Console. */
export type AskPerson = (seat: 'agent' | 'user', view: RemoteView, signal: AbortSignal) => Promise<string>;

/** Secrets by name; a supervisor reads them from its environment or asks the editor. */
export type ReadKey = (name: string) => Promise<string | undefined> | string | undefined;

const leave = ['/stop', '/end'];

/** Connects seat specifications to what answers for them. A model's client is loaded only where one is asked. */
export function outsideOf(
  agent: SeatSpec,
  user: SeatSpec,
  readKey: ReadKey,
  askPerson: AskPerson,
  judge?: SeatSpec,
): Outside {
  return {
    agent: async (view, signal) => {
      if (agent.type === 'openai') {
        const { askAgentModel } = await import('./seats/openai.ts');
        return askAgentModel(agent, await keyOf(agent, readKey), withName(view), signal);
      }
      const content = await askPerson('agent', view, signal);
      return { reply: { content, toolCalls: [] } };
    },
    user: async (view, signal) => {
      if (user.type === 'openai') {
        const { askUserModel } = await import('./seats/openai.ts');
        return askUserModel(user, await keyOf(user, readKey), withName(view), signal);
      }
      const content = await askPerson('user', view, signal);
      return {
        reply: leave.includes(content.trim()) ? { content: 'Goodbye.', stop: 'done' } : { content, stop: null },
      };
    },
    ...(judge?.type === 'openai'
      ? {
          judge: async (question, signal) => {
            const { askJudgeModel } = await import('./seats/judge.ts');
            return askJudgeModel(judge, await keyOf(judge, readKey), question, signal);
          },
        }
      : {}),
  };
}

/** Which seats the lane plays by itself. */
export function laneSeats(agent: SeatSpec, user: SeatSpec): LaneSeats {
  return {
    agent: agent.type === 'gold' || agent.type === 'scripted' ? agent.type : 'remote',
    user: user.type === 'agenda' ? 'agenda' : 'remote',
  };
}

/** Whether a seat needs nothing from outside the lane, so that the same seed gives the same bytes. */
export function isPure(seat: SeatSpec): boolean {
  return pureSeats.some((type) => type === seat.type);
}

/** Answers one question of a lane. Throws a `Fault` when the outside can't. */
export async function answerQuestion(
  about: Question,
  outside: Outside,
  mcp: ReadonlyMap<string, McpInstance>,
  signal: AbortSignal,
): Promise<{ readonly answer: Answer; readonly call?: ModelCall }> {
  switch (about.type) {
    case 'agent':
    case 'user': {
      const { reply, call } = await outside[about.type](about.view, signal);
      return { answer: reply, ...(call ? { call } : {}) };
    }
    case 'tool':
      return { answer: await serverNamed(mcp, about.server).call(about.name, about.arguments, signal) };
    case 'judge': {
      const answered = await outside.judge?.(about.question, signal);
      if (!answered) return { answer: { holds: null, reason: 'only a model can judge' } };
      return { answer: answered.reply, ...(answered.call ? { call: answered.call } : {}) };
    }
    case 'source':
      return { answer: { state: await serverNamed(mcp, about.source).read() } };
  }
}

function serverNamed(mcp: ReadonlyMap<string, McpInstance>, name: string): McpInstance {
  const found = mcp.get(name);
  if (!found)
    throw new Fault({
      who: 'environment',
      code: 'mcp/unknown',
      message: `"${name}" is no tool source of this domain; domain.yaml declares ${[...mcp.keys()].join(', ') || 'none'}`,
    });
  return found;
}

async function keyOf(seat: ModelSeat, readKey: ReadKey): Promise<string> {
  return (await readKey(seat.keyName)) ?? '';
}

function withName(view: RemoteView) {
  return { ...view, domain: { name: view.started.domain.name } };
}
