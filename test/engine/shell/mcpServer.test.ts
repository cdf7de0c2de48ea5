import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { serveMcp } from '../../../src/engine/shell/mcpServer.ts';

test('a call arrives with all digits of its numbers', async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const given: unknown[] = [];
  const call = async (_name: string, args: unknown) => {
    given.push(args);
    return { content: 'done', isError: false };
  };
  const served = serveMcp({ tools: [], instructions: '', call }, input, output);
  input.write(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"id":9007199254740993,"n":1}}}\n',
  );
  await expect.poll(() => String(output.read() ?? '')).toContain('"id":1');
  expect(given).toEqual([{ id: '9007199254740993', n: 1 }]);
  input.end();
  await served;
});
