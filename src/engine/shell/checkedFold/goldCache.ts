import type { RolloutState } from '../../core/events/state.ts';
import { withWrites } from '../../core/events/world.ts';
import { stateHash } from '../../core/rollout/rollout.ts';
import { messageOf } from '../files/fault.ts';
import type { Gold } from '../rollout/verification.ts';
import type { WorkerGold } from '../workers/workerMessage.ts';
import { ForgedMessage } from './forgedMessage.ts';

/** Gold worlds of a worker by the numbers that it gave them. */
export type GoldCache = Map<number, Gold>;

/** More than a worker keeps itself (`goldWorld.ts`), so that every world that it still names is here. */
const goldsKept = 512;

/** Returns the world after the gold actions, from the start of the rollout whose worker reported them first. */
export function playedGold({ id, actions, failed }: WorkerGold, state: RolloutState, golds: GoldCache): Gold {
  const known = golds.get(id);
  if (known) return known;
  if (!actions) throw new ForgedMessage('it refers to gold actions that it did not send');
  let { start: world } = state;
  try {
    const steps = actions.map(({ turn, content, writes }) => {
      world = withWrites(world, writes);
      return { turn, content, writes, world };
    });
    const gold = { steps, world, failed };
    // A world that was hashed is compared by its hash.
    stateHash({ ...state, world });
    golds.set(id, gold);
    const [oldest] = golds.keys();
    if (golds.size > goldsKept && oldest !== undefined) golds.delete(oldest);
    return gold;
  } catch (error) {
    throw new ForgedMessage(`the gold actions cannot have written this: ${messageOf(error)}`);
  }
}
