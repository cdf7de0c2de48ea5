import { expect, test } from 'vitest';
import { fillPlaceholders, variablesIn } from '../../../../src/engine/shell/keys/placeholders.ts';

test('a value from the environment is filled in, and only possible secrets are redacted', () => {
  const environment = { DEBUG: '1', LEVEL: 'verbose', TOKEN: 'tok-planted-77' };
  const { fill, redact, variables } = fillPlaceholders(
    { folder: '/here' },
    environment,
    (problem) => new Error(JSON.stringify(problem)),
  );
  expect(fill('${folder} ${env:DEBUG} ${env:LEVEL} ${env:TOKEN}')).toBe('/here 1 verbose tok-planted-77');
  expect(redact('W1017 is 1 of 11, verbose, with tok-planted-77')).toBe('W1017 is 1 of 11, verbose, with [TOKEN]');
  expect(variables()).toEqual(['DEBUG', 'LEVEL', 'TOKEN']);
  expect(() => fill('${env:MISSING}')).toThrow('MISSING');
});

test('many texts are redacted in a fraction of a second, also with a value that was filled in later', () => {
  const environment = { FIRST: 'tok-planted-77', LATER: 'tok-planted-88' };
  const { fill, redact } = fillPlaceholders({}, environment, () => new Error('no value'));
  fill('${env:FIRST}');
  expect(redact('tok-planted-77')).toBe('[FIRST]');
  fill('${env:LATER}');
  const { user } = process.cpuUsage();
  for (let count = 0; count < 20_000; count += 1) redact('ordinary text');
  expect(process.cpuUsage().user - user).toBeLessThan(500_000);
  expect(redact('tok-planted-77 tok-planted-88')).toBe('[FIRST] [LATER]');
});

test.each([
  [
    '${input:token}',
    /\$\{input:token\} is not a placeholder\. The placeholders are \$\{folder\}, \$\{env:NAME\}\. .*no inputs/,
  ],
  [
    '${workspaceFolder}',
    /The placeholders are \$\{folder\}, \$\{env:NAME\}\. Write \$\$\{workspaceFolder\} for the literal text/,
  ],
  ['a ${} b', /\$\{\} is not a placeholder/],
  ['${toString}', /is not a placeholder/],
  ['${env:A B}', /is not a placeholder/],
])('%s is refused', (text, message) => {
  const { fill } = fillPlaceholders(
    { folder: '/here' },
    {},
    (problem) => new Error(problem.type === 'unknown' ? problem.message : problem.variable),
  );
  expect(() => fill(text)).toThrow(message);
});

test.each([
  ['$${folder} and $${input:a}', '${folder} and ${input:a}'],
  ['$HOME $5 {a}', '$HOME $5 {a}'],
])('%s is the text %s', (text, filled) => {
  const { fill } = fillPlaceholders({ folder: '/here' }, {}, () => new Error('refused'));
  expect(fill(text)).toBe(filled);
});

test('a value in an address changes neither its host nor the rest of its query', () => {
  const url = 'https://u:${env:PASS}@host.example/mcp?key=${env:PASS}&a=1';
  const sent = { url, namedBy: 'a test' };
  const environment = { PASS: 'p@evil.example/?x&y', REHEARSAL_KEY_ORIGINS: 'PASS=https://host.example' };
  const { fillUrl } = fillPlaceholders({}, environment, () => new Error('refused'));
  const { host, searchParams } = new URL(fillUrl(url, sent));
  expect([host, [...searchParams]]).toEqual([
    'host.example',
    [
      ['key', environment.PASS],
      ['a', '1'],
    ],
  ]);
});

test('a placeholder that is meant as a text does not require its variable', () => {
  expect(variablesIn('${env:KEY} $${env:TEXT} ${env:KEY} ${now}')).toEqual(['KEY', 'KEY']);
});
