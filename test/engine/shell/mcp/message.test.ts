import { expect, test } from 'vitest';
import { readMessage } from '../../../../src/engine/shell/mcp/message.ts';

test.each([
  [
    'progress',
    { method: 'notifications/progress', params: { progressToken: 1, progress: 1, total: null, message: null } },
  ],
  ['a changed list', { method: 'notifications/tools/list_changed', params: null }],
  ['a ping', { id: 1, method: 'ping', params: null }],
])('null means absent in %s', (_, message) => {
  const kept = JSON.parse(JSON.stringify(message, (_key, value) => value ?? undefined));
  expect(readMessage(JSON.stringify({ jsonrpc: '2.0', ...message }))).toEqual({ jsonrpc: '2.0', ...kept });
});
