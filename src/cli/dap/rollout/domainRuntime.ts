import type { World } from '../../../engine/core/domain/domain.ts';
import type { Task } from '../../../engine/core/domain/task.ts';
import { taskIn } from '../../../engine/core/domain/taskVariant.ts';
import type { RolloutStarted } from '../../../engine/core/events/event.ts';
import { withWrites } from '../../../engine/core/events/world.ts';
import type { Setting } from '../../../engine/core/rollout/rollout.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { externalSeatsOf } from '../../../engine/shell/externalSeats.ts';
import { Fault, messageOf } from '../../../engine/shell/files/fault.ts';
import { hasSources } from '../../../engine/shell/load/loadedDomain.ts';
import { settingOf } from '../../../engine/shell/replay.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { nobody } from '../../../engine/shell/runs/regrade.ts';
import type { Supervisor } from '../../../engine/shell/supervisor.ts';
import { type Engine, ownEngine } from './engine.ts';
import { PresentPlaces } from './presentPlaces.ts';

type RuntimeOptions = {
  readonly log: (text: string) => void;
  /** Whether a JavaScript debugger may attach to the worker. */
  readonly inspectable?: boolean;
  readonly engine?: Engine;
};

/** The domain that rollouts are played on, as its files were when it was read; its code starts when it is needed. */
export class DomainRuntime {
  readonly domain: LoadedDomain;
  /** The lines where the files have the parts of the domain now. */
  readonly places: PresentPlaces;
  readonly #options: RuntimeOptions;
  #supervisor: Promise<Supervisor> | null = null;
  #setting: Setting;
  #gold: Promise<World | string> | null = null;

  constructor(domain: LoadedDomain, options: RuntimeOptions) {
    this.domain = domain;
    this.places = new PresentPlaces(domain);
    this.#options = options;
    this.#setting = settingOf(domain);
  }

  /** The domain as states are folded over it; with its tools, once `open` was waited for. */
  get setting(): Setting {
    return this.#setting;
  }

  /** Throws a `Fault` where the domain no longer has such a task. */
  taskOf({ task: { id }, imported }: Pick<RolloutStarted, 'task' | 'imported'>): Task {
    const isImported = imported !== undefined;
    const task = taskIn(this.domain.domain, id);
    if (task) return task;
    const none = `the domain in ${this.domain.folder} has no task "${id}"`;
    const message = isImported
      ? `${none}: a real conversation has no task. Draft a task from it to continue from here`
      : `${none}, so the rollout cannot continue. Restore the task in the domain`;
    throw new Fault({ who: 'environment', code: 'task/unknown', message });
  }

  /** Starts the worker. If it failed to open before, tries again: its files may have been fixed. */
  open(): Promise<Supervisor> {
    const { log, inspectable = false, engine = ownEngine } = this.#options;
    this.#supervisor ??= engine.openSupervisor(this.domain, { log, inspectable }).then(
      (supervisor) => {
        this.#setting = { domain: supervisor.domain, world: this.#setting.world };
        return supervisor;
      },
      (error: unknown) => {
        this.#supervisor = null;
        throw error;
      },
    );
    return this.#supervisor;
  }

  /** The world after the task's gold actions, or a sentence why it is unknown. It is played once. */
  gold(steps: readonly Step[]): Promise<World | string> {
    const begun = steps.findIndex(({ state: { phase } }) => !/^(?:world|sync)Awaited$/.test(phase.type));
    if (begun < 0) return Promise.resolve('the rollout has not started yet');
    if (hasSources(this.domain.file)) return Promise.resolve('it has tools outside of the domain');
    this.#gold ??= this.#playGold(steps.slice(0, begun + 1)).catch((error: unknown) => {
      this.#gold = null;
      return messageOf(error);
    });
    return this.#gold;
  }

  /** Breakpoints in the code of a tool are for the rollout's own calls: a worker that is looked into plays no gold. */
  async #playGold(prepared: readonly Step[]): Promise<World | string> {
    const { log, inspectable = false, engine = ownEngine } = this.#options;
    if (!inspectable) return this.#goldOf(await this.open(), prepared);
    const apart = await engine.openSupervisor(this.domain, { log });
    try {
      return await this.#goldOf(apart, prepared);
    } finally {
      await apart.close();
    }
  }

  /** Its own rollout that ends before it begins: its worker plays the gold actions, and nothing is recorded. */
  async #goldOf(supervisor: Supervisor, prepared: readonly Step[]): Promise<World | string> {
    const last = prepared.at(-1)?.state;
    if (!last) return 'nothing has begun yet';
    const { closed } = supervisor.start({
      task: this.taskOf(last.started),
      from: [...prepared.map(({ event }) => event), { type: 'rolloutEnded', reason: 'cancelled' }],
      seats: { agent: 'gold', user: 'agenda' },
      externalSeats: externalSeatsOf({ type: 'gold' }, { type: 'agenda' }, () => undefined, nobody),
      recording: null,
      wantsGold: true,
    });
    const { gold } = await closed;
    return gold ? withWrites(last.start, gold) : 'the gold actions could not be played';
  }

  async close(): Promise<void> {
    await (await this.#supervisor?.catch(() => null))?.close();
  }
}
