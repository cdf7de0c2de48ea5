import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from '../../../../scripts/repository.ts';
import { flawOf } from '../../../../src/engine/core/simulator/guard.ts';
import { describeCodeTools } from '../../../../src/engine/shell/describe.ts';
import { completeDomain, loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { rehearse } from '../../../support/rehearsed.ts';
import { sampled } from '../../../support/suite.ts';
import { userTurns } from '../../../support/userTurns.ts';

const domains = readdirSync(inRoot('domains'));

test.each(sampled(domains, 4))(
  'the guard refuses no message of the agenda user to the gold seat in %s',
  async (name) => {
    const folder = inRoot('domains', name);
    const loaded = loadDomain(folder);
    const { domain } = completeDomain(loaded, await describeCodeTools(loaded));
    const ids = sampled(loaded.tasks, 4).map(({ id }) => id);
    const rollouts = await rehearse(folder, ids, { agent: { type: 'gold' } });
    const turns = rollouts.flatMap(({ events }) => userTurns(domain, events));
    const alarms = turns.flatMap(({ view, reply }) => {
      const flaw = flawOf(view, reply);
      return flaw ? [{ task: view.task.id, said: reply.content, ...flaw }] : [];
    });
    expect(alarms).toEqual([]);
    expect(rollouts.length).toBeGreaterThanOrEqual(10);
    expect(turns.length).toBeGreaterThan(2 * rollouts.length);
  },
);
