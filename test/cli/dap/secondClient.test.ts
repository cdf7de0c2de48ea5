import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DebugClient } from '@vscode/debugadapter-testsupport';
import { expect, onTestFinished } from 'vitest';
import { commandLine } from '../../support/commandLine.ts';
import { inFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { domain, policy, ruleLine } from './harness.ts';

const command = pathToFileURL(commandLine).href;

inFullSuite('a client that this project did not write goes to a breakpoint, a step back and into a fork', async () => {
  const runs = temporaryFolder('rehearsal-runs');
  // It starts a program without arguments.
  const program = join(runs, 'dap.mjs');
  writeFileSync(program, `process.argv.push('dap');\nawait import(${JSON.stringify(command)});\n`);
  const client = new DebugClient(process.execPath, program, 'rehearsal');
  client.defaultTimeout = 60_000;
  await client.start();
  onTestFinished(() => client.stop());
  await Promise.all([
    client.waitForEvent('initialized').then(async () => {
      const source = { path: policy };
      const { body } = await client.setBreakpointsRequest({ source, breakpoints: [{ line: ruleLine() }] });
      expect(body.breakpoints).toMatchObject([{ verified: true, line: ruleLine() }]);
      await client.configurationDoneRequest();
    }),
    client.launch({ domain, task: 'lamp-variant', runs } as never),
    client.assertStoppedLocation('breakpoint', { path: policy, line: ruleLine() }),
  ]);
  const [, stopped] = await Promise.all([client.stepBackRequest({ threadId: 1 }), client.waitForEvent('stopped')]);
  expect(stopped.body).toMatchObject({ reason: 'step', text: 'one step back' });
  const { body } = await client.stackTraceRequest({ threadId: 1 });
  expect(body.stackFrames[0]?.name).toBe('agent calls change_item');
  const { body: scopes } = await client.scopesRequest({ frameId: body.stackFrames[0]?.id ?? 0 });
  const messages = scopes.scopes.find(({ name }) => name === 'Messages')?.variablesReference ?? 0;
  const { body: shown } = await client.variablesRequest({ variablesReference: messages });
  const name = shown.variables.findLast((each) => each.name.endsWith('agent'))?.name ?? '';
  const value = 'Shall I change the desk lamp in W1138 to white? It can be changed only once.';
  const [set, forked] = await Promise.all([
    client.setVariableRequest({ variablesReference: messages, name, value }),
    client.waitForEvent('stopped'),
  ]);
  expect([set.success, forked.body]).toMatchObject([true, { reason: 'fork' }]);
  const names = readdirSync(runs, { recursive: true, encoding: 'utf8' });
  expect(names.filter((each) => each.endsWith('.fork-1.traj.jsonl'))).toHaveLength(1);
  const told: unknown[] = [];
  while (told.length < 5 && !/^reward/.test(String(told.at(-1)))) {
    const [, next] = await Promise.all([client.continueRequest({ threadId: 1 }), client.waitForEvent('stopped')]);
    told.push((next.body as { text?: string }).text);
  }
  expect(told).toEqual([expect.stringMatching(/^rule confirm-before-write held/), expect.stringMatching(/^reward 1/)]);
  await Promise.all([client.continueRequest({ threadId: 1 }), client.waitForEvent('terminated')]);
  expect((await client.disconnectRequest()).success).toBe(true);
});
