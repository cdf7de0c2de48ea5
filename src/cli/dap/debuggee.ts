import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Recorded, RolloutEvent, RolloutStarted } from '../../engine/core/event.ts';
import { follow, type Setting } from '../../engine/core/rollout.ts';
import type { Task } from '../../engine/core/task.ts';
import { taskIn } from '../../engine/core/underPersona.ts';
import { baseHash } from '../../engine/core/world.ts';
import type { Step } from '../../engine/shell/driver.ts';
import { Fault, messageOf } from '../../engine/shell/fault.ts';
import { type GuardNote, type GuardReader, guardReader } from '../../engine/shell/guardNotes.ts';
import type { LaneEvent } from '../../engine/shell/lane/laneMessage.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';
import { type AskPerson, laneSeats, type OnModel, outsideOf, type ReadKey } from '../../engine/shell/outside.ts';
import { type RecordingProblem, readRecording, type SidecarLine, sidecarPath } from '../../engine/shell/recording.ts';
import { replayed, settingOf } from '../../engine/shell/replay.ts';
import { readTimes } from '../../engine/shell/resume.ts';
import { type SeatSpec, seatName } from '../../engine/shell/seats/seatSpec.ts';
import { startOf } from '../../engine/shell/start.ts';
import {
  type LiveRollout,
  openSupervisor,
  type RolloutClosed,
  type Supervisor,
} from '../../engine/shell/supervisor.ts';
import { type Edit, type Edited, edited } from './edit.ts';

export type DebuggeeOptions = {
  readonly domain: LoadedDomain;
  readonly agent: SeatSpec;
  readonly user: SeatSpec;
  /** Who takes the agent's seat in a fork. */
  readonly forkAgent: SeatSpec;
  readonly readKey: ReadKey;
  readonly askPerson: AskPerson;
  readonly log: (text: string) => void;
  readonly onModel?: OnModel;
};

export type Launch = {
  readonly task: Task;
  readonly seed: string;
  readonly trial: number;
  readonly basis: 'evaluate' | 'train';
  readonly turnCap?: number;
  readonly recording: string;
};

/**
 * A rollout that is debugged: every step so far, a cursor among them, and the live rollout that makes more.
 * States are immutable, so going back is moving the cursor. Knows no protocol.
 */
export class Debuggee {
  #steps: Step[] = [];
  #cursor = -1;
  #live: LiveRollout | null = null;
  /** Number of the last event that the live rollout was let go on to. */
  #allowed = -1;
  #supervisor: Promise<Supervisor> | null = null;
  #setting: Setting;
  #recording = '';
  #guard: { readonly recording: string; readonly read: GuardReader } | null = null;
  #waiting: (() => void)[] = [];
  #failure: unknown = null;
  readonly #options: DebuggeeOptions;
  /** Told of every finished rollout of this session, forks included. */
  onClosed: (recording: string, closed: RolloutClosed) => void = () => undefined;

  constructor(options: DebuggeeOptions) {
    this.#options = options;
    this.#setting = settingOf(options.domain);
  }

  get steps(): readonly Step[] {
    return this.#steps;
  }

  get cursor(): number {
    return this.#cursor;
  }

  get current(): Step | undefined {
    return this.#steps[this.#cursor];
  }

  get recording(): string {
    return this.#recording;
  }

  get domain(): LoadedDomain {
    return this.#options.domain;
  }

  /** What the guard of a model in the user's seat did on the way to a step. */
  guardNote(n: number): GuardNote | undefined {
    const recording = this.#recording;
    const step = this.#steps[n];
    if (this.#guard?.recording !== recording) this.#guard = { recording, read: guardReader(recording) };
    return step && this.#guard.read(step);
  }

  /** What stopped the engine itself, in words: a full disk, a bug. Null for a rollout that ended, however it ended. */
  get failure(): string | null {
    if (this.#failure === null) return null;
    return messageOf(this.#failure);
  }

  /** Starts a new rollout and waits for its start. */
  async launch({ task, recording, ...start }: Launch): Promise<void> {
    const opening = this.#open();
    const { agent, user } = this.#options;
    const database = baseHash(this.#setting.world);
    const supervisor = await opening;
    const started = startOf(supervisor.domain, database, task, { ...start, agent, user });
    await this.#begin(supervisor, task, [started], recording, agent);
    if (this.#failure !== null) throw this.#failure;
  }

  /**
   * Opens a recording; nothing is called. A damaged one is opened as far as it can be followed, and the log says
   * where it broke. Throws a `Fault` when nothing of it can be shown.
   */
  attach(recording: string): void {
    const { domain } = this.#options;
    const { lines, problems } = readRecording(recording);
    this.#live?.abandon();
    this.#live = null;
    this.#steps = [];
    const [first] = lines;
    const [problem] = problems;
    if (first?.event.type !== 'rolloutStarted')
      throw brokenAt(recording, problem?.line ?? 1, problem?.message ?? 'a recording begins with rolloutStarted');
    const differs = differenceFrom(domain, this.#setting, first.event);
    if (differs) throw brokenAt(recording, 1, differs);
    if (first.event.policyHash !== domain.domain.policy.hash)
      this.#options.log(`the policy has changed since this was recorded: rules may stand on other lines`);
    const found = this.#follow(lines);
    for (const { line, message } of found ? [...problems, found] : problems)
      this.#options.log(`${recording}:${line}: ${message}`);
    this.#recording = recording;
    this.#cursor = 0;
  }

  /**
   * Waits until there is a step after the cursor, letting a live rollout go on to it. Calls may overlap: none lets
   * it go on twice. False at the end.
   */
  async ready(): Promise<boolean> {
    while (this.#cursor + 1 >= this.#steps.length) {
      if (this.#live === null) return false;
      if (this.#allowed < this.#steps.length && this.#steps.length > 0) {
        this.#allowed = this.#steps.length;
        this.#live.step();
      }
      await this.#change();
    }
    return true;
  }

  /** Moves to the next step, waiting until it is there. False at the end. */
  async forward(): Promise<boolean> {
    return (await this.ready()) && this.next();
  }

  /** Moves to the next step, when it is there already. */
  next(): boolean {
    if (this.#cursor + 1 >= this.#steps.length) return false;
    this.#cursor += 1;
    return true;
  }

  /** Moves to the step before. False at the start. Calls nothing. */
  back(): boolean {
    if (this.#cursor <= 0) return false;
    this.#cursor -= 1;
    return true;
  }

  /**
   * Makes a fork: the events up to the edit, the edit, and the same loop with the fork's seats. The recording
   * that it leaves stays as it is.
   * @returns what was edited, in words
   */
  async fork(edit: Edit): Promise<Pick<Edited, 'words' | 'from'>> {
    // A call's writes and its result belong together: the call would be made again if they were parted.
    if (edit.type === 'database' && this.current?.event.type === 'databaseWritten') await this.forward();
    const { events, at, words, from } = edited(this.#steps, this.#cursor, edit);
    const [started, ...rest] = events;
    if (started?.type !== 'rolloutStarted') throw new Error('a fork has a start');
    const task = this.#taskOf(started.task.id);
    const supervisor = await this.#open();
    const parent = this.#recording;
    const chain = readRecording(parent).lines[at]?.chain ?? '';
    const { forkAgent, user } = this.#options;
    const fork: RolloutStarted = {
      ...started,
      seats: { agent: seatName(forkAgent), user: seatName(user) },
      parent: { recording: basename(parent), event: at, chain, edit: words },
    };
    const left = { steps: this.#steps, cursor: this.#cursor };
    this.#live?.abandon();
    const sidecar = readTimes(sidecarPath(parent), at + 1);
    await this.#begin(supervisor, task, [fork, ...rest], freeForkPath(parent), forkAgent, sidecar);
    if (this.#steps.length < events.length) {
      const reason = this.failure ?? 'the rollout did not start';
      this.#steps = left.steps;
      this.#cursor = left.cursor;
      this.#recording = parent;
      throw new Fault({ who: 'environment', code: 'fork/failed', message: reason });
    }
    return { words, from };
  }

  /** Leaves the rollout where it stands; what was recorded is kept. */
  async close(): Promise<void> {
    this.#live?.abandon();
    await (await this.#supervisor?.catch(() => null))?.close();
  }

  /** Folds recorded events up to the first that can't follow or leads to another state, and says which that is. */
  #follow(lines: readonly Recorded[]): RecordingProblem | null {
    // The verdicts of the rules stand in the recording; deciding them again would only cost time.
    const setting = { ...this.#setting, domain: { ...this.#setting.domain, rules: [] } };
    for (const { step, problem } of replayed(setting, lines)) {
      if (step) this.#steps.push({ n: step.n, event: step.event, state: step.after });
      if (problem) return { ...problem, message: `${problem.message}; the steps up to here are shown` };
    }
    return null;
  }

  #taskOf(id: string): Task {
    const { domain } = this.#options;
    const task = taskIn(domain.domain, id);
    if (task) return task;
    const message = `the domain in ${domain.folder} has no task "${id}" any more, so nothing can go on from here`;
    throw new Fault({ who: 'environment', code: 'task/unknown', message });
  }

  #open(): Promise<Supervisor> {
    this.#supervisor ??= openSupervisor(this.#options.domain, { log: this.#options.log }).then((supervisor) => {
      this.#setting = { domain: supervisor.domain, world: this.#setting.world };
      return supervisor;
    });
    return this.#supervisor;
  }

  /** Starts a rollout from its first events and waits until they are recorded; the cursor is on the last of them. */
  async #begin(
    supervisor: Supervisor,
    task: Task,
    from: readonly RolloutEvent[],
    recording: string,
    agent: SeatSpec,
    sidecar: readonly SidecarLine[] = [],
  ): Promise<void> {
    const { user, readKey, askPerson, onModel } = this.#options;
    this.#steps = [];
    this.#cursor = -1;
    this.#allowed = from.length - 1;
    this.#failure = null;
    this.#recording = recording;
    const outside = outsideOf(agent, user, readKey, askPerson, undefined, onModel);
    const request = { task, from, seats: laneSeats(agent, user), outside, recording, sidecar, pace: 'step' } as const;
    const live = supervisor.start(request, (events) => {
      if (this.#live === live) this.#received(events);
    });
    this.#live = live;
    live.closed
      .then((closed) => this.onClosed(recording, closed))
      .catch((error: unknown) => {
        if (this.#live === live) this.#failure = error;
      })
      .finally(() => {
        if (this.#live === live) this.#live = null;
        this.#wake();
      });
    while (this.#steps.length < from.length && this.#live === live) await this.#change();
    this.#cursor = Math.min(from.length, this.#steps.length) - 1;
  }

  #received(events: readonly LaneEvent[]): void {
    for (const { n, event } of events) {
      // A rollout that had to start again on a fresh tool source comes from its first event on.
      if (n < this.#steps.length) this.#restart(n);
      this.#steps.push({ n, event, state: follow(this.#setting, this.#steps.at(-1)?.state ?? null, event) });
      if (event.type === 'rewarded') this.#live?.step();
    }
    this.#wake();
  }

  #restart(n: number): void {
    this.#options.log('the rollout starts again: a call was cut short and can not be made twice');
    this.#steps = this.#steps.slice(0, n);
    this.#cursor = Math.min(this.#cursor, n);
    this.#allowed = n;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** Why a recording can't be shown over a domain, or null. */
function differenceFrom(domain: LoadedDomain, setting: Setting, started: RolloutStarted): string | null {
  if (started.domain.name !== domain.domain.name)
    return `was recorded in the domain "${started.domain.name}", and ${domain.folder} is "${domain.domain.name}"`;
  if (started.database !== baseHash(setting.world))
    return `was recorded on another database than the one in ${domain.folder}`;
  return null;
}

/** The first free name beside a recording: `x.fork-1.traj.jsonl` for `x.traj.jsonl` and for its forks. */
function freeForkPath(parent: string): string {
  const base = parent.replace(/(\.fork-\d+)?\.traj\.jsonl$/, '');
  for (let number = 1; ; number += 1) {
    const path = `${base}.fork-${number}.traj.jsonl`;
    if (!existsSync(path)) return path;
  }
}

function brokenAt(file: string, line: number, message: string): Fault {
  return new Fault({
    who: 'environment',
    code: 'recording/broken',
    message: `${file}:${line}: ${message}`,
    file,
    line,
  });
}
