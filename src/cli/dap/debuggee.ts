import { existsSync } from 'node:fs';
import { getAt, hashOf, openDatabase, type Patch } from '../../engine/core/database.ts';
import type { RolloutEvent } from '../../engine/core/event.ts';
import type { Json } from '../../engine/core/json.ts';
import { advance, begin, type Setting } from '../../engine/core/rollout.ts';
import type { RolloutState } from '../../engine/core/state.ts';
import type { Task } from '../../engine/core/task.ts';
import type { Side } from '../../engine/core/tool.ts';
import { Fault } from '../../engine/shell/fault.ts';
import type { LaneEvent } from '../../engine/shell/lane/laneMessage.ts';
import type { StaticDomain } from '../../engine/shell/load/loadDomain.ts';
import { type AskPerson, laneSeats, outsideOf, type ReadKey } from '../../engine/shell/outside.ts';
import { readRecording } from '../../engine/shell/recording.ts';
import { replayRecording, settingOf } from '../../engine/shell/replay.ts';
import { type SeatSpec, seatName } from '../../engine/shell/seats/seatSpec.ts';
import { startOf } from '../../engine/shell/start.ts';
import {
  type LiveRollout,
  openSupervisor,
  type RolloutClosed,
  type Supervisor,
} from '../../engine/shell/supervisor.ts';

/** One stop of the debugger: an event and the state after it. */
export type DebugStep = { readonly n: number; readonly event: RolloutEvent; readonly state: RolloutState };

/** What a person changed; each makes a fork. */
export type Edit =
  | { readonly type: 'message'; readonly step: number; readonly content: string }
  | {
      readonly type: 'arguments';
      readonly step: number;
      readonly callId: string;
      readonly path: readonly string[];
      readonly value: Json;
    }
  | {
      readonly type: 'database';
      readonly side: Side;
      readonly path: readonly (string | number)[];
      readonly value: Json;
    };

export type DebuggeeOptions = {
  readonly domain: StaticDomain;
  readonly agent: SeatSpec;
  readonly user: SeatSpec;
  /** Who takes the agent's seat in a fork. */
  readonly forkAgent: SeatSpec;
  readonly readKey: ReadKey;
  readonly askPerson: AskPerson;
  readonly log: (text: string) => void;
};

export type Launch = {
  readonly task: Task;
  readonly seed: string;
  readonly trial: number;
  readonly basis: 'evaluate' | 'train';
  readonly recording: string;
};

/**
 * A rollout that is debugged: every step so far, a cursor among them, and the live rollout that makes more.
 * States are immutable, so going back is moving the cursor. Knows no protocol.
 */
export class Debuggee {
  #steps: DebugStep[] = [];
  #cursor = -1;
  #live: LiveRollout | null = null;
  #closed = false;
  #supervisor: Supervisor | null = null;
  #setting: Setting;
  #recording = '';
  #wake: (() => void) | null = null;
  #forks = 0;
  readonly #options: DebuggeeOptions;
  /** Told of every finished rollout of this session, forks included. */
  onClosed: (recording: string, closed: RolloutClosed) => void = () => undefined;

  constructor(options: DebuggeeOptions) {
    this.#options = options;
    this.#setting = settingOf(options.domain);
  }

  get steps(): readonly DebugStep[] {
    return this.#steps;
  }

  get cursor(): number {
    return this.#cursor;
  }

  get current(): DebugStep | undefined {
    return this.#steps[this.#cursor];
  }

  get recording(): string {
    return this.#recording;
  }

  get domain(): StaticDomain {
    return this.#options.domain;
  }

  /** Whether nothing follows the cursor, ever. */
  get isAtEnd(): boolean {
    return this.#cursor === this.#steps.length - 1 && (this.#closed || this.#live === null);
  }

  /** Starts a new rollout; it waits before its first event. */
  async launch({ task, recording, ...start }: Launch): Promise<void> {
    const supervisor = await this.#open();
    const { agent, user } = this.#options;
    const database = hashOf(openDatabase(supervisor.loaded.world.agent));
    this.#begin(
      supervisor,
      task,
      startOf(supervisor.domain, database, task, { ...start, agent, user }),
      recording,
      agent,
    );
  }

  /** Opens a recording; nothing is called. Throws a `Fault` when it can't be read. */
  attach(recording: string): void {
    const { steps, problems } = replayRecording(this.#options.domain, recording);
    const [problem] = problems;
    if (steps.length === 0)
      throw new Fault({
        who: 'environment',
        code: 'recording/broken',
        message: `${recording}:${problem?.line ?? 1}: ${problem?.message ?? 'is empty'}`,
        file: recording,
      });
    for (const { line, message } of problems) this.#options.log(`${recording}:${line}: ${message}`);
    this.#steps = steps.map(({ n, event, after }) => ({ n, event, state: after }));
    this.#recording = recording;
    this.#cursor = 0;
  }

  /** Moves to the next event, making it when there is none yet. False at the end. */
  async forward(): Promise<boolean> {
    if (this.#cursor + 1 >= this.#steps.length && !(await this.#more())) return false;
    this.#cursor += 1;
    return true;
  }

  /** Moves to the event before. False at the start. Calls nothing. */
  back(): boolean {
    if (this.#cursor <= 0) return false;
    this.#cursor -= 1;
    return true;
  }

  /**
   * Makes a fork: the events up to the edit, the edit, and the same loop with the fork's seats. The recording
   * that it leaves stays as it is.
   * @returns what was forked, in words
   */
  async fork(edit: Edit): Promise<string> {
    const supervisor = await this.#open();
    const parent = this.#recording;
    const { events, at, words } = edited(this.#steps, this.#cursor, edit);
    const [started, ...rest] = events;
    if (started?.type !== 'rolloutStarted') throw new Error('a fork has a start');
    const chain = readRecording(parent).lines[at]?.chain ?? '';
    const { forkAgent, user } = this.#options;
    const fork = {
      ...started,
      seats: { agent: seatName(forkAgent), user: started.seats.user },
      parent: { recording: parent.split(/[\\/]/).at(-1) ?? parent, event: at, chain, edit: words },
    };
    this.#live?.abandon();
    const task = this.#taskOf(started.task.id);
    const known = events.length;
    this.#begin(supervisor, task, [fork, ...rest], this.#nextForkPath(parent), forkAgent, user);
    while (this.#steps.length < known && (await this.#arrival())) this.#cursor = this.#steps.length - 1;
    this.#cursor = Math.min(known, this.#steps.length) - 1;
    return words;
  }

  async close(): Promise<void> {
    this.#live?.cancel();
    await this.#supervisor?.close();
  }

  #taskOf(id: string): Task {
    const task = this.#options.domain.tasks.find((each) => each.id === id);
    if (!task)
      throw new Fault({
        who: 'environment',
        code: 'task/unknown',
        message: `the domain in ${this.#options.domain.folder} has no task "${id}" any more, so nothing can go on from here`,
      });
    return task;
  }

  async #open(): Promise<Supervisor> {
    if (!this.#supervisor) {
      this.#supervisor = await openSupervisor(this.#options.domain, { log: this.#options.log });
      this.#setting = { domain: this.#supervisor.domain, world: this.#setting.world };
    }
    return this.#supervisor;
  }

  #begin(
    supervisor: Supervisor,
    task: Task,
    from: Parameters<Supervisor['start']>[0]['from'],
    recording: string,
    agent: SeatSpec,
    user: SeatSpec = this.#options.user,
  ): void {
    const { readKey, askPerson } = this.#options;
    this.#steps = [];
    this.#cursor = -1;
    this.#closed = false;
    this.#recording = recording;
    const live = supervisor.start(
      {
        task,
        from,
        seats: laneSeats(agent, user),
        outside: outsideOf(agent, user, readKey, askPerson),
        recording,
        pace: 'step',
      },
      (events) => {
        if (this.#live === live) this.#received(events);
      },
    );
    this.#live = live;
    const end = () => {
      if (this.#live !== live) return;
      this.#closed = true;
      this.#wake?.();
    };
    live.closed.then(
      (closed) => {
        end();
        this.onClosed(recording, closed);
      },
      (error: unknown) => {
        this.#options.log(error instanceof Error ? error.message : String(error));
        end();
      },
    );
  }

  #received(events: readonly LaneEvent[]): void {
    for (const { n, event } of events) {
      const before = this.#steps.at(-1)?.state;
      const [state] =
        event.type === 'rolloutStarted' || !before
          ? begin(this.#setting, event as never)
          : advance(this.#setting, before, event);
      this.#steps.push({ n, event, state });
    }
    this.#wake?.();
  }

  async #more(): Promise<boolean> {
    if (this.#closed || !this.#live) return false;
    this.#live.step();
    const arrived = await this.#arrival();
    if (arrived && this.#steps.at(-1)?.event.type === 'rewarded') this.#live.step();
    return arrived;
  }

  /** Waits until there is a step after the cursor, or the rollout is over. */
  async #arrival(): Promise<boolean> {
    while (this.#cursor + 1 >= this.#steps.length && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#cursor + 1 < this.#steps.length;
  }

  #nextForkPath(parent: string): string {
    const base = parent.replace(/(\.fork-\d+)?\.traj\.jsonl$/, '');
    for (;;) {
      this.#forks += 1;
      const path = `${base}.fork-${this.#forks}.traj.jsonl`;
      if (!existsSync(path)) return path;
    }
  }
}

type Edited = { readonly events: readonly RolloutEvent[]; readonly at: number; readonly words: string };

/** The events of a fork, the number of the last one it shares with its parent, and the edit in words. */
function edited(steps: readonly DebugStep[], cursor: number, edit: Edit): Edited {
  if (edit.type === 'database') return databaseEdited(steps, cursor, edit);
  const events = steps.slice(0, edit.step).map(({ event }) => event);
  const original = steps[edit.step]?.event;
  if (original?.type === 'userReplied' && edit.type === 'message') {
    return {
      events: [...events, { ...original, content: edit.content, stop: null, origin: 'edited' }],
      at: edit.step - 1,
      words: `the user's message ${edit.step} was edited`,
    };
  }
  if (original?.type !== 'agentReplied')
    throw new Fault({
      who: 'environment',
      code: 'edit/refused',
      message: 'only messages of the agent and the user, arguments of calls and values of the database can be edited',
    });
  if (edit.type === 'message') {
    return {
      events: [...events, { type: 'agentReplied', content: edit.content, toolCalls: [], origin: 'edited' }],
      at: edit.step - 1,
      words: `the agent's message ${edit.step} was edited`,
    };
  }
  const toolCalls = original.toolCalls.map((call) =>
    call.id === edit.callId
      ? { ...call, arguments: withValue(call.arguments, edit.path, edit.value) as typeof call.arguments }
      : call,
  );
  return {
    events: [...events, { ...original, toolCalls, origin: 'edited' }],
    at: edit.step - 1,
    words: `an argument of the agent's call ${edit.step} was edited`,
  };
}

/** A database value changes between two calls, never inside one: there the call would be made again on top of it. */
function databaseEdited(
  steps: readonly DebugStep[],
  cursor: number,
  edit: Extract<Edit, { type: 'database' }>,
): Edited {
  let at = cursor;
  while (at > 0 && steps[at]?.state.phase.type === 'resultAwaited') at -= 1;
  const state = steps[at]?.state;
  if (!state || state.phase.type === 'closed' || state.ended)
    throw new Fault({
      who: 'environment',
      code: 'edit/refused',
      message: 'the rollout is over here: step back before its end, and edit there',
    });
  const old = getAt(state.world[edit.side], edit.path);
  const patch: Patch = {
    op: old === undefined ? 'add' : 'replace',
    path: edit.path,
    value: edit.value,
    ...(old === undefined ? {} : { old }),
  };
  const events = steps.slice(0, at + 1).map(({ event }) => event);
  const write: RolloutEvent = { type: 'worldEdited', writes: [{ side: edit.side, patches: [patch as never] }] };
  return { events: [...events, write], at, words: `${edit.path.join('.')} was edited` };
}

function withValue(value: unknown, path: readonly string[], to: Json): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return to;
  if (Array.isArray(value))
    return value.map((each, index) => (String(index) === key ? withValue(each, rest, to) : each));
  const object = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return { ...object, [key]: withValue(object[key], rest, to) };
}
