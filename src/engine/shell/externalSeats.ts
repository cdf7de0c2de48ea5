import { type Domain, declaredSource } from '../core/domain/domain.ts';
import {
  type AgentSeat,
  type AskedSettings,
  type ModelSeat,
  modelFreeSeats,
  type SeatSpec,
} from '../core/domain/seatSpec.ts';
import type { Tool } from '../core/domain/tool.ts';
import type { Tokens } from '../core/evaluation/measure.ts';
import type { JudgeAnswer, JudgeQuestion } from '../core/rollout/judgement.ts';
import type { AgentReply, UserReply } from '../core/seats/seat.ts';
import type { CheckedQuestion } from './checkedFold/checkedQuestion.ts';
import { Fault } from './files/fault.ts';
import type { SideNote } from './files/sideNote.ts';
import { keptSecret } from './keys/secrets.ts';
import type { AgentSession } from './models/agentSession.ts';
import type { OnRetry, Retry } from './models/endpointAttempts.ts';
import type { AskLentModel } from './models/lentModel.ts';
import type { ModelCall } from './models/modelCall.ts';
import {
  type ReadKey,
  settingsOfDomain,
  throwUnlessHeadersAllowed,
  withFilledHeaders,
  withSettings,
} from './models/modelSettings.ts';
import { parseSeat } from './models/parseSeat.ts';
import type { AskedSimulator } from './models/toolSimulator.ts';
import { parseTurn } from './models/typedTurn.ts';
import type { RolloutTools } from './tools/rolloutTools.ts';
import type { Answer, RemoteView, SimulatedAnswer, WorkerSeats } from './workers/workerMessage.ts';

/** Answers the questions to seats outside the worker. A person's answer comes from anyone who runs the rollout. */
export type ExternalSeats = {
  readonly agent: (
    view: RemoteView,
    signal: AbortSignal,
  ) => Promise<{ readonly reply: AgentReply; readonly call?: ModelCall }>;
  readonly user: (
    view: RemoteView,
    signal: AbortSignal,
    domain: Domain,
  ) => Promise<{ readonly reply: UserReply; readonly call?: ModelCall }>;
  /** Absent where the rollout has no judge. */
  readonly judge?: (
    question: JudgeQuestion,
    signal: AbortSignal,
  ) => Promise<{ readonly reply: JudgeAnswer; readonly call?: ModelCall }>;
  /** The model that answers for a simulated tool. */
  readonly simulate: (
    model: ModelSeat,
    tool: Tool,
    asked: AskedSimulator,
    signal: AbortSignal,
  ) => Promise<{ readonly reply: SimulatedAnswer; readonly call: ModelCall }>;
  /** Returns an instance for one rollout, from its start to its end; for a seat that keeps state for each rollout. */
  readonly forRollout?: (log: (text: string) => void) => RolloutSeats;
};

/** The external seats of one rollout. They release their resources when the rollout ends. */
export type RolloutSeats = Omit<ExternalSeats, 'forRollout'> & { readonly close: () => Promise<void> };

/** The domain and the tools through which calls of a rollout are made. */
export type ToolReach = { readonly domain: Domain; readonly tools: RolloutTools };

/** A person's next turn of a seat, typed in a terminal or in the Debug Console. */
export type AskPerson = (seat: 'agent' | 'user', view: RemoteView, signal: AbortSignal) => Promise<string>;

/** Reports the progress of a call to a model to people who wait for it. `call` is the number of the call. */
export type ModelNotice = {
  readonly call: number;
  readonly role: 'agent' | 'user' | 'judge' | 'tool';
  readonly model: string;
} & (
  | { readonly type: 'asked' }
  /** `usage` is absent if no answer came, or if it did not report its usage. */
  | { readonly type: 'answered'; readonly usage?: Tokens | undefined }
  | { readonly type: 'askedAgain'; readonly retry: Retry }
);
export type OnModel = (notice: ModelNotice) => void;

const leave = ['/stop', '/end'];

/**
 * Connects seat specifications to what answers for them. A model's client is loaded only where one is asked.
 * @param onModel receives every call to a model
 * @param toolSettings laid over those of the domain for simulated tools
 */
export function externalSeatsOf(
  agent: SeatSpec,
  user: SeatSpec,
  readKey: ReadKey,
  askPerson: AskPerson,
  judge?: SeatSpec,
  onModel: OnModel = () => undefined,
  toolSettings?: AskedSettings,
): ExternalSeats {
  let calls = 0;
  const asked = async <Answer>(
    role: ModelNotice['role'],
    seat: ModelSeat,
    ask: (key: string, onRetry: OnRetry, model: ModelSeat) => Promise<Answer>,
  ): Promise<Answer> => {
    const about = { call: ++calls, role, model: seat.model };
    onModel({ ...about, type: 'asked' });
    let note: SideNote | undefined;
    try {
      const onRetry = (retry: Retry) => onModel({ ...about, type: 'askedAgain', retry });
      const answer = await ask(await keyOf(seat, readKey), onRetry, await withFilledHeaders(seat, readKey));
      note = (answer as { readonly call?: SideNote } | undefined)?.call;
      return answer;
    } catch (error) {
      if (error instanceof Fault) note = error.note ?? undefined;
      throw error;
    } finally {
      onModel({ ...about, type: 'answered', usage: note?.usage });
    }
  };
  const externalSeats: ExternalSeats = {
    agent: async (view, signal) => {
      if (agent.type === 'openai') {
        const { askAgentModel } = await import('./models/openai.ts');
        return asked('agent', agent, (key, onRetry, model) =>
          askAgentModel(model, key, withName(view), signal, onRetry),
        );
      }
      const { content, toolCalls } = typed(await askPerson('agent', view, signal), view, 'agent');
      return { reply: { content, toolCalls } };
    },
    user: async (view, signal, domain) => {
      if (user.type === 'openai') {
        const { askUserModel } = await import('./models/simulatedUser.ts');
        return asked('user', user, (key, onRetry, model) =>
          askUserModel(model, key, { ...view, domain }, signal, onRetry),
        );
      }
      const text = await askPerson('user', view, signal);
      if (leave.includes(text.trim())) return { reply: { content: 'Goodbye.', stop: 'done' } };
      const { content, toolCalls } = typed(text, view, 'simulator');
      return { reply: { content: content ?? '', stop: null, ...(toolCalls.length > 0 ? { toolCalls } : {}) } };
    },
    ...(judge?.type === 'openai'
      ? {
          judge: async (question, signal) => {
            const { askJudgeModel } = await import('./models/judge.ts');
            return asked('judge', judge, (key, onRetry, model) => askJudgeModel(model, key, question, signal, onRetry));
          },
        }
      : {}),
    simulate: async (model, tool, question, signal) => {
      const { askToolModel } = await import('./models/toolSimulator.ts');
      return asked('tool', withSettings(model, toolSettings), (key, onRetry, filled) =>
        askToolModel(filled, key, tool, question, signal, onRetry),
      );
    },
  };
  if (agent.type !== 'agent') return externalSeats;
  const { model } = agent;
  const ask: AskLentModel = (make) =>
    model ? asked('agent', model, make) : Promise.reject(new Error('this agent is lent no model'));
  return { ...externalSeats, forRollout: (log) => seated(agent, ask, externalSeats, log) };
}

/** A custom agent takes the seat for one rollout; one that starts again has it start afresh. */
function seated(
  agent: AgentSeat,
  ask: AskLentModel,
  externalSeats: ExternalSeats,
  log: (text: string) => void,
): RolloutSeats {
  let session: AgentSession | null = null;
  return {
    ...externalSeats,
    agent: async (view, signal) => {
      if (session && view.messages.length < session.heard) {
        await session.close();
        session = null;
      }
      if (!session) {
        const { AgentSession } = await import('./models/agentSession.ts');
        session = new AgentSession(agent, ask, log);
      }
      return session.ask(view, signal);
    },
    close: async () => session?.close(),
  };
}

/** A person's turn; who asks for it has made sure that it can be read. */
function typed(text: string, view: RemoteView, who: 'agent' | 'simulator') {
  const turn = parseTurn(text);
  if (typeof turn === 'string') throw new Fault({ who, code: 'turn/unreadable', message: turn });
  const { content, call } = turn;
  return { content, toolCalls: call ? [{ id: `typed_${view.messages.length}`, ...call }] : [] };
}

/** Returns which seats the worker plays by itself. */
export function workerSeats(agent: SeatSpec, user: SeatSpec): WorkerSeats {
  return {
    agent: modelFreeSeats.agent.find((type) => type === agent.type) ?? 'remote',
    user: modelFreeSeats.user.find((type) => type === user.type) ?? 'remote',
  };
}

/** Whether a seat needs nothing from outside the worker, so that the same seed gives the same bytes. */
export function isPure(seat: SeatSpec): boolean {
  return Object.values(modelFreeSeats).some((types) => types.some((type) => type === seat.type));
}

/** Answers one question of a worker. Throws a `Fault` when the seat cannot answer. */
export async function answerQuestion(
  about: CheckedQuestion,
  externalSeats: ExternalSeats,
  { domain, tools }: ToolReach,
  signal: AbortSignal,
): Promise<{ readonly answer: Answer; readonly note?: SideNote }> {
  switch (about.type) {
    case 'agent':
    case 'user': {
      const { reply, call } =
        about.type === 'agent'
          ? await externalSeats.agent(about.view, signal)
          : await externalSeats.user(about.view, signal, domain);
      return { answer: reply, ...(call ? { note: call } : {}) };
    }
    case 'tool': {
      const { state } = declaredSource(domain.file, about.source) ?? {};
      return noted(await tools.call(toolNamed(domain, about.name), about, state, signal));
    }
    case 'python':
      return noted(await tools.callPython(toolNamed(domain, about.name), about, signal));
    case 'hosted':
      return { answer: await tools.askHosted(about, signal) };
    case 'simulated': {
      const tool = toolNamed(domain, about.name);
      const { reply, call } = await externalSeats.simulate(simulatorOf(domain, tool), tool, about, signal);
      return { answer: reply, note: call };
    }
    case 'judge': {
      const answered = await externalSeats.judge?.(about.question, signal);
      if (!answered) return { answer: { holds: null, reason: 'only a model can judge' } };
      return { answer: answered.reply, ...(answered.call ? { note: answered.call } : {}) };
    }
    case 'source':
      return { answer: { state: await tools.read(about.source) } };
  }
}

function noted<T extends Answer>({
  answer,
  attempts,
  mismatch,
  changedTools,
}: {
  readonly answer: T;
  readonly attempts: number;
  readonly mismatch?: string | undefined;
  readonly changedTools?: boolean | undefined;
}): { readonly answer: T; readonly note?: SideNote } {
  const note = {
    ...(attempts > 1 ? { retries: attempts - 1 } : {}),
    ...(mismatch === undefined ? {} : { mismatch }),
    ...(changedTools ? { changedTools } : {}),
  };
  return Object.keys(note).length === 0 ? { answer } : { answer, note };
}

function toolNamed(domain: Domain, name: string): Tool {
  const found = domain.tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`a worker asked for the tool ${name}, which this domain does not have`);
  return found;
}

function simulatorOf({ file }: Domain, { name }: Tool): ModelSeat {
  const given = file.simulator ?? '';
  const seat = given === '' ? 'domain.yaml names no model for it' : parseSeat(given, 'agent', 'domain');
  if (typeof seat !== 'string' && seat.type === 'openai') {
    const model = withSettings(seat, settingsOfDomain(file, 'tools', given));
    throwUnlessHeadersAllowed(model, process.env);
    return model;
  }
  const why = typeof seat === 'string' ? seat : `"${given}" is not a model`;
  throw new Fault({
    who: 'environment',
    code: 'simulated/no-model',
    message: `${name} is simulated by a model, and ${why}. Write "simulator: openai:MODEL" or "simulator: openai:MODEL@BASE_URL" in domain.yaml`,
  });
}

/** The name of a parameter of an address whose value is a key: `api-version` has none. */
const secretParameter = /key|token|secret|sig|pass|auth/i;

async function keyOf(seat: ModelSeat, readKey: ReadKey): Promise<string> {
  const { searchParams } = new URL(seat.baseUrl);
  for (const [name, value] of searchParams) if (secretParameter.test(name)) keptSecret(`${name} of the address`, value);
  return seat.keyName === null ? '' : keptSecret(seat.keyName, (await readKey(seat.keyName)) ?? '');
}

function withName(view: RemoteView) {
  return { ...view, domain: { name: view.started.domain.name } };
}
