import { expect, test } from 'vitest';
import { inRoot } from '../../../../scripts/repository.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import { baseHash, withWrites } from '../../../../src/engine/core/events/world.ts';
import { follow } from '../../../../src/engine/core/rollout/rollout.ts';
import { sameDatabase } from '../../../../src/engine/core/world/database.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { externalSeatsOf, workerSeats } from '../../../../src/engine/shell/externalSeats.ts';
import { settingOf } from '../../../../src/engine/shell/replay.ts';
import { startOf } from '../../../../src/engine/shell/start.ts';
import { openSupervisor } from '../../../../src/engine/shell/supervisor.ts';
import { sampled } from '../../../support/suite.ts';

const seats = { agent: { type: 'gold' }, user: { type: 'agenda' } } as const;
const nobody = () => Promise.reject(new Error('no person is asked'));

test.each(sampled(['help-line', 'order-desk'], 2))(
  'the world after the gold actions, if requested, is the one in which a rollout of %s with reward 1 ends',
  async (name) => {
    const loaded = loadDomain(inRoot('domains', name), { soundness: false });
    const supervisor = await openSupervisor(loaded);
    const setting = { ...settingOf(loaded), domain: supervisor.domain };
    const rewards: (number | null)[] = [];
    for (const task of supervisor.domain.tasks.slice(0, 6)) {
      const options = { seed: '1', trial: 0, basis: 'evaluate', ...seats } as const;
      const from = startOf(supervisor.domain, baseHash(setting.world), task, options);
      const externalSeats = externalSeatsOf(seats.agent, seats.user, () => undefined, nobody);
      const request = { task, from, seats: workerSeats(seats.agent, seats.user), externalSeats, recording: null };
      const closed = await supervisor.start({ ...request, wantsGold: true }).closed;
      expect((await supervisor.start(request).closed).gold, 'it is sent only on request').toBeUndefined();
      let state: RolloutState | null = null;
      for (const event of closed.events) state = follow(setting, state, event);
      if (!state) throw new Error('a rollout has a start');
      const gold = withWrites(state.start, closed.gold ?? []);
      const isSame = sameDatabase(gold.agent, state.world.agent) && sameDatabase(gold.user, state.world.user);
      const verdict = state.verdicts.find(({ verifier }) => verifier === 'database');
      expect(isSame, task.id).toBe(verdict?.held ?? isSame);
      rewards.push(closed.reward);
    }
    await supervisor.close();
    expect(rewards).toContain(1);
  },
);
