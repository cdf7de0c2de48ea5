import { basename, dirname } from 'node:path';
import type { World } from '../../../engine/core/domain/domain.ts';
import { type AskedSettings, type SeatSpec, seatName } from '../../../engine/core/domain/seatSpec.ts';
import type { Task } from '../../../engine/core/domain/task.ts';
import { baseTask } from '../../../engine/core/domain/taskVariant.ts';
import { runsInWorker } from '../../../engine/core/domain/tool.ts';
import type { Recorded, RolloutEvent, RolloutStarted } from '../../../engine/core/events/event.ts';
import type { Reads } from '../../../engine/core/events/reads.ts';
import { baseHash } from '../../../engine/core/events/world.ts';
import type { Setting } from '../../../engine/core/rollout/rollout.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { type AskPerson, externalSeatsOf, type OnModel, workerSeats } from '../../../engine/shell/externalSeats.ts';
import { Fault, messageOf } from '../../../engine/shell/files/fault.ts';
import type { Inside, RolloutClosed } from '../../../engine/shell/liveRollout.ts';
import type { ReadKey } from '../../../engine/shell/models/modelSettings.ts';
import { makeForkFile, removeUnbegunFork } from '../../../engine/shell/records/forkFile.ts';
import {
  brokenRecording,
  noStart,
  type RecordingProblem,
  readRecording,
  type SidecarLine,
  sidecarPath,
} from '../../../engine/shell/records/recording.ts';
import { runIdIn } from '../../../engine/shell/records/runFile.ts';
import { type GuardNote, guardReader, readsReader } from '../../../engine/shell/records/stepNotes.ts';
import { replayed } from '../../../engine/shell/replay.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { readTimes } from '../../../engine/shell/runs/resume.ts';
import { placeOf } from '../../../engine/shell/source/items.ts';
import { startOf } from '../../../engine/shell/start.ts';
import type { Supervisor } from '../../../engine/shell/supervisor.ts';
import { DebuggedRollout } from './debuggedRollout.ts';
import { DomainRuntime } from './domainRuntime.ts';
import { type Edit, type Edited, edited } from './edit.ts';
import type { Engine } from './engine.ts';
import type { PresentPlaces } from './presentPlaces.ts';

/** The specifications of both seats. */
export type Seats = { readonly agent: SeatSpec; readonly user: SeatSpec };

export type DebuggeeOptions = {
  readonly domain: LoadedDomain;
  readonly agent: SeatSpec;
  readonly user: SeatSpec;
  /** The agent's seat in a fork. */
  readonly forkAgent: SeatSpec;
  /** The judge of questions that no check can decide, in forks too. */
  readonly judge?: SeatSpec;
  readonly readKey: ReadKey;
  readonly askPerson: AskPerson;
  readonly log: (text: string) => void;
  readonly engine?: Engine;
  readonly onModel?: OnModel;
  /** Overrides those of the domain for simulated tools. */
  readonly toolSettings?: AskedSettings | undefined;
  /** Whether a JavaScript debugger may attach to the worker. */
  readonly inspectable?: boolean;
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
  #rollout = this.#rolloutOf();
  #cursor = -1;
  #runtime: DomainRuntime;
  /** The seats of the next fork: a person who took a seat over keeps it. */
  #forkSeats: Seats;
  /** The seats of the live rollout. */
  #seats: Seats;
  #recording = '';
  /** The id of the run that its recordings belong to. */
  #run: string | undefined;
  #sidecar: { readonly recording: string } & ReturnType<typeof readersOf> = { recording: '', ...readersOf('') };
  readonly #options: DebuggeeOptions;
  /** Receives every finished rollout of this session, forks included. */
  onClosed: (recording: string, closed: RolloutClosed) => void = () => undefined;
  /** Awaited before the live rollout continues from its last step: code of the domain may run then. */
  beforeStep: (last: Step) => Promise<void> = () => Promise.resolve();

  constructor(options: DebuggeeOptions) {
    this.#options = options;
    this.#runtime = new DomainRuntime(options.domain, options);
    this.#forkSeats = { agent: options.forkAgent, user: options.user };
    this.#seats = { agent: options.agent, user: options.user };
  }

  get steps(): readonly Step[] {
    return this.#rollout.steps;
  }

  get cursor(): number {
    return this.#cursor;
  }

  get current(): Step | undefined {
    return this.steps[this.#cursor];
  }

  get recording(): string {
    return this.#recording;
  }

  /** The domain that the rollout is played on, with its parts where the files had them at the last look. */
  get domain(): LoadedDomain {
    return this.#runtime.places.domain;
  }

  get places(): PresentPlaces {
    return this.#runtime.places;
  }

  /** Looks where the files have the parts of the domain now. */
  refreshPlaces(): void {
    const task = this.#runtime.domain.locations.tasks.get(baseTask(this.#started.task.id));
    this.places.refresh(task?.file);
  }

  /** The domain as states are folded over it. Its tools are described once `describe` was waited for. */
  get setting(): Setting {
    return this.#runtime.setting;
  }

  /** Returns who speaks from the last step on: the seats of the live rollout, or of the next fork if no rollout is live. */
  get seatsAhead(): Seats {
    return this.isLive ? this.#seats : this.#forkSeats;
  }

  /** The name of the agent's seat in the next fork. */
  get forkAgent(): string {
    return seatName(this.#forkSeats.agent);
  }

  /** The task that is played. Throws a `Fault` where the domain has it no more. */
  get task(): Task {
    return this.#runtime.taskOf(this.#started);
  }

  get #judge(): Pick<DebuggeeOptions, 'judge'> {
    const { judge } = this.#options;
    return judge ? { judge } : {};
  }

  get #started(): RolloutStarted {
    const first = this.steps[0]?.event;
    if (first?.type !== 'rolloutStarted') throw new Error('nothing has begun yet');
    return first;
  }

  /** The inside of the worker that folds the live rollout; null when none is live. */
  get inside(): Inside | null {
    return this.#rollout.inside;
  }

  /** Whether code of the domain is what the rollout does after its own step. */
  runsCodeAfter({ event, state }: Step): boolean {
    const { tools, sync } = this.#runtime.setting.domain;
    if (event.type === 'toolCalled') return tools.some((tool) => tool.name === event.call.name && runsInWorker(tool));
    if (state.ended) return this.domain.parts.verifiers.length > 0;
    return sync === true && ['rolloutStarted', 'worldPrepared', 'toolReturned'].includes(event.type);
  }

  /** Returns what the guard of a model in the user's seat did on the way to a step. */
  guardNote(n: number): GuardNote | undefined {
    const step = this.steps[n];
    return step && this.#notes.guardAt(step);
  }

  /** Returns the reads of the call whose result a step is; undefined if the sidecar does not record them. */
  readsAt(n: number): Reads | undefined {
    return this.#notes.readsAt(n);
  }

  get #notes(): ReturnType<typeof readersOf> {
    const recording = this.#recording;
    if (this.#sidecar.recording !== recording) this.#sidecar = { recording, ...readersOf(recording) };
    return this.#sidecar;
  }

  /**
   * Returns what stopped the engine itself, in words: a full disk, a bug. Null for a rollout that ended, however it
   * ended.
   */
  get failure(): string | null {
    const { failure } = this.#rollout;
    return failure === null ? null : messageOf(failure);
  }

  /** Starts a new rollout and waits for its start. */
  async launch({ task, recording, ...start }: Launch): Promise<void> {
    const opening = this.#runtime.open();
    const { agent, user } = this.#options;
    const database = baseHash(this.#runtime.setting.world);
    const supervisor = await opening;
    const started = startOf(supervisor.domain, database, task, { ...start, ...this.#judge, agent, user });
    this.#run = runIdIn(dirname(recording));
    await this.#begin(supervisor, task, [started], recording, { agent, user });
    if (this.#rollout.failure !== null) throw this.#rollout.failure;
  }

  /**
   * Opens a recording; nothing is called. A damaged one is opened as far as it can be followed, and the log says
   * where it broke. Throws a `Fault` when nothing of it can be shown.
   * @param step the first position of the cursor; the last step that can be shown if no step has this number
   * @returns the lines that are damaged or cannot be followed
   */
  attach(recording: string, step = 0): readonly RecordingProblem[] {
    const { domain, setting } = this.#runtime;
    const { lines, problems } = readRecording(recording);
    const [first] = lines;
    const [problem] = problems;
    if (first?.event.type !== 'rolloutStarted') throw brokenRecording(recording, problem ?? noStart);
    const differs = differenceFrom(domain, setting, first.event);
    if (differs) throw brokenRecording(recording, { line: 1, message: differs });
    if (first.event.policyHash !== domain.domain.policy.hash)
      this.#options.log(
        'the policy has changed since this was recorded, so rules may be on other lines. In the debugger, /swap forks with the current policy',
      );
    const { steps, problem: found } = this.#follow(lines);
    const broken = found ? [...problems, found] : problems;
    for (const { line, message } of broken) this.#options.log(`${recording}:${line}: ${message}`);
    this.#rollout.leave();
    this.#rollout = this.#rolloutOf(steps);
    this.#recording = recording;
    this.#run = runIdIn(dirname(recording));
    const last = steps.length - 1;
    if (step > last && Number.isFinite(step))
      this.#options.log(`there is no step ${step}: the last one is step ${last}`);
    this.#cursor = Math.min(step, last);
    return broken;
  }

  /**
   * Waits until there is a step after the cursor, letting a live rollout continue to it. Calls may overlap: none lets
   * it continue twice. False at the end.
   */
  ready(): Promise<boolean> {
    return this.#rollout.reach(() => this.#cursor + 1);
  }

  /** Moves to the next step, waiting until it is there. False at the end. */
  async forward(): Promise<boolean> {
    return (await this.ready()) && this.next();
  }

  /** Moves to the next step, when it is there already. */
  next(): boolean {
    if (this.#cursor + 1 >= this.steps.length) return false;
    this.#cursor += 1;
    return true;
  }

  /** Whether the rollout can still make steps. */
  get isLive(): boolean {
    return this.#rollout.isLive;
  }

  /** Moves to a step that is there already. Calls nothing. */
  moveTo(step: number): void {
    if (!this.steps[step]) throw new Error(`there is no step ${step}`);
    this.#cursor = step;
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
   * @param seats who takes the seats from there on, and in forks of it
   * @returns what was edited, in words
   */
  async fork(edit: Edit, seats: Partial<Seats> = {}): Promise<Pick<Edited, 'words' | 'from'>> {
    // A call's writes and its result belong together: the call would be made again if they were parted.
    if (edit.type === 'database' && this.current?.event.type === 'databaseWritten') await this.forward();
    const made = edited(this.steps, this.#cursor, edit);
    const taken = { ...this.#forkSeats, ...seats };
    const { task } = this;
    const supervisor = await this.#runtime.open();
    const isSample = edit.type === 'sample';
    await this.#branch(made, { task, supervisor, seats: taken, began: this.#started, isSample });
    this.#forkSeats = taken;
    return made;
  }

  /** The seats that the configuration gives a fork. */
  get ownSeats(): Seats {
    return { agent: this.#options.forkAgent, user: this.#options.user };
  }

  /**
   * Makes a fork in which the domain is another: its policy, personas, rules and tools take effect from a step on.
   * Where the domain does not load, or has another world, a `Fault` says so, and all stays as it is.
   * @param words what was swapped
   */
  async swap(step: number, domain: LoadedDomain, words: string): Promise<Pick<Edited, 'words' | 'from'>> {
    const made = edited(this.steps, this.#cursor, { type: 'none', step, words });
    const runtime = new DomainRuntime(domain, this.#options);
    const before = this.#started;
    const task = runtime.taskOf(before);
    const other = differenceFrom(domain, runtime.setting, before);
    if (other) throw new Fault({ who: 'environment', code: 'swap/refused', message: `the rollout ${other}` });
    const supervisor = await runtime.open();
    const seats = this.#forkSeats;
    const { seed, trial, basis, turnCap, database } = before;
    const began = startOf(supervisor.domain, database, task, { seed, trial, basis, turnCap, ...this.#judge, ...seats });
    const left = this.#runtime;
    this.#runtime = runtime;
    try {
      await this.#branch(made, { task, supervisor, seats, began });
    } catch (error) {
      this.#runtime = left;
      await runtime.close();
      throw error;
    }
    void left.close();
    return made;
  }

  /** Continues from other events, in its own recording. */
  async #branch(
    { events, at, words }: Edited,
    ahead: {
      readonly task: Task;
      readonly supervisor: Supervisor;
      readonly seats: Seats;
      readonly began: RolloutStarted;
      /** Whether a seat answers again, with new random numbers. */
      readonly isSample?: boolean;
    },
  ): Promise<void> {
    const { task, supervisor, seats, began, isSample = false } = ahead;
    const parent = this.#recording;
    const chain = readRecording(parent).lines[at]?.chain ?? '';
    const sidecar = readTimes(sidecarPath(parent), at + 1);
    const { path, number } = makeForkFile(parent);
    const { judge } = this.#options;
    const sampled = isSample ? { sample: number } : {};
    const fork: RolloutStarted = {
      ...began,
      seats: {
        agent: seatName(seats.agent),
        user: seatName(seats.user),
        ...(judge ? { judge: seatName(judge) } : {}),
      },
      parent: { recording: basename(parent), event: at, chain, edit: words, ...sampled },
    };
    const left = { live: this.#rollout, cursor: this.#cursor };
    left.live.leave();
    await this.#begin(supervisor, task, [fork, ...events.slice(1)], path, seats, sidecar);
    if (this.steps.length < events.length) {
      const reason = this.failure ?? 'the rollout did not start';
      left.live.fail(this.#rollout.failure);
      this.#rollout = left.live;
      this.#cursor = left.cursor;
      this.#recording = parent;
      removeUnbegunFork(path);
      throw new Fault({ who: 'environment', code: 'fork/failed', message: reason });
    }
  }

  /** Returns the domain with its tools as they describe themselves. Throws what keeps its code from starting. */
  async openedDomain(): Promise<LoadedDomain> {
    return (await this.#runtime.open()).loaded;
  }

  /** Waits until the tools of the domain are described, or says why they can't be. */
  describe(): Promise<string | null> {
    return this.#runtime.open().then(
      () => null,
      (error: unknown) => messageOf(error),
    );
  }

  /** The world after the task's gold actions, or a sentence why it is unknown. */
  gold(): Promise<World | string> {
    return this.#runtime.gold(this.steps);
  }

  /** Leaves the rollout; the recording is kept. */
  async close(): Promise<void> {
    this.#rollout.leave();
    await this.#runtime.close();
  }

  /** Folds recorded events up to the first that can't follow or leads to another state, and says which that is. */
  #follow(lines: readonly Recorded[]): {
    readonly steps: readonly Step[];
    readonly problem: RecordingProblem | null;
  } {
    const steps: Step[] = [];
    // The verdicts of the rules are in the recording; deciding them again would only cost time.
    const { world, domain } = this.#runtime.setting;
    const setting = { world, domain: { ...domain, rules: [] } };
    for (const { step, problem } of replayed(setting, lines)) {
      if (step) steps.push({ n: step.n, event: step.event, state: step.after });
      if (problem)
        return { steps, problem: { ...problem, message: `${problem.message}; the steps up to here are shown` } };
    }
    return { steps, problem: null };
  }

  /** Starts a rollout from its first events and waits until they are recorded; the cursor is on the last of them. */
  async #begin(
    supervisor: Supervisor,
    task: Task,
    from: readonly RolloutEvent[],
    recording: string,
    { agent, user }: Seats,
    sidecar: readonly SidecarLine[] = [],
  ): Promise<void> {
    const { readKey, askPerson, judge, onModel, toolSettings } = this.#options;
    const live = this.#rolloutOf();
    this.#rollout = live;
    this.#seats = { agent, user };
    this.#cursor = -1;
    this.#recording = recording;
    const externalSeats = externalSeatsOf(agent, user, readKey, askPerson, judge, onModel, toolSettings);
    const request = {
      task,
      from,
      seats: workerSeats(agent, user),
      externalSeats,
      recording,
      run: this.#run,
      sidecar,
      pace: 'step',
      reads: true,
    } as const;
    await live.begin(
      from.length,
      (onEvents) => supervisor.start(request, onEvents),
      (closed) => this.onClosed(recording, closed),
    );
    this.#cursor = Math.min(from.length, live.steps.length) - 1;
  }

  #rolloutOf(recorded: readonly Step[] = []): DebuggedRollout {
    const onRestart = (n: number) => {
      this.#options.log('the rollout starts again: a call was cut short and can not be made twice');
      this.#cursor = Math.min(this.#cursor, n);
    };
    return new DebuggedRollout(
      { setting: () => this.#runtime.setting, beforeStep: (last) => this.beforeStep(last), onRestart },
      recorded,
    );
  }
}

/** Returns what the sidecar of a recording says about its steps. */
function readersOf(recording: string) {
  return { guardAt: guardReader(recording), readsAt: readsReader(recording) };
}

/** Why a recording can't be shown over a domain, or null. */
function differenceFrom(domain: LoadedDomain, setting: Setting, started: RolloutStarted): string | null {
  const { name } = started.domain;
  if (name !== domain.domain.name) {
    const { file, line } = placeOf(domain.parts.file, 'name');
    return `was recorded in the domain "${name}", and ${file}:${line} names "${domain.domain.name}". Write "name: ${name}" there, or choose the domain that it was recorded in`;
  }
  if (started.database !== baseHash(setting.world))
    return `was recorded on another database than the one in ${domain.folder}. Restore the database, or start the task again`;
  return null;
}
