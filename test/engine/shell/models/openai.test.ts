import { expect, test } from 'vitest';
import { chatOf } from '../../../../src/engine/shell/models/chatRequest.ts';
import { started } from '../../../support/desk.ts';

test('an empty policy gives no system message', () => {
  const messages = [{ role: 'user' as const, step: 1, content: 'Hello.' }];
  const roles = (system: string) => chatOf({ started: { ...started('1'), system }, messages }).map(({ role }) => role);
  expect(roles('Be kind.')).toEqual(['system', 'user']);
  expect(roles('')).toEqual(['user']);
});
