import { appendFileSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelSeat, SeatSpec } from '../../engine/core/domain/seatSpec.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { endReasonText, rewardText } from '../../engine/core/events/displayText.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { type ExternalSeats, externalSeatsOf, workerSeats } from '../../engine/shell/externalSeats.ts';
import { makeFolder } from '../../engine/shell/files/disk.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';
import type { SideNote } from '../../engine/shell/files/sideNote.ts';
import type { RolloutClosed } from '../../engine/shell/liveRollout.ts';
import { isModelCall, type ModelCall } from '../../engine/shell/models/modelCall.ts';
import type { ReadKey } from '../../engine/shell/models/modelSettings.ts';
import { baseHashOf } from '../../engine/shell/replay.ts';
import { startOf } from '../../engine/shell/start.ts';
import { openSupervisor, type Supervisor } from '../../engine/shell/supervisor.ts';
import { approveOwn } from '../options/approveMade.ts';

/** `degraded`: the endpoint answered, and the model did not do what the path needs of it. */
export type LiveStatus = 'ok' | 'degraded' | 'failed';

/** The paths that need a model. */
export const pathNames = ['agent', 'user', 'judge', 'grader', 'tool simulator'] as const;

export type LivePath = {
  readonly path: (typeof pathNames)[number];
  readonly status: LiveStatus;
  readonly what: string;
  /** Requests that the model was sent. */
  readonly calls: number;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly seconds: number;
};

export type LiveOptions = {
  readonly seat: ModelSeat;
  readonly readKey: ReadKey;
  readonly signal: AbortSignal;
  /** Until a path counts as failed. */
  readonly timeoutMs: number;
  /** The only path to test; all paths if it is left out. */
  readonly only?: LivePath['path'];
  readonly onPath?: (path: LivePath) => void;
};

const question = 'Did the agent refuse to bring the parcel on another day?';
const statement = 'The agent told the customer that the day of the parcel was changed.';

const simulatedTool = `name: depot_hours
description: When a depot is open on a day.
effect: read
parameters:
  type: object
  properties: { day: { type: string } }
  required: [day]
result:
  type: object
  properties: { opens: { type: string }, closes: { type: string } }
  required: [opens, closes]
behaviour: Every depot is open from 08:00 to 18:00, on every day.
`;

/** Uses every path that needs a model once, on a copy of the smallest sample domain. */
export async function livePaths(options: LiveOptions): Promise<readonly LivePath[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-live-'));
  try {
    const tasks = prepare(folder, options.seat);
    approveOwn(folder);
    const supervisor = await openSupervisor(loadDomain(folder, { soundness: false }));
    try {
      const paths: LivePath[] = [];
      for (const trial of trialsOf(tasks)) {
        if (options.only && !trial.tries.includes(options.only)) continue;
        if (options.signal.aborted) break;
        for (const path of await played(supervisor, trial, options)) {
          paths.push(path);
          options.onPath?.(path);
        }
      }
      return paths;
    } finally {
      await supervisor.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sampleDomain(): string {
  const found = join(shippedFolder('domains'), 'parcel-desk');
  if (!existsSync(found)) throw new Error('the sample domains are missing: install Rehearsal again');
  return found;
}

/** A copy with one task for each path, a judge's question and a tool that a model simulates. */
function prepare(folder: string, { model, baseUrl }: ModelSeat) {
  cpSync(sampleDomain(), folder, { recursive: true });
  const [first] = loadDomain(folder).tasks;
  if (!first) throw new Error('the sample domain has no task');
  appendFileSync(join(folder, 'domain.yaml'), `\nsimulator: ${JSON.stringify(`openai:${model}@${baseUrl}`)}\n`);
  appendFileSync(join(folder, 'rules.yaml'), `\n- { rule: delivered, check: judge, question: "${question}" }\n`);
  makeFolder(join(folder, 'tools'));
  writeFileSync(join(folder, 'tools', 'depot_hours.tool.yaml'), simulatedTool);
  const talk: Task = { ...first, id: 'live-conversation' };
  const judged: Task = { ...first, id: 'live-judge', judge: [statement], evaluate: ['database', 'judge'] };
  const script = [[{ tool: 'depot_hours', arguments: { day: 'Friday' } }], 'The depot is open from 8 to 18. Goodbye.'];
  const simulated: Task = { ...first, id: 'live-tool', script, agent: 'scripted' };
  rmSync(join(folder, 'tasks'), { recursive: true });
  makeFolder(join(folder, 'tasks'));
  writeFileSync(join(folder, 'tasks', 'live.task.yaml'), JSON.stringify([talk, judged, simulated]));
  return { talk, judged, simulated };
}

type Trial = {
  readonly task: string;
  readonly agent: SeatSpec | 'model';
  readonly user: SeatSpec | 'model';
  readonly isJudged: boolean;
  readonly tries: readonly LivePath['path'][];
  readonly read: (closed: RolloutClosed) => readonly Pick<LivePath, 'path' | 'status' | 'what'>[];
};

function trialsOf({ talk, judged, simulated }: ReturnType<typeof prepare>): readonly Trial[] {
  const [gold, agenda, scripted] = [{ type: 'gold' }, { type: 'agenda' }, { type: 'scripted' }] as const;
  return [
    {
      task: talk.id,
      agent: 'model',
      user: agenda,
      isJudged: false,
      tries: ['agent'],
      read: (closed) => [agentPath(closed)],
    },
    {
      task: talk.id,
      agent: gold,
      user: 'model',
      isJudged: false,
      tries: ['user'],
      read: (closed) => [userPath(closed)],
    },
    { task: judged.id, agent: gold, user: agenda, isJudged: true, tries: ['judge', 'grader'], read: judgePaths },
    {
      task: simulated.id,
      agent: scripted,
      user: agenda,
      isJudged: false,
      tries: ['tool simulator'],
      read: (closed) => [toolPath(closed)],
    },
  ];
}

async function played(supervisor: Supervisor, trial: Trial, options: LiveOptions): Promise<readonly LivePath[]> {
  const { seat, readKey, timeoutMs } = options;
  const { domain, loaded } = supervisor;
  const task = domain.tasks.find(({ id }) => id === trial.task);
  if (!task) throw new Error(`the copy of the sample domain has no task ${trial.task}`);
  const agent = trial.agent === 'model' ? seat : trial.agent;
  const user = trial.user === 'model' ? seat : trial.user;
  const judge = trial.isJudged ? { judge: seat } : {};
  const nobody = () => Promise.reject(new Error('no person is asked'));
  const meter = metered(externalSeatsOf(agent, user, readKey, nobody, judge.judge), seat);
  const start = { seed: 'doctor', trial: 0, basis: 'evaluate', agent, user, turnCap: 8, ...judge } as const;
  const from = performance.now();
  const live = supervisor.start({
    task,
    from: startOf(domain, baseHashOf(loaded), task, start),
    seats: workerSeats(agent, user),
    externalSeats: meter.externalSeats,
    recording: null,
  });
  let isLate = false;
  const stop = () => live.cancel();
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, timeoutMs);
  options.signal.addEventListener('abort', stop, { once: true });
  const closed = await live.closed.finally(() => {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', stop);
  });
  const seconds = Math.round((performance.now() - from) / 100) / 10;
  return trial.read(closed).map(({ path, status, what }) => {
    const used = { ...meter.used(path), seconds };
    if (isLate)
      return { path, status: 'failed', what: `took longer than ${timeoutMs / 1000} s and was stopped`, ...used };
    if (used.calls === 0) {
      const why = `was not tried, because the rollout ended first: ${endingOf(closed)}`;
      return { path, status: 'failed', what: why, ...used };
    }
    return { path, status, what, ...used };
  });
}

/** Counts what the model uses, also for an answer that its seat refuses, and for each question of a judge apart. */
function metered(externalSeats: ExternalSeats, seat: ModelSeat) {
  const calls: { readonly path: LivePath['path']; readonly call: ModelCall }[] = [];
  const count = async <T extends { readonly call?: ModelCall }>(path: LivePath['path'], asked: Promise<T>) => {
    let call: SideNote | null = null;
    try {
      const answered = await asked;
      call = answered.call ?? null;
      return answered;
    } catch (error) {
      if (error instanceof Fault) call = error.note;
      throw error;
    } finally {
      if (isModelCall(call) && call.request !== null) calls.push({ path, call });
    }
  };
  const { judge } = externalSeats;
  const counting: ExternalSeats = {
    agent: (view, signal) => count('agent', externalSeats.agent(view, signal)),
    user: (...given) => count('user', externalSeats.user(...given)),
    ...(judge
      ? { judge: (asked, signal) => count(asked.subject.type === 'rule' ? 'judge' : 'grader', judge(asked, signal)) }
      : {}),
    // The person who names the endpoint trusts it with the key.
    simulate: (model, tool, asked, signal) =>
      count('tool simulator', externalSeats.simulate({ ...seat, model: model.model }, tool, asked, signal)),
  };
  const used = (path: LivePath['path']) => {
    const own = calls.filter((each) => each.path === path).map(({ call }) => call);
    const sum = (of: 'input' | 'output') => own.reduce((total, { usage }) => total + (usage?.[of] ?? 0), 0);
    const sent = own.reduce((total, { earlier = [] }) => total + earlier.length + 1, 0);
    return { calls: sent, tokens: { input: sum('input'), output: sum('output') } };
  };
  return { externalSeats: counting, used };
}

const eventsOf = <Type extends RolloutEvent['type']>({ events }: RolloutClosed, type: Type) =>
  events.filter((event): event is Extract<RolloutEvent, { type: Type }> => event.type === type);

/** Returns what an endpoint did in place of an answer. */
function failureOf({ failure }: RolloutClosed): string | null {
  return failure?.who === 'infrastructure' ? failure.message : null;
}

/** Returns why a rollout ended or has no reward. */
function endingOf(closed: RolloutClosed): string {
  return closed.failure?.message ?? eventsOf(closed, 'rewarded').at(-1)?.reason ?? endReasonText(closed.endReason);
}

function agentPath(closed: RolloutClosed): Pick<LivePath, 'path' | 'status' | 'what'> {
  const path = 'agent';
  const failure = failureOf(closed);
  if (failure !== null) return { path, status: 'failed', what: failure };
  const replies = eventsOf(closed, 'agentReplied').length;
  const results = eventsOf(closed, 'toolReturned');
  const errors = results.filter(({ isError }) => isError).length;
  const reason = eventsOf(closed, 'rewarded').at(-1)?.reason ?? endReasonText(closed.endReason);
  const did = `${replies} replies, ${counted(results.length, 'call')}, ${errors} of them with an error`;
  if (closed.reward === 1) return { path, status: 'ok', what: `did the task: ${did}` };
  return { path, status: 'degraded', what: `${did}; ${rewardText(closed.reward)}: ${reason}` };
}

function userPath(closed: RolloutClosed): Pick<LivePath, 'path' | 'status' | 'what'> {
  const path = 'user';
  const failure = failureOf(closed);
  const replies = eventsOf(closed, 'userReplied');
  if (failure !== null) return { path, status: 'failed', what: failure };
  const stop = replies.at(-1)?.stop ?? null;
  const said = `${replies.length} messages, ${stop === null ? `never stopped (${endReasonText(closed.endReason)})` : `stopped with ${stop}`}`;
  if (stop === 'done' && closed.reward === 1) return { path, status: 'ok', what: `got what it wanted: ${said}` };
  if (closed.failure?.who === 'simulator') return { path, status: 'degraded', what: closed.failure.message };
  return { path, status: 'degraded', what: `${said}; ${rewardText(closed.reward)}` };
}

/**
 * Grades the judge's answers. The right answer is "no" to the rule's question and "yes" to the task's statement, so a
 * judge that always says "yes" does not pass both.
 */
function judgePaths(closed: RolloutClosed): readonly Pick<LivePath, 'path' | 'status' | 'what'>[] {
  const judged = eventsOf(closed, 'judged');
  return (['judge', 'grader'] as const).map((path) => {
    const answer = judged.find(({ subject }) => (subject.type === 'rule') === (path === 'judge'));
    const expected = path === 'grader';
    if (!answer) return { path, status: 'failed', what: endingOf(closed) };
    if (answer.holds === expected) return { path, status: 'ok', what: `answered ${yes(expected)}, which is right` };
    if (answer.holds === null) return { path, status: 'degraded', what: `no clear answer: ${answer.reason}` };
    return { path, status: 'degraded', what: `answered ${yes(answer.holds)}, and ${yes(expected)} is right` };
  });
}

const yes = (holds: boolean) => (holds ? 'yes' : 'no');

function toolPath(closed: RolloutClosed): Pick<LivePath, 'path' | 'status' | 'what'> {
  const path = 'tool simulator';
  const [result] = eventsOf(closed, 'toolReturned');
  if (result && !result.isError) {
    const isRight = /0?8[:.]00/.test(result.content) && /18[:.]00/.test(result.content);
    const what = `answered within the tool's schema: ${result.content.slice(0, 80)}`;
    return isRight
      ? { path, status: 'ok', what }
      : { path, status: 'degraded', what: `${what}, which differs from the hours in its instructions` };
  }
  const failure = failureOf(closed);
  if (failure !== null) return { path, status: 'failed', what: failure };
  return {
    path,
    status: 'degraded',
    what: result?.content ?? closed.failure?.message ?? endReasonText(closed.endReason),
  };
}
