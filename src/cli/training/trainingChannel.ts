import { resolve } from 'node:path';
import type { DomainFile } from '../../engine/core/domain/domain.ts';
import type { SeatSpec } from '../../engine/core/domain/seatSpec.ts';
import { taskIn } from '../../engine/core/domain/taskVariant.ts';
import { measureOf } from '../../engine/core/evaluation/measure.ts';
import type { EventType } from '../../engine/core/events/event.ts';
import { issueText } from '../../engine/core/text/issueText.ts';
import { loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { externalSeatsOf, type ModelNotice, workerSeats } from '../../engine/shell/externalSeats.ts';
import { unfitness } from '../../engine/shell/files/diagnostic.ts';
import { Fault, messageOf } from '../../engine/shell/files/fault.ts';
import { version } from '../../engine/shell/files/version.ts';
import type { LiveRollout, RolloutClosed } from '../../engine/shell/liveRollout.ts';
import { fitnessOf, fitTasks } from '../../engine/shell/load/fitness.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import { baseHashOf } from '../../engine/shell/replay.ts';
import { resultOf } from '../../engine/shell/runs/batch.ts';
import { startOf } from '../../engine/shell/start.ts';
import { openSupervisor, type Supervisor } from '../../engine/shell/supervisor.ts';
import {
  type MethodName,
  type Params,
  paramsOf,
  type RolloutParams,
  readRequest,
  trainingProtocol,
} from '../../training/trainingProtocol.ts';
import { leftOutText } from '../options/rolloutOptions.ts';
import { settledUser } from '../options/trainingUser.ts';
import { rolloutMetrics } from './rolloutMetrics.ts';

class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type Opened = { readonly supervisor: Supervisor; readonly database: string };

/** A rollout that was asked for and is not over; it has none while its domain is opened. */
type Asked = { rollout?: LiveRollout; isCancelled: boolean };

/** The engine's side of the training protocol: takes lines, sends lines, keeps one supervisor for each domain. */
export function openTrainingChannel(cwd: string, send: (message: object) => void) {
  const domains = new Map<string, Promise<Opened>>();
  const live = new Map<number, Asked>();

  let isClosing = false;

  const open = (given: string): Promise<Opened> => {
    const folder = resolve(cwd, given);
    const known = domains.get(folder);
    if (known) return known;
    const opening = openDomain(folder, (message) => send({ method: 'log', params: { level: 'warn', message } }));
    opening.catch(() => domains.delete(folder));
    domains.set(folder, opening);
    return opening;
  };

  const methods: {
    readonly [Method in MethodName]: (params: Params<Method>, id: number) => Promise<unknown>;
  } = {
    hello: async ({ protocol }) => {
      if (protocol !== trainingProtocol)
        throw new Refusal(
          'unsupported-protocol',
          `this engine speaks protocol ${trainingProtocol}, the trainer ${protocol}`,
        );
      return { protocol: trainingProtocol, engine: version };
    },
    tasks: async ({ domain, split }) => {
      const { supervisor } = await open(domain);
      const asked = supervisor.domain.tasks.filter((task) => !split || task.split === split);
      const { fit, errors } = fitTasks(asked, supervisor.loaded);
      if (fit.length === 0 && errors.length > 0) throw new Refusal('bad-domain', unfitness(errors));
      return fit.map((task) => ({ id: task.id, split: task.split, persona: task.persona }));
    },
    rollout: async (params, id) => {
      const asked: Asked = { isCancelled: false };
      live.set(id, asked);
      try {
        const opened = await open(params.domain);
        if (isClosing) throw new Refusal('cancelled', 'the engine is asked to end');
        throwIfCancelled(asked);
        return await rollout(opened, params, asked, cwd);
      } finally {
        live.delete(id);
      }
    },
    cancel: async ({ request }) => {
      const asked = live.get(request);
      if (asked) {
        asked.isCancelled = true;
        asked.rollout?.cancel();
      }
      return { cancelled: asked !== undefined };
    },
  };

  return {
    receive: async (line: string): Promise<void> => {
      const request = readRequest(line);
      if (typeof request === 'string') return send({ id: null, error: { code: 'bad-request', message: request } });
      try {
        if (!(request.method in methods)) throw new Refusal('unknown-method', `there is no method "${request.method}"`);
        const method = request.method as MethodName;
        const params = paramsOf[method].safeParse(request.params);
        if (!params.success) throw new Refusal('bad-request', issueText(params.error, 'request'));
        send({ id: request.id, result: await methods[method](params.data as never, request.id) });
      } catch (error) {
        send({ id: request.id, error: errorOf(error) });
      }
    },
    close: async (): Promise<void> => {
      isClosing = true;
      const running = [...live.values()].flatMap(({ rollout: each }) => each ?? []);
      for (const each of running) each.cancel();
      // A worker that is ended before it has heard of that would never say so, and the rollout would never be over.
      await Promise.allSettled(running.map(({ closed }) => closed));
      const opened = await Promise.allSettled(domains.values());
      await Promise.all(
        opened.map((each) => (each.status === 'fulfilled' ? each.value.supervisor.close() : undefined)),
      );
    },
  };
}

async function openDomain(folder: string, log: (text: string) => void): Promise<Opened> {
  const domain = loadDomain(folder, { soundness: false });
  const errors = fitnessOf(domain).shared;
  if (errors.some(({ code }) => code === 'domain/file-missing')) throw new Refusal('unknown-domain', unfitness(errors));
  if (errors.length > 0) throw new Refusal('bad-domain', unfitness(errors));
  const supervisor = await openSupervisor(domain, { log });
  for (const error of fitTasks(supervisor.domain.tasks, supervisor.loaded).errors) log(leftOutText(error));
  return { supervisor, database: baseHashOf(supervisor.loaded) };
}

function throwIfCancelled({ isCancelled }: Asked): void {
  if (isCancelled) throw new Refusal('cancelled', 'the rollout was cancelled');
}

async function rollout(
  { supervisor, database }: Opened,
  params: RolloutParams,
  asked: Asked,
  cwd: string,
): Promise<object> {
  const task = taskIn(supervisor.domain, params.task);
  if (!task) throw new Refusal('unknown-task', `there is no task "${params.task}" in ${params.domain}`);
  const agent = agentOf(params.agent, [cwd, supervisor.loaded.folder], params.timeout_s);
  const user = userOf(params.user, supervisor.domain.file, params.basis);
  const readKey = (name: string) => (name === 'agent' || name === 'user' ? keyOf(params[name]) : process.env[name]);
  const askPerson = () => Promise.reject(new Error('a training rollout has no person to ask'));
  const recording = params.recording ? resolve(cwd, params.recording) : null;
  const started = startOf(supervisor.domain, database, task, {
    seed: params.seed,
    trial: params.trial,
    basis: params.basis,
    agent,
    user,
    ...(params.turn_cap ? { turnCap: params.turn_cap } : {}),
  });
  const userTokens = { input: 0, output: 0 };
  const count = (notice: ModelNotice): void => {
    if (notice.type !== 'answered' || notice.role !== 'user') return;
    userTokens.input += notice.usage?.input ?? 0;
    userTokens.output += notice.usage?.output ?? 0;
  };
  const running = supervisor.start({
    task,
    from: started,
    seats: workerSeats(agent, user),
    externalSeats: externalSeatsOf(agent, user, readKey, askPerson, undefined, count),
    recording,
  });
  asked.rollout = running;
  let late = false;
  const timer = params.timeout_s
    ? setTimeout(() => {
        late = true;
        running.cancel();
      }, params.timeout_s * 1000)
    : undefined;
  try {
    const closed = await running.closed;
    throwIfCancelled(asked);
    const result = resultOf(task, params.trial, recording ?? '', closed);
    const failure = late
      ? { who: 'infrastructure', code: 'timeout', message: `the rollout took longer than ${params.timeout_s} s` }
      : closed.failure && {
          who: closed.failure.who,
          code: closed.failure.code,
          message: closed.failure.message,
        };
    return {
      reward: result.reward,
      end_reason: result.endReason,
      turns: result.turns,
      metrics: {
        toolCalls: result.toolCalls,
        violations: result.violations,
        toolErrors: closed.events.filter((event) => event.type === 'toolReturned' && event.isError && !event.by).length,
        agentSeconds: secondsOf('agentReplied', closed),
        userSeconds: secondsOf('userReplied', closed),
        toolSeconds: secondsOf('toolReturned', closed),
      },
      ...rolloutMetrics(measureOf(closed.events, supervisor.domain.tools), task, supervisor.domain.tools),
      user_tokens: userTokens,
      answers: closed.events.flatMap((event) => (event.type === 'agentReplied' ? (event.messageId ?? []) : [])),
      recording,
      failure,
    };
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the wall time that a rollout waited for events of a type, in seconds. */
function secondsOf(type: EventType, { arrived }: RolloutClosed): number {
  return arrived.reduce((sum, event) => (event.type === type ? sum + event.ms / 1000 : sum), 0);
}

/** The time limit for one reply if no time limit for rollouts is set, in milliseconds. */
const defaultReplyMs = 600_000;

function seatOf(given: RolloutParams['agent' | 'user'], keyName: string, timeoutMs = defaultReplyMs): SeatSpec {
  if (typeof given === 'string') return { type: given as 'gold' | 'agenda' };
  return { type: 'openai', model: given.model, baseUrl: given.base_url, keyName, timeoutMs };
}

/**
 * The agent's seat. Its model is waited for as long as the rollout may take: the gateway still samples the reply that
 * is no longer awaited, and refuses to be asked again meanwhile.
 */
function agentOf(
  given: RolloutParams['agent'],
  folders: readonly string[],
  timeoutS: number | null | undefined,
): SeatSpec {
  const model = seatOf(given, 'agent', timeoutS ? timeoutS * 1000 : undefined);
  if (typeof given === 'string' || given.program === undefined || model.type !== 'openai') return model;
  const own = parseSeat(`agent:${given.program}`, 'agent', 'person', process.env, folders);
  if (typeof own === 'string') throw new Refusal('bad-request', own);
  return own.type === 'agent' ? { ...own, model } : own;
}

function userOf(given: RolloutParams['user'], file: DomainFile, basis: RolloutParams['basis']): SeatSpec {
  const seat = seatOf(given, 'user');
  return seat.type === 'openai' ? settledUser(seat, file, basis, process.env) : seat;
}

function keyOf(given: RolloutParams['agent' | 'user']): string {
  if (typeof given === 'string') return '';
  return given.api_key_env === undefined ? given.api_key : (process.env[given.api_key_env] ?? '');
}

function errorOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  if (error instanceof Fault)
    return { code: error.failure.who === 'environment' ? 'bad-domain' : 'internal', message: error.message };
  return { code: 'internal', message: messageOf(error) };
}
