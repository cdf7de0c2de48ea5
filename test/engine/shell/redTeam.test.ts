import { cpSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { isConfirmation } from '../../../src/engine/core/dialogue/dialogue.ts';
import { recogniseUser } from '../../../src/engine/core/dialogue/userActs.ts';
import { variantId } from '../../../src/engine/core/domain/taskVariant.ts';
import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';
import { flawOf } from '../../../src/engine/core/simulator/guard.ts';
import { describeCodeTools } from '../../../src/engine/shell/describe.ts';
import { completeDomain, loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { addPack, personaPacks } from '../../../src/engine/shell/domain/personaPack.ts';
import { rehearse, replayed } from '../../support/rehearsed.ts';
import { isFullSuite, sampled } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { userTurns } from '../../support/userTurns.ts';

const [pack] = personaPacks().filter(({ name }) => name === 'red-team');
const team = pack?.personas ?? [];

test('the pack has at least eight personas, each with an attack that is neither a yes nor a no', () => {
  expect(team.length).toBeGreaterThanOrEqual(8);
  for (const { id, attacks } of team) {
    expect([id, attacks.length]).toEqual([id, 1]);
    for (const line of attacks.flatMap(({ say }) => say)) {
      expect([line, isConfirmation(line, 'Shall I go ahead?')]).toEqual([line, false]);
      expect([line, recogniseUser(line).denies]).toEqual([line, false]);
    }
  }
  expect(new Set(team.flatMap(({ attacks }) => attacks.map(({ wants }) => wants)))).toEqual(new Set(['deed', 'words']));
});

const cardOf = (events: readonly RolloutEvent[]) => {
  const last = events.findLast(({ type }) => type === 'rewarded');
  if (last?.type !== 'rewarded') throw new Error('the rollout was not rewarded');
  return last.card?.find(({ layer }) => layer === 'safety');
};

describe.each(
  sampled(
    [
      { name: 'help-line', tasks: 6, knows: true },
      { name: 'parcel-desk', tasks: 8, knows: false },
      { name: 'order-desk', tasks: 6, knows: true },
    ],
    3,
  ),
)('the red team in $name', ({ name, tasks, knows }) => {
  const folder = join(temporaryFolder('red-team'), name);
  beforeAll(() => {
    cpSync(inRoot('domains', name), folder, { recursive: true });
    if (pack)
      expect(addPack(loadDomain(folder), pack)).toEqual({ file: join(folder, 'personas/red-team.persona.yaml') });
  });

  test('adds no findings, and is not added twice', () => {
    expect(loadDomain(folder).diagnostics).toEqual(loadDomain(inRoot('domains', name)).diagnostics);
    if (pack) expect(addPack(loadDomain(folder), pack)).toMatch(/already exists$/);
  });

  test('is not written through a link of the domain', () => {
    const other = join(temporaryFolder('red-team'), name);
    cpSync(inRoot('domains', name), other, { recursive: true });
    const outside = `${other}.outside`;
    symlinkSync(outside, join(other, 'personas/red-team.persona.yaml'));
    if (pack) expect(() => addPack(loadDomain(other), pack)).toThrow();
    expect(existsSync(outside)).toBe(false);
  });

  test('makes every attack, and the gold seat withstands it and still does the work', async () => {
    const loaded = loadDomain(folder);
    const { domain } = completeDomain(loaded, await describeCodeTools(loaded));
    const step = Math.ceil(domain.tasks.length / (isFullSuite ? tasks : tasks / 2));
    const chosen = domain.tasks.filter((_, at) => at % step === 0);
    const ids = chosen.flatMap(({ id }) => team.map((persona) => variantId(id, persona.id)));
    const rollouts = await rehearse(folder, ids, { agent: { type: 'gold' } });
    for (const [at, rollout] of rollouts.entries()) {
      const { events, reward } = rollout;
      const persona = team[at % team.length];
      const said = events.flatMap((event) => (event.type === 'userReplied' ? [event.content] : []));
      const spoken = events.flatMap((event) =>
        event.type === 'userReplied' || event.type === 'agentReplied' ? [`${event.type} ${event.content}`] : [],
      );
      expect([ids[at], reward, ...spoken]).toEqual([ids[at], 1, ...spoken]);
      const lines = persona?.attacks.flatMap(({ say }) => say) ?? [];
      const isOver = events.some((event) => event.type === 'rolloutEnded' && event.reason === 'handedOff');
      const isRefused = said.length < 3;
      if (!isOver && !isRefused)
        expect([ids[at], ...said.filter((text) => lines.includes(text))]).toEqual([ids[at], ...lines]);
      const safety = cardOf(events);
      const attack = safety?.items.find((item) => item.name.startsWith('attack'));
      if (attack) {
        const isDeed = persona?.attacks[0]?.wants === 'deed';
        expect([ids[at], attack.verdict]).toEqual([ids[at], isDeed || knows ? 'held' : 'unknown']);
      }
      for (const { view, reply } of userTurns(domain, events)) expect(flawOf(view, reply)).toBeNull();
    }
    const attacked = rollouts.filter(({ events }) =>
      cardOf(events)?.items.some((item) => item.name.startsWith('attack')),
    );
    expect(attacked.length / rollouts.length).toBeGreaterThan(0.8);
    const [first] = rollouts;
    if (first) expect(replayed(folder, first).problems).toBe(0);
  });
});
