import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DebugClient as Client } from '@vscode/debugadapter-testsupport';
import { expect, onTestFinished, test } from 'vitest';
import { commandLine } from '../../support/commandLine.ts';
import { domain } from './harness.ts';

const token = 'a-token-of-the-test';

test('an adapter that stands by skips folders without a domain, serves one launch after the other, and ends with its standard input and its last session', async () => {
  const adapter = standby();
  adapter.stdin?.write(`/nowhere\n${fileURLToPath(new URL('.', import.meta.url))}\n${domain}\n`);
  const port = await portOf(adapter);
  const first = await launched(port);
  await first.stop();
  const second = await launched(port);
  adapter.stdin?.end();
  // The session continues, and no other client can connect.
  await Promise.all([second.stepInRequest({ threadId: 1 }), second.waitForEvent('stopped')]);
  const refused = await new Promise((resolve) => connect(port, '127.0.0.1').once('error', resolve));
  expect(refused).toMatchObject({ code: expect.stringMatching(/^ECONN(?:REFUSED|RESET)$/) });
  await second.stop();
  expect(await once(adapter, 'exit')).toEqual([0, null]);
});

function standby(): ChildProcess {
  const adapter = spawn(process.execPath, [commandLine, 'dap', '--port', '0', '--standby', '--json'], {
    env: { ...process.env, REHEARSAL_DAP_TOKEN: token },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    adapter.kill('SIGKILL');
  });
  return adapter;
}

async function portOf(adapter: ChildProcess): Promise<number> {
  const [line] = await once(createInterface({ input: adapter.stdout as NodeJS.ReadableStream }), 'line');
  return Number((JSON.parse(line) as { address: string }).address.split(':').at(-1));
}

async function launched(port: number): Promise<Client> {
  const client = new Client('node', '', 'rehearsal');
  client.defaultTimeout = 30_000;
  await client.start(port);
  const opened = client.launch({ domain, task: 'lamp-variant', stopOnEntry: true, token } as never);
  await Promise.all([opened, client.configurationSequence(), client.waitForEvent('stopped')]);
  return client;
}
