import { expect, test } from 'vitest';
import { fillPlaceholders } from '../../../src/engine/shell/placeholders.ts';

test('a value from the environment is filled in, and only what may be a secret is taken out again', () => {
  const environment = { DEBUG: '1', LEVEL: 'verbose', TOKEN: 'tok-planted-77' };
  const { fill, redact, variables } = fillPlaceholders({ folder: '/here' }, environment, (name) => new Error(name));
  expect(fill('${folder} ${env:DEBUG} ${env:LEVEL} ${env:TOKEN}')).toBe('/here 1 verbose tok-planted-77');
  expect(redact('W1017 is 1 of 11, verbose, with tok-planted-77')).toBe('W1017 is 1 of 11, verbose, with [TOKEN]');
  expect(variables()).toEqual(['DEBUG', 'LEVEL', 'TOKEN']);
  expect(() => fill('${env:MISSING}')).toThrow('MISSING');
});
