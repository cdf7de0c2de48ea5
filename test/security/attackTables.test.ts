import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { markdownTable, withGenerated } from '../support/markdownTable.ts';
import { type Attack, attacks } from './attacks.ts';
import { dataAttacks } from './dataAttacks.ts';

const withoutSandbox = ({ holdsWithout, language }: Attack) =>
  holdsWithout ? (language === 'Python' ? 'held' : "held by Node's flags") : 'not held';

test('docs/security-attacks.md has the tables of attacks; `vitest run test/security -u` writes them', async () => {
  const page = inRoot('docs', 'security-attacks.md');
  const code = attacks.map((attack) => [attack.language, attack.name, attack.promise, 'held', withoutSandbox(attack)]);
  const data = dataAttacks.map(({ attacker, name, promise }) => [
    attacker,
    name,
    promise,
    'held',
    'does not run domain code',
  ]);
  const codeTable = markdownTable([['Code', 'Attack', 'Promise', 'In the sandbox', 'Without a sandbox'], ...code]);
  const dataTable = markdownTable([['Attacker', 'Attack', 'Promise', 'Result', 'Sandbox'], ...data]);
  const written = withGenerated(readFileSync(page, 'utf8'), 'domain code', codeTable);
  await expect(withGenerated(written, 'data', dataTable)).toMatchFileSnapshot(page);
  const names = [...code, ...data].map(([who, name]) => `${who}: ${name}`);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.length).toBeGreaterThanOrEqual(160);
});
