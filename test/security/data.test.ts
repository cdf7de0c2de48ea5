import { test } from 'vitest';
import { oneOfEachKind } from '../support/suite.ts';
import { removeScratchAtEnd } from './dataAttack.ts';
import { dataAttacks } from './dataAttacks.ts';

removeScratchAtEnd();

const possible = dataAttacks.filter(({ isPossible }) => isPossible);
const tried = oneOfEachKind(possible, ({ attacker }) => attacker);
const named = tried.map((attack) => [`${attack.attacker}: ${attack.name}`, attack] as const);

// At once, since most of them wait for a process.
test.skipIf(process.platform === 'win32').concurrent.each(named)('%s', (_, { run }) => run());
