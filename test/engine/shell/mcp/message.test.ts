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

test.each([
  ['40%', 40],
  [5, 5],
  ['half', 0],
])('the progress %j is %j', (progress, read) => {
  const params = { progressToken: 1, progress, total: '100', message: 7 };
  expect(readMessage(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 1, progress: read },
  });
});
