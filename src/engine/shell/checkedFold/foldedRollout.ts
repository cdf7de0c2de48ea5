import type { Task } from '../../core/domain/task.ts';
import type { RolloutEvent } from '../../core/events/event.ts';
import type { RolloutState } from '../../core/events/state.ts';
import type { Effect } from '../../core/rollout/effect.ts';
import { type Advanced, advance, begin, type Setting, stateHash } from '../../core/rollout/rollout.ts';
import type { WorkerSeats } from '../workers/workerMessage.ts';
import { ForgedMessage } from './forgedMessage.ts';

export type FoldOptions = { readonly setting: Setting; readonly task: Task; readonly seats: WorkerSeats };

/** The supervisor's own fold of a rollout: the state after the accepted events, and the effect that is due. */
export class FoldedRollout {
  readonly setting: Setting;
  readonly task: Task;
  readonly seats: WorkerSeats;
  #state: RolloutState | null = null;
  #hash = '';
  #effects: readonly Effect[] = [];
  #callStep = 0;

  constructor({ setting, task, seats }: FoldOptions) {
    this.setting = setting;
    this.task = task;
    this.seats = seats;
  }

  /** Number of the next event. */
  get next(): number {
    return this.#state?.next ?? 0;
  }

  /** Hash of the state. */
  get hash(): string {
    return this.#hash;
  }

  /** Number of the event after the last call. */
  get callStep(): number {
    return this.#callStep;
  }

  /** Whether the reward is there. */
  get isClosed(): boolean {
    return this.#state?.phase.type === 'closed';
  }

  /** Throws `ForgedMessage` before the first event. */
  get state(): RolloutState {
    if (!this.#state) throw new ForgedMessage('it refers to a rollout before its start');
    return this.#state;
  }

  get effect(): Effect | undefined {
    return this.#effects[0];
  }

  /** Folds an event. Returns whether it changed the databases. */
  advance(event: RolloutEvent): boolean {
    const before = this.#state;
    const [state, effects] = this.#advanced(before, event);
    const isChanged = before?.world !== state.world;
    if (isChanged) this.#hash = stateHash(state);
    this.#state = state;
    if (event.type === 'toolCalled') this.#callStep = state.next;
    this.#effects = effects;
    return isChanged;
  }

  #advanced(before: RolloutState | null, event: RolloutEvent): Advanced {
    if (before) return advance(this.setting, before, event);
    if (event.type === 'rolloutStarted') return begin(this.setting, event);
    throw new ForgedMessage('a rollout begins with rolloutStarted');
  }
}
