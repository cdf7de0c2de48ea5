import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listenDap } from '../../../src/cli/dap/server.ts';

// The adapter must not buffer data of a client that connects without the token.

async function connected() {
  const abort = new AbortController();
  const announced = Promise.withResolvers<number>();
  const served = listenDap(abort.signal, 0, (address) => announced.resolve(Number(address.split(':')[1])));
  onTestFinished(async () => {
    abort.abort();
    await served;
  });
  const socket = connect(await announced.promise, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}

const request = (seq: number, command: string, args: object) => {
  const body = JSON.stringify({ seq, type: 'request', command, arguments: args });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

test.each([
  ['a body of 4 GB', `Content-Length: 4000000000\r\n\r\n${'x'.repeat(1000)}`],
  ['a body of 300 kB before the token', `Content-Length: 300000\r\n\r\n${'x'.repeat(1000)}`],
  ['a header without end', 'X'.repeat(100_000)],
])('%s ends the connection', async (_what, text) => {
  const socket = await connected();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(text);
  await closed;
});

test('messages are answered however they are cut into packets, and a wrong token launches nothing', async () => {
  const socket = await connected();
  const text = `${request(1, 'initialize', { adapterID: 'x' })}${request(2, 'launch', { token: 'wrong', domain: 'd' })}`;
  let answers = '';
  socket.setEncoding('utf8');
  for (const part of text) socket.write(part);
  for await (const chunk of socket) {
    answers += String(chunk);
    if (answers.includes('"request_seq":2')) break;
  }
  expect(answers).toContain('"request_seq":1');
  expect(answers).toContain('name the token that the adapter printed');
});
