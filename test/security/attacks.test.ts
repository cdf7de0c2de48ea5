import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { findSandbox } from '../../src/engine/shell/processes/sandbox.ts';
import { markdownTable, tableIn, withGenerated } from '../support/markdownTable.ts';
import { sampled } from '../support/suite.ts';
import { type Mode, type Observed, observe } from './attackRun.ts';
import { type Attack, attacks } from './attacks.ts';
import { removeScratchAtEnd } from './dataAttack.ts';
import { dataAttacks } from './dataAttacks.ts';
import { forgedPromise, forgeries, play } from './forgeries.ts';

// Every attack is really run, in the sandbox and without it; `npm test` runs a third of those on code, and fewer of the rest. docs/security-attacks.md has the result of each.

const page = inRoot('docs', 'security-attacks.md');
const isLinux = process.platform === 'linux';
const modes = { 'In the sandbox': 'sandbox', "With Node's flags alone": 'flags' } as const;
type Column = keyof typeof modes;
const columns = Object.keys(modes) as readonly Column[];

/** The observed result of each attack, by its column and its first cells in the table. */
const seen: Readonly<Record<Column, Map<string, string>>> = {
  'In the sandbox': new Map(),
  "With Node's flags alone": new Map(),
};
/** The page has the results on Linux. */
const note = (column: Column, [who, name]: readonly [string, string], text: string) =>
  void (isLinux && seen[column].set(`${who}: ${name}`, text));

const observations: Partial<Record<Mode, ReturnType<typeof observe>>> = {};
/** Returns the observed result of an attack. The first call runs all attacks of the mode. */
async function observed(attack: Attack, mode: Mode, all: readonly Attack[]): Promise<Observed> {
  observations[mode] ??= observe(all, mode);
  return (await observations[mode]).get(attack) as Observed;
}

const named = (all: readonly Attack[]) => all.map((attack) => [`${attack.language}: ${attack.name}`, attack] as const);

removeScratchAtEnd();

describe.each(columns)('%s', (column) => {
  const mode = modes[column];
  const isPossible = mode === 'flags' || findSandbox().name !== null;
  beforeAll(() => void vi.stubEnv('REHEARSAL_SANDBOX', mode === 'flags' ? 'off' : ''));
  afterAll(() => void vi.unstubAllEnvs());

  describe.runIf(isPossible && isLinux)('the attack', () => {
    const made = sampled(attacks, 3);
    test.each(named(made))('%s', async (_, attack) => {
      const { isReached, text } = await observed(attack, mode, made);
      note(column, [attack.language, attack.name], isReached ? text : 'holds');
      expect(isReached, text).toBe(mode === 'flags' && !attack.holdsWithout);
    });
  });

  describe.runIf(isPossible)('a rollout', () => {
    test.concurrent.each(sampled(forgeries, 4))(
      '%s: it has no reward, and the failure names the cause',
      async (name, code) => {
        const { closed, asked } = await play(code, 'human');
        note(column, ['TypeScript', name], `not scored: ${closed.failure?.code}`);
        expect(closed).toMatchObject({ reward: null, failure: { who: 'environment', code: 'worker/forged' } });
        expect(closed.failure?.message).toMatch(/^the domain's code interferes with the rollout: /);
        expect(closed.arrived.at(-1)?.type).toBe('rewarded');
        expect(asked).toBeLessThan(3);
      },
    );
  });

  describe.runIf(isPossible && process.platform !== 'win32')('data', () => {
    const all = dataAttacks.filter((attack) => attack.isPossible);
    // Most of them are about code that the sandbox does not concern.
    const possible = sampled(all, mode === 'flags' ? 8 : 4);

    // They run concurrently, since most of them wait for a process.
    test.concurrent.each(possible.map((each) => [`${each.attacker}: ${each.name}`, each] as const))(
      '%s',
      async (_, { attacker, name, run }) => note(column, [attacker, name], await run()),
    );
  });
});

describe.runIf(isLinux)('an attack that nothing confines', () => {
  // Python has no flags: without a sandbox it is not confined.
  const unconfined = attacks.filter(({ language, holdsWithout }) => language === 'TypeScript' || holdsWithout);
  const controls = sampled(unconfined, 4);

  test.each(named(controls))('succeeds: %s', async (_, attack) => {
    const { isReached, text } = await observed(attack, 'nothing', controls);
    expect(isReached, text).toBe(attack.impossible === undefined);
  });
});

/** Returns the rows of a table with the results; a result that was not observed here is taken from the page. */
function written(section: string, rows: readonly (readonly [string, string, string])[]): string {
  const documented = tableIn(readFileSync(page, 'utf8'), section);
  const cells = rows.map(([who, name, promise]) => {
    const before = documented.find((row) => row[0] === who && row[1] === name) ?? [];
    return [
      who,
      name,
      promise,
      ...columns.map((column, at) => seen[column].get(`${who}: ${name}`) ?? before[at + 3] ?? ''),
    ];
  });
  return markdownTable([[section === 'data' ? 'Attacker' : 'Code', 'Attack', 'Promise', ...columns], ...cells]);
}

test('docs/security-attacks.md has what was seen of every attack; `REHEARSAL_SUITE=full vitest run test/security/attacks --update` writes it', async () => {
  const code = attacks.map(({ language, name, promise }) => [language, name, promise] as const);
  const forged = forgeries.map(([name]) => ['TypeScript', name, forgedPromise] as const);
  const data = dataAttacks.map(({ attacker, name, promise }) => [attacker, name, promise] as const);
  const all = [...code, ...forged, ...data];
  const names = all.map(([who, name]) => `${who}: ${name}`);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  const once = withGenerated(readFileSync(page, 'utf8'), 'domain code', written('domain code', [...code, ...forged]));
  await expect(withGenerated(once, 'data', written('data', data))).toMatchFileSnapshot(page);
});
