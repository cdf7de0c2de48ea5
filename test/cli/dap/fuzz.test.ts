import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { sidecarPath } from '../../../src/engine/shell/records/recording.ts';
import type { Message } from '../../support/debugClient.ts';
import { InProcessClient, SharedEngine } from '../../support/inProcessClient.ts';
import { isFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { domain, lineOf, policy, Session, tasks, tools } from './harness.ts';

// Each request of a client is answered once, whenever it is sent, and the session ends.

const engine = new SharedEngine();
afterAll(() => engine.close());

const sequences = isFullSuite ? 10_000 : 25;
/** A limit that only a hung session reaches. */
const patienceMs = 120_000;
/** Milliseconds to wait for a stop before the next request, when a person has the turn and no stop comes. */
const shortMs = 40;

/** `until` is the event that a client waits for before it sends the next request: nothing, all answers, or a stop. */
type Sent = { readonly command: string; readonly args: unknown; readonly until: 'nothing' | 'answers' | 'stop' };

/** A finished recording, created once. */
const recorded = (async () => {
  const run = new Session(new InProcessClient(engine));
  await run.begin({ task: 'lamp-variant', agent: 'gold', noDebug: true });
  run.close();
  return run.recordings()[0] ?? '';
})();

const text = fc.constantFrom(
  ...'db.orders.W1138.status,turn,messages[-1].content,1 +,/why,/help,/turn 3,/turn,/turn 99,/resample'.split(','),
  ...'/say Hello there|/call get_order {"order_id": "W1138"}|/call|/stop|/request|/fly|db.orders.W1138.status = shipped|Hello'.split(
    '|',
  ),
);
const number = fc.oneof(fc.integer({ min: -2, max: 40 }), fc.constantFrom(1e12, 1.5));
const path = fc.constantFrom(policy, tools, tasks, '/nowhere', '');
const line = fc.constantFrom(
  1,
  4,
  lineOf(policy, 'Before any call that changes something'),
  lineOf(tools, 'get_order'),
  9999,
);
const name = fc.constantFrom(
  'status',
  '8 agent',
  'orders',
  'tool:get_order',
  'role:agent',
  'turn:3',
  'read:orders.W1138',
  'x',
);
const condition = fc.constantFrom(undefined, 'turn > 2', 'turn >', 'nothing.here', '');
const junk = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  fc.constantFrom<unknown>(null, 7, 'text', [], [null], { breakpoints: 7 }, { breakpoints: [null] }, { source: null }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Arguments as a client might send them. */
const sensible: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  initialize: fc.record({
    adapterID: fc.constant('rehearsal'),
    linesStartAt1: fc.boolean(),
    supportsVariablePaging: fc.boolean(),
  }),
  configurationDone: fc.constant({}),
  threads: fc.constant({}),
  stackTrace: fc.record({ threadId: number, startFrame: number, levels: number }, { requiredKeys: [] }),
  scopes: fc.record({ frameId: number }),
  variables: fc.record(
    { variablesReference: number, start: number, count: number, filter: fc.constantFrom('named', 'indexed') },
    { requiredKeys: ['variablesReference'] },
  ),
  setVariable: fc.record({ variablesReference: number, name, value: text }),
  setExpression: fc.record(
    { expression: text, value: text, frameId: number },
    { requiredKeys: ['expression', 'value'] },
  ),
  evaluate: fc.record(
    { expression: text, context: fc.constantFrom('repl', 'repl', 'repl', 'watch', 'hover'), frameId: number },
    { requiredKeys: ['expression', 'context'] },
  ),
  completions: fc.record({ text, column: number, frameId: number }, { requiredKeys: ['text', 'column'] }),
  setBreakpoints: fc.record({
    source: fc.record({ path }),
    breakpoints: fc.array(
      fc.record({
        line,
        condition,
        hitCondition: fc.constantFrom(undefined, '2', '% 2', 'often'),
        logMessage: fc.constantFrom(undefined, 'at {turn}'),
      }),
      { maxLength: 3 },
    ),
  }),
  setFunctionBreakpoints: fc.record({ breakpoints: fc.array(fc.record({ name, condition }), { maxLength: 3 }) }),
  setDataBreakpoints: fc.record({
    breakpoints: fc.array(
      fc.record({
        dataId: fc.constantFrom('["agent","orders","W1138"]', '[]', 'x'),
        accessType: fc.constantFrom('read', 'write', 'readWrite', undefined),
      }),
      { maxLength: 2 },
    ),
  }),
  setExceptionBreakpoints: fc.record({ filters: fc.subarray(['violation', 'toolError', 'reward0', 'x']) }),
  dataBreakpointInfo: fc.record({ name: text, variablesReference: number }, { requiredKeys: ['name'] }),
  breakpointLocations: fc.record({ source: fc.record({ path }), line, endLine: line }),
  exceptionInfo: fc.record({ threadId: number }),
  gotoTargets: fc.record({ source: fc.record({ path }), line }),
  goto: fc.record({ threadId: number, targetId: number }),
  stepInTargets: fc.record({ frameId: number }),
  'rehearsal/request': fc.record({ frameId: number, name }, { requiredKeys: [] }),
  restartFrame: fc.record({ frameId: number }),
  continue: fc.constant({ threadId: 1 }),
  next: fc.constant({ threadId: 1 }),
  stepIn: fc.record({ threadId: fc.constant(1), targetId: number }, { requiredKeys: ['threadId'] }),
  stepOut: fc.constant({ threadId: 1 }),
  stepBack: fc.constant({ threadId: 1 }),
  reverseContinue: fc.constant({ threadId: 1 }),
  pause: fc.constant({ threadId: 1 }),
};
const rare = [
  'terminate',
  'disconnect',
  'restart',
  'source',
  'cancel',
  'modules',
  'rehearsal/fly',
  '',
  '__proto__',
  'launch',
  'attach',
];

const until = fc.constantFrom('nothing' as const, 'answers' as const, 'stop' as const);
/** Requests that move a session are more frequent than those that only read. */
const moving = [
  'continue',
  'next',
  'stepIn',
  'stepOut',
  'stepBack',
  'reverseContinue',
  'goto',
  'restartFrame',
  'pause',
];
const changing = ['evaluate', 'setVariable', 'setExpression', 'variables', 'scopes', 'gotoTargets'];
const one = (weight: number, commands: readonly string[], args?: fc.Arbitrary<unknown>) => ({
  weight,
  arbitrary: fc
    .constantFrom(...commands)
    .chain((command) => fc.record({ command: fc.constant(command), args: args ?? sensible[command] ?? junk, until })),
});
const request: fc.Arbitrary<Sent> = fc.oneof(
  one(7, moving),
  one(5, changing),
  one(5, Object.keys(sensible)),
  one(1, Object.keys(sensible), junk),
  one(1, rare, junk),
);

const agent = fc.constantFrom('gold', 'scripted', 'human');
const task = fc.constantFrom(...Array<string>(9).fill('lamp-variant'), 'fly');
const user = fc.constantFrom('agenda', 'agenda', 'human');
const launch = fc.record({
  command: fc.constant('launch' as const),
  more: fc.record({
    task,
    agent,
    user,
    stopOnEntry: fc.boolean(),
    noDebug: fc.constantFrom(false, false, true),
    turnCap: fc.constantFrom(2, 4),
  }),
});
const attach = fc.record({ command: fc.constant('attach' as const), more: fc.record({ forkAgent: agent, user }) });
const starts = fc.oneof(
  { weight: 5, arbitrary: launch },
  { weight: 5, arbitrary: attach },
  { weight: 1, arbitrary: fc.constant(null) },
);
const sequence = fc.record({
  start: starts,
  isConfigured: fc.constantFrom(true, true, true, true, false),
  requests: fc.array(request, { minLength: 2, maxLength: 18, size: 'max' }),
});

test(`property: in ${sequences} sequences no request goes unanswered, and the session always ends`, async () => {
  const original = await recorded;
  const root = temporaryFolder('rehearsal-fuzz');
  const told: string[] = [];
  const log = console.error;
  console.error = (...words: unknown[]) => told.push(words.join(' '));
  try {
    await fc.assert(
      fc.asyncProperty(sequence, async ({ start, isConfigured, requests }) => {
        const folder = mkdtempSync(join(root, 'runs-'));
        const recording = join(folder, 'lamp-variant.0.traj.jsonl');
        for (const pathOf of [(each: string) => each, sidecarPath]) copyFileSync(pathOf(original), pathOf(recording));
        const client = new InProcessClient(engine);
        const answers = new Map<number, number>();
        client.onMessage = (message: Message) => {
          if (message.type !== 'response' || !('request_seq' in message)) return;
          answers.set(message.request_seq, (answers.get(message.request_seq) ?? 0) + 1);
        };
        const sent: Promise<unknown>[] = [];
        const send = (command: string, args: unknown) => {
          const answered = client.request(command, args as object);
          sent.push(answered);
          return answered;
        };
        if (start) {
          send('initialize', { adapterID: 'rehearsal' });
          const where = start.command === 'launch' ? { domain, runs: folder } : { domain, recording };
          const opening = send(start.command, { ...where, ...start.more });
          if (isConfigured) {
            await inTime(opening);
            send('configurationDone', {});
            await Promise.race([client.event('stopped'), client.event('terminated'), delay(shortMs)]);
          }
        }
        for (const { command, args, until: next } of requests) {
          const before = client.events.length;
          const answered = send(command, args);
          if (next !== 'nothing') await inTime(Promise.all(sent));
          const moves = next === 'stop' && moving.includes(command) && (await answered).success;
          if (moves) await Promise.race([client.event('stopped', before), client.event('terminated'), delay(shortMs)]);
        }
        await inTime(Promise.all(sent));
        await inTime(send('disconnect', {}));
        await inTime(send('threads', {}));
        expect([...answers.values()].filter((count) => count !== 1)).toEqual([]);
        expect(answers.size).toBe(sent.length);
        await inTime(Promise.allSettled(engine.live));
        expect(told).toEqual([]);
        rmSync(folder, { recursive: true, force: true });
      }),
      { numRuns: sequences },
    );
  } finally {
    console.error = log;
    rmSync(root, { recursive: true, force: true });
  }
}, 1_800_000);

async function inTime<T>(what: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${patienceMs} ms`)), patienceMs);
  try {
    return await Promise.race([what, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
