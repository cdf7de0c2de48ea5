import { expect, test } from 'vitest';
import { describeCodeTools } from '../../src/engine/shell/describe.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { workerMessageIn } from '../../src/engine/shell/workers/workerMessageSchema.ts';
import { domain, toolsHead } from '../engine/shell/faults/scene.ts';
import { sampled } from '../support/suite.ts';
import { messagesOfItself, play, say } from './forgeries.ts';

// Forged messages of domain code in its worker's name, and the supervisor's reaction. attacks.test.ts has other attacks.

test('without an attack the rollout is scored, with reward 0', async () => {
  const { closed } = await play('');
  expect(closed).toMatchObject({ reward: 0, failure: null });
});

const forged = { who: 'environment', code: 'worker/forged' };
test('a rollout that its process gives up ends with a receipt, and the failure is that of the domain', async () => {
  const { closed } = await play(say(`'m\\t{"type":"crashed","rollout":1,"message":"no memory"}'`), 'human');
  const failure = { who: 'environment', code: 'worker/crashed', message: expect.stringMatching(/: no memory$/) };
  expect(closed).toMatchObject({ reward: null, failure });
  expect(closed.arrived.at(-1)?.type).toBe('rewarded');
});

test('code that does not load in time ends the start', async () => {
  const code = `${toolsHead}await new Promise(() => undefined);`;
  const loaded = loadDomain(domain([], { 'tools.ts': code }));
  const failure = { code: 'tool/load-time', message: expect.stringMatching(/did not load within 0.5 s/) };
  await expect(openSupervisor(loaded, { loadMs: 500 })).rejects.toMatchObject({ failure });
  await expect(describeCodeTools(loaded, { loadMs: 500 })).rejects.toMatchObject({ failure });
});

test.each(['ws://10.0.0.1:9229/x', 'http://127.0.0.1:9229/x', 'ws://127.0.0.1:9229/x?y', 'ws://127.0.0.1.example:1/x'])(
  'a worker cannot lead a debugger to %s',
  (url) => {
    const message = (given: string) => ({ type: 'inspected', url: given });
    expect(() => workerMessageIn(message('ws://127.0.0.1:9229/0f2c-11'))).not.toThrow();
    expect(() => workerMessageIn(message(url))).toThrow();
  },
);

test.each(sampled(messagesOfItself, 3))('code that says %s when it loads is refused', async (message) => {
  const code = `${toolsHead}const { writeSync } = process.getBuiltinModule('node:fs'); ${say(`'m\\t${message}'`)}`;
  const loaded = loadDomain(domain([], { 'tools.ts': code }));
  await expect(openSupervisor(loaded)).rejects.toMatchObject({ failure: forged });
});

test('questions that a tool forges ask no model: 200 of them cost nothing', async () => {
  const attack = `for (let n = 0; n < 200; n++) ${say(`'m\\t{"type":"question","question":' + (1000 + n) + ',"rollout":1,"about":{"type":"agent"}}'`)}`;
  const { closed, asked } = await play(attack, 'human');
  expect(asked).toBe(1);
  expect(closed).toMatchObject({ reward: null, failure: forged });
});

test('a false length of what a dead worker left behind is not believed', async () => {
  const header = `const bytes = Buffer.alloc(4); bytes.writeUInt32LE(0xfffffff0); writeSync(4, bytes, 0, 4, 20); process.exit(0)`;
  const { closed } = await play(header);
  expect(closed).toMatchObject({ reward: null, failure: { code: 'worker/exited' } });
});
