import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterAll, expect, test } from 'vitest';
import { filters } from '../../../src/cli/dap/breakpoints/exceptionFilters.ts';
import { capabilities } from '../../../src/cli/dap/capabilities.ts';
import type { Message } from '../../support/debugClient.ts';
import { InProcessClient, SharedEngine } from '../../support/inProcessClient.ts';
import { modelServer } from '../../support/modelServer.ts';
import { calling } from '../../support/scriptedModel.ts';
import { domain, lineOf, policy, ruleLine, type Session, session, tasks, tools } from './harness.ts';

// One transcript for each capability that the adapter announces: the client's messages and the answers, byte for byte.

const golden = join(import.meta.dirname, 'golden', 'capabilities');
const engine = new SharedEngine();
afterAll(() => engine.close());

type Body<Response extends { body?: unknown }> = NonNullable<Response['body']>;
type Frames = Body<DebugProtocol.StackTraceResponse>;

/** The requests and moves in a transcript. */
const ask = async <Of>(run: Session, name: string, args: object = {}) =>
  (await run.client.request<Of>(name, args)).body;
const move = (run: Session, name: string, args: object = {}) =>
  run.client.stop(() => run.client.request(name, { threadId: 1, ...args }));
/** Starts a session and waits for the launch's answer, because requests before it are answered in any order. */
async function opened(run: Session, client: object = {}): Promise<void> {
  await run.client.request('initialize', { adapterID: 'rehearsal', ...client });
  await ask(run, 'launch', { domain, runs: run.runs, task: 'lamp-variant' });
}
const atEntry = (run: Session, args: object = {}) => run.begin({ task: 'lamp-variant', stopOnEntry: true, ...args });
const atRule = (run: Session) => run.begin({ task: 'lamp-variant' }, { breakpoints: { [policy]: ruleLine() } });
const named = (run: Session, breakpoints: readonly object[]) => ask(run, 'setFunctionBreakpoints', { breakpoints });

const shown: Readonly<Record<keyof typeof capabilities, (run: Session) => Promise<unknown>>> = {
  supportsConfigurationDoneRequest: async (run) => {
    await opened(run);
    await move(run, 'configurationDone');
  },
  supportsStepBack: async (run) => {
    await atEntry(run);
    for (const name of ['stepIn', 'next', 'stepOut', 'stepBack', 'stepBack', 'reverseContinue']) await move(run, name);
  },
  supportsSetVariable: async (run) => {
    await atRule(run);
    await run.set(['Messages', '8 agent'], 'Shall I do that?');
    await run.set(['Rollout', 'seed'], '2');
  },
  supportsSetExpression: async (run) => {
    await atRule(run);
    const set = { expression: 'db.orders.W1138.status', value: 'shipped' };
    await move(run, 'setExpression', set);
    await ask(run, 'setExpression', { ...set, expression: 'turn' });
  },
  supportsRestartFrame: async (run) => {
    await atRule(run);
    const { stackFrames } = await ask<Frames>(run, 'stackTrace', { threadId: 1 });
    await move(run, 'restartFrame', { frameId: stackFrames.at(-1)?.id });
    await ask(run, 'restartFrame', { frameId: 1 });
  },
  supportsGotoTargetsRequest: async (run) => {
    await atRule(run);
    type Targets = Body<DebugProtocol.GotoTargetsResponse>;
    const { targets } = await ask<Targets>(run, 'gotoTargets', { source: { path: tasks }, line: 4 });
    for (const { id } of targets.slice(1, 3)) await move(run, 'goto', { targetId: id });
    await ask(run, 'goto', { threadId: 1, targetId: 99 });
  },
  supportsStepInTargetsRequest: async (run) => {
    const calls = calling(['get_order', { order_id: 'W1138' }], ['list_variants', { product: 'desk lamp' }]);
    const { url } = await modelServer((_, nth) => (nth === 1 ? calls : 'Anything else?'));
    await run.begin({ task: 'lamp-variant', agent: `openai:m@${url}`, stopOnEntry: true });
    await move(run, 'next');
    const { targets } = await ask<Body<DebugProtocol.StepInTargetsResponse>>(run, 'stepInTargets', { frameId: 4 });
    await move(run, 'stepIn', { targetId: targets[1]?.id });
  },
  supportsFunctionBreakpoints: async (run) => {
    await atEntry(run);
    await named(run, [{ name: 'tool:get_order' }, { name: 'turn:3' }, { name: 'tool:fly' }]);
    await move(run, 'continue');
    await move(run, 'continue');
  },
  supportsConditionalBreakpoints: async (run) => {
    await atEntry(run);
    const breakpoints = [
      { line: ruleLine(), condition: 'turn == 4' },
      { line: ruleLine(), condition: 'turn ==' },
    ];
    await ask(run, 'setBreakpoints', { source: { path: policy }, breakpoints });
    await move(run, 'continue');
  },
  supportsHitConditionalBreakpoints: async (run) => {
    await atEntry(run);
    await named(run, [
      { name: 'role:agent', hitCondition: '% 3' },
      { name: 'role:agent', hitCondition: 'often' },
    ]);
    await move(run, 'continue');
    await move(run, 'continue');
    // Hits are counted in the rollout, so the count is the same on the way back.
    await move(run, 'reverseContinue');
    await move(run, 'reverseContinue');
  },
  supportsLogPoints: async (run) => {
    await atEntry(run);
    const line = lineOf(tools, 'export const get_order');
    const breakpoints = [{ line, logMessage: 'looks up {event.call.arguments.order_id} in turn {turn}' }];
    await ask(run, 'setBreakpoints', { source: { path: tools }, breakpoints });
    await named(run, [{ name: 'turn:3' }]);
    await move(run, 'continue');
    // Nothing is logged on the way back. Going forward again logs the line again.
    await move(run, 'reverseContinue');
    await move(run, 'continue');
  },
  supportsDataBreakpoints: async (run) => {
    await atEntry(run, { agent: 'gold' });
    const info = { name: 'db.orders.W1138.payments', frameId: 1 };
    const { dataId } = await ask<Body<DebugProtocol.DataBreakpointInfoResponse>>(run, 'dataBreakpointInfo', info);
    const of = (accessType: string) => ask(run, 'setDataBreakpoints', { breakpoints: [{ dataId, accessType }] });
    await of('read');
    await move(run, 'continue');
    await of('write');
    await move(run, 'continue');
    await of('readWrite');
    await move(run, 'reverseContinue');
    await ask(run, 'dataBreakpointInfo', { name: 'turn' });
  },
  supportsBreakpointLocationsRequest: async (run) => {
    await atEntry(run);
    await ask(run, 'breakpointLocations', { source: { path: policy }, line: 1, endLine: 40 });
  },
  supportsExceptionInfoRequest: async (run) => {
    await run.begin({ task: 'lamp-variant' }, { filters: ['violation'] });
    await ask(run, 'exceptionInfo', { threadId: 1 });
  },
  exceptionBreakpointFilters: async (run) => {
    await atEntry(run);
    const names = filters.map(({ filter }) => filter);
    await ask(run, 'setExceptionBreakpoints', { filters: [...names, 'weather'] });
    for (let n = 0; n < 4; n += 1) await move(run, 'continue');
  },
  supportsEvaluateForHovers: async (run) => {
    await atEntry(run);
    for (const expression of ['db.orders.W1138.status', 'nothing'])
      await ask(run, 'evaluate', { expression, frameId: 1, context: 'hover' });
  },
  supportsCompletionsRequest: async (run) => {
    await atEntry(run);
    for (const text of ['db.orders.W1138.st', '/call get_o', '/call get_order {"'])
      await ask(run, 'completions', { frameId: 1, text, column: text.length + 1 });
  },
  completionTriggerCharacters: async (run) => {
    await atEntry(run);
    for (const text of ['/', 'db.']) await ask(run, 'completions', { frameId: 1, text, column: text.length + 1 });
  },
  supportsTerminateRequest: async (run) => {
    await atEntry(run);
    await ask(run, 'terminate');
    await ask(run, 'disconnect');
  },
  supportsANSIStyling: async (run) => {
    await opened(run, { supportsANSIStyling: true });
    await named(run, [{ name: 'turn:1' }]);
    await move(run, 'configurationDone');
  },
};

/** The capabilities that affect the start of a session. */
const whole: readonly string[] = ['supportsConfigurationDoneRequest', 'supportsANSIStyling'];

test.each(Object.keys(capabilities) as (keyof typeof capabilities)[])('%s has a transcript', async (name) => {
  const show = shown[name];
  expect(show, `${name} is announced without a transcript: add one`).toBeDefined();
  const run = session(new InProcessClient(engine));
  const transcript: string[] = [];
  run.client.onMessage = (message) => transcript.push(...lineOfMessage(message, run));
  await show(run);
  // Messages before the first stop are left out unless the capability affects them.
  const isWhole = whole.includes(name);
  const from = isWhole ? 0 : transcript.findIndex((line) => line.startsWith('** stopped')) + 1;
  const left = isWhole || name === 'supportsLogPoints' ? '' : '** output';
  const looks = /^(?:->|<-) (?:scopes|variables) /;
  const lines = transcript.slice(from).filter((line) => !looks.test(line) && (left === '' || !line.startsWith(left)));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(golden, `${name}.txt`));
});

test('every transcript is of something that is announced', () => {
  const names = readdirSync(golden).map((file) => file.replace(/\.txt$/, ''));
  expect(names.sort()).toEqual(Object.keys(capabilities).sort());
});

/** `->` is what the client sends, `<-` the answer, `**` an event. Folders and ports are those of this test. */
function lineOfMessage(message: Message, run: Session): readonly string[] {
  const of = (body: unknown) =>
    (JSON.stringify(body ?? {}) ?? '')
      .replaceAll(domain, 'DOMAIN')
      .replaceAll(run.runs, 'RUNS')
      .replaceAll(/"variablesReference":[1-9]\d*/g, '"variablesReference":"REFERENCE"')
      .replaceAll(/RUNS\/\d+-\d+-/g, 'RUNS/')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
  if (message.type === 'request') {
    const { command, arguments: args } = message as DebugProtocol.Request;
    return [`-> ${command} ${of(args)}`];
  }
  if (message.type === 'response') {
    const { command, success, body } = message as DebugProtocol.Response;
    if (command === 'initialize') return ['<- initialize'];
    return [
      `<- ${command} ${success ? of(body) : `refused: ${(body as { error: DebugProtocol.Message }).error.format}`}`,
    ];
  }
  const { event, body } = message as DebugProtocol.Event;
  if (event === 'output') return [`** output ${of((body as { output: string }).output)}`];
  return [`** ${event} ${of(body)}`];
}
