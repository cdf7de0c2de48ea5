import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Domain } from '../../../../src/engine/core/domain/domain.ts';
import { taskSchema } from '../../../../src/engine/core/domain/task.ts';
import type { Failure, RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { hashOf, openDatabase } from '../../../../src/engine/core/world/database.ts';
import { keptSecret } from '../../../../src/engine/shell/keys/secrets.ts';
import { startOf } from '../../../../src/engine/shell/start.ts';
import type { FromWorker, ToWorker } from '../../../../src/engine/shell/workers/workerMessage.ts';
import {
  startWorker,
  type WorkerOptions,
  type WorkerProcess,
} from '../../../../src/engine/shell/workers/workerProcess.ts';
import * as desk from '../../../support/desk.ts';
import { InspectorClient } from '../../../support/inspectorClient.ts';
import { inFullSuite, sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const root = realpathSync(temporaryFolder('workers'));
const workers: WorkerProcess[] = [];
afterEach(() => {
  for (const worker of workers.splice(0)) worker.kill();
});
afterAll(() => rmSync(root, { recursive: true }));

const head = `import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { chairs: Record<string, { colour: string }> } }>();
const input = z.object({ chair: z.string() });
`;

const world = { agent: { chairs: { A1: { colour: 'blue' }, B2: { colour: 'green' } } }, user: {} };

/** Starts a worker on a folder with these files, and keeps all its messages. */
function open(files: Record<string, string>, options: Partial<WorkerOptions> = {}) {
  const folder = mkdtempSync(join(root, 'domain-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const messages: FromWorker[] = [];
  let death: { failure: Failure; culprit: number | null } | null = null;
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const each of watchers) each();
  };
  const worker = startWorker(
    { folder, timeoutMs: 1000, ...options },
    {
      onMessage: (message) => {
        messages.push(message);
        changed();
      },
      onDeath: (end) => {
        death = end;
        changed();
      },
    },
  );
  workers.push(worker);
  /** Waits for the first message that `pick` accepts. */
  function until<T>(pick: () => T | undefined | null | false): Promise<T> {
    return new Promise((resolve) => {
      const look = () => {
        const found = pick();
        if (!found) return;
        watchers.delete(look);
        resolve(found);
      };
      watchers.add(look);
      look();
    });
  }
  const message = <Type extends FromWorker['type']>(type: Type) =>
    until(() => messages.find((each): each is Extract<FromWorker, { type: Type }> => each.type === type));
  const died = () => until(() => death);
  const events = (rollout: number): RolloutEvent[] =>
    messages.flatMap((each) =>
      each.type === 'events' && each.rollout === rollout ? each.events.map(({ event }) => event) : [],
    );
  const logs = () => messages.flatMap((each) => (each.type === 'log' ? [each.text] : []));
  return { folder, worker, messages, until, message, died, events, logs, send: (to: ToWorker) => worker.send(to) };
}

/** A worker that is ready to serve rollouts whose scripted agent makes the given calls. */
async function ready(code: string, calls: readonly string[], options: Partial<WorkerOptions> = {}) {
  const opened = open({ 'tools.ts': head + code }, options);
  const described = await Promise.race([
    opened.message('described'),
    opened.message('notDescribed').then((each) => Promise.reject(new Error(each.failure.message))),
  ]);
  const tasks = calls.map((name) =>
    taskSchema.parse({
      ...desk.task,
      id: name,
      script: [[{ tool: name, arguments: { chair: 'A1' } }], 'Done.'],
      actions: [],
    }),
  );
  const domain: Domain = { ...desk.domain, tools: described.tools, rules: [], tasks };
  const places = Object.fromEntries(calls.map((name, nth) => [name, { file: 'tools.ts', line: 5 + nth }]));
  opened.send({ type: 'prepare', domain, world, places });
  await opened.message('prepared');
  const start = (rollout: number, task: string, more: Partial<Extract<ToWorker, { type: 'start' }>> = {}) => {
    const found = tasks.find(({ id }) => id === task);
    if (!found) throw new Error(task);
    const from = startOf(domain, hashOf(openDatabase(world.agent)), found, {
      seed: '7',
      trial: 0,
      basis: 'evaluate',
      agent: { type: 'scripted' },
      user: { type: 'agenda' },
    } as Parameters<typeof startOf>[3]);
    opened.send({
      type: 'start',
      rollout,
      task,
      from,
      known: 0,
      seats: { agent: 'scripted', user: 'agenda' },
      pace: 'run',
      ...more,
    });
  };
  const closed = (rollout: number) =>
    opened.until(() => opened.messages.find((each) => each.type === 'closed' && each.rollout === rollout));
  const result = (rollout: number) => {
    const event = opened.events(rollout).find(({ type }) => type === 'toolReturned');
    return event?.type === 'toolReturned' ? event.content : undefined;
  };
  return { ...opened, start, closed, result, tasks };
}

type Ready = Awaited<ReturnType<typeof ready>>;

/** Starts a worker that all tests of a group share. Each test has its own rollouts. */
function shared(code: string, calls: readonly string[]): () => Ready {
  let opened: Ready | undefined;
  beforeAll(async () => {
    opened = await ready(code, calls);
    workers.splice(workers.indexOf(opened.worker), 1);
  });
  afterAll(() => opened?.worker.kill());
  return () => {
    if (!opened) throw new Error('no worker was opened');
    return opened;
  };
}

const paint = `export const paint = tool({ description: 'Paint.', effect: 'write', input, run: ({ chair }, { db }) => { db.chairs[chair]!.colour = 'red'; } });\n`;
const loop = `export const loop = tool({
  description: 'Never ends.', effect: 'read', input, run: () => { for (;;) {} } });\n`;

describe('a worker that works', () => {
  const opened = shared(paint, ['paint']);

  test('folds a rollout and reports its writes, event by event', async () => {
    const worker = opened();
    worker.start(1, 'paint');
    await worker.closed(1);
    const types = worker.events(1).map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(['rolloutStarted', 'worldPrepared', 'userReplied']);
    expect(types).toContain('databaseWritten');
    expect(types.at(-1)).toBe('rolloutEnded');
    const written = worker.events(1).find((event) => event.type === 'databaseWritten');
    expect(written).toMatchObject({
      writes: [
        { side: 'agent', patches: [{ op: 'replace', path: ['chairs', 'A1', 'colour'], value: 'red', old: 'blue' }] },
      ],
    });
  });

  test('gives the same bytes for the same start, independent of other rollouts', async () => {
    const worker = opened();
    const rollouts = Array.from({ length: 20 }, (_, index) => 101 + index);
    for (const rollout of rollouts) worker.start(rollout, 'paint');
    await Promise.all(rollouts.map(worker.closed));
    const texts = rollouts.map((rollout) => JSON.stringify(worker.events(rollout)));
    expect(new Set(texts).size).toBe(1);
  });

  test('takes one step at a time when asked to, and stops when cancelled', async () => {
    const worker = opened();
    worker.start(201, 'paint', { pace: 'step' });
    for (let count = 1; count <= 4; count++) {
      worker.send({ type: 'step', rollout: 201 });
      await worker.until(() => worker.events(201).length === count);
    }
    worker.send({ type: 'cancel', rollout: 201 });
    await worker.closed(201);
    const end = worker.events(201).find(({ type }) => type === 'rolloutEnded');
    expect(end).toMatchObject({ reason: 'cancelled' });
  });

  test('asks for external answers, and continues with the answer or ends with the refusal', async () => {
    const worker = opened();
    worker.start(301, 'paint', { seats: { agent: 'remote', user: 'agenda' } });
    const question = await worker.message('question');
    expect(question).toMatchObject({ rollout: 301, about: { type: 'agent' } });
    expect(worker.events(301).at(-1)).toMatchObject({ type: 'userReplied' });
    worker.send({ type: 'answer', question: question.question, value: { content: 'Good day.', toolCalls: [] } });
    const second = await worker.until(() =>
      worker.messages.find((each) => each.type === 'question' && each.question !== question.question && each),
    );
    if (second.type !== 'question') throw new Error('a question');
    const failure: Failure = { who: 'infrastructure', code: 'model/unreachable', message: 'the model does not answer' };
    worker.send({ type: 'refusal', question: second.question, reason: 'infrastructureFailed', failure });
    await worker.closed(301);
    expect(worker.events(301).find(({ type }) => type === 'rolloutEnded')).toMatchObject({
      reason: 'infrastructureFailed',
      failure,
    });
  });

  test('continues from events without sending them again', async () => {
    const worker = opened();
    worker.start(401, 'paint');
    await worker.closed(401);
    const events = worker.events(401);
    worker.start(402, 'paint', { from: events.slice(0, 4), known: 4 });
    await worker.closed(402);
    expect(worker.events(402)).toEqual(events.slice(4));
  });

  test('prints to the log and never into the channel', async () => {
    const code = `console.log('at load');\nexport const chat = tool({ description: 'x', effect: 'read', input, run: (_, { db }) => {
      console.log('{"type":"closed"}', db.chairs); process.stdout.write('m\\t{}\\n'); return 'said'; } });`;
    const worker = await ready(code, ['chat']);
    worker.start(1, 'chat');
    await worker.closed(1);
    await worker.until(() => worker.logs().includes('m\t{}'));
    expect(worker.result(1)).toBe('said');
    expect(worker.logs()).toContain('at load');
    expect(worker.messages).toContainEqual({
      type: 'log',
      rollout: 1,
      text: expect.stringContaining("A1: { colour: 'blue' }"),
    });
  });
});

describe('a worker that dies names the rollout, the tool and its line, and keeps what came before', () => {
  const cases: [string, string, string, Partial<WorkerOptions>, Partial<Failure>][] = [
    [
      'an endless loop',
      loop,
      'loop',
      { timeoutMs: 300 },
      {
        code: 'tool/hung',
        message:
          'the tool loop did not return within 300 ms and was stopped; look for an endless loop, or declare a longer timeoutMs',
        line: 5,
      },
    ],
    [
      'a time-out of the tool itself',
      loop.replace("description: 'Never ends.'", "timeoutMs: 200, description: ''"),
      'loop',
      { timeoutMs: 60_000 },
      { code: 'tool/hung', message: expect.stringContaining('within 200 ms'), line: 5 },
    ],
    [
      'memory',
      `export const eat = tool({ description: 'x', effect: 'read', input, run: () => { const hoard = []; for (;;) hoard.push(new Array(1000).fill(0)); } });`,
      'eat',
      { heapMb: 64, timeoutMs: 60_000 },
      {
        code: 'worker/memory',
        message: 'the tool eat needed more than the 64 MB of memory that a worker has',
        line: 5,
      },
    ],
    [
      'process.exit',
      `export const leave = tool({ description: 'x', effect: 'read', input,\n  run: () => process.exit(3) });`,
      'leave',
      {},
      { code: 'worker/exited', message: 'the tool leave called process.exit(3)', line: 6 },
    ],
    [
      'an exception that cannot be caught',
      `export const later = tool({ description: 'x', effect: 'read', input, run: () => new Promise(() => {\n  setTimeout(() => { throw new Error('too late'); }, 1); }) });`,
      'later',
      {},
      { code: 'worker/exited', message: 'the tool later threw an uncaught error: too late', line: 6 },
    ],
    [
      'an abort',
      `export const stop = tool({ description: 'x', effect: 'read', input, run: () => process.abort() });`,
      'stop',
      {},
      {
        code: 'worker/exited',
        message: expect.stringContaining('the process that runs the tool stop ended with signal'),
        line: 5,
      },
    ],
  ];
  test.each(sampled(cases, 2))('%s', async (_, code, task, options, failure) => {
    const worker = await ready(code + paint, [task, 'paint'], options);
    worker.start(1, 'paint');
    worker.start(2, task);
    const death = await worker.died();
    expect(death).toMatchObject({
      culprit: 2,
      failure: { who: 'environment', file: join(worker.folder, 'tools.ts'), ...failure },
    });
    expect(worker.events(2).at(-1)).toMatchObject({ type: 'toolCalled' });
  });

  test('a promise that never settles ends its rollout and not the worker', async () => {
    const code = `export const wait = tool({ description: 'x', effect: 'read', input, run: () => new Promise(() => {}) });`;
    const worker = await ready(code, ['wait'], { timeoutMs: 200 });
    worker.start(1, 'wait');
    await worker.closed(1);
    expect(worker.events(1).find(({ type }) => type === 'rolloutEnded')).toMatchObject({
      reason: 'environmentFailed',
      failure: {
        code: 'tool/hung',
        message: expect.stringContaining('the tool wait gave no result within 200 ms'),
        file: 'tools.ts',
        line: 5,
      },
    });
  });
});

describe('the limits of domain code', () => {
  const attempts: Readonly<Record<string, string>> = {
    read: `return readFileSync(${JSON.stringify(join(root, 'secret'))}, 'utf8');`,
    write: `return writeFileSync('x', 'y');`,
    spawn: `const { error } = spawnSync('/bin/true'); if (error) throw error; return 'started';`,
    own: `return readFileSync('tools.ts', 'utf8').slice(0, 6);`,
    surroundings: `return [Object.keys(process.env).sort(), new Date(0).getTimezoneOffset()];`,
  };
  const names = Object.keys(attempts);
  const code = Object.entries(attempts).map(
    ([name, body]) =>
      `export const ${name} = tool({ description: 'x', effect: 'read', input, run: () => { ${body} } });\n`,
  );
  const opened = shared(
    `import { readFileSync, writeFileSync } from 'node:fs';\nimport { spawnSync } from 'node:child_process';\n${code.join('')}`,
    names,
  );

  test.each([
    ['reading outside of the folder', 'read'],
    ['writing', 'write'],
    ['starting a process', 'spawn'],
  ])('%s is refused', async (_, name) => {
    writeFileSync(join(root, 'secret'), 'secret');
    const worker = opened();
    const rollout = 1 + names.indexOf(name);
    worker.start(rollout, name);
    await worker.closed(rollout);
    expect(worker.result(rollout)).toBe(
      "Error: access denied: a domain's code can only read its own folder: it cannot read other files, write files or start processes",
    );
    expect(worker.logs().join('\n')).toContain(`${worker.folder}/tools.ts:${6 + rollout}:`);
  });

  test('reading its own folder works, also through a linked folder', async () => {
    const worker = opened();
    worker.start(11, 'own');
    await worker.closed(11);
    expect(worker.result(11)).toBe('import');
    const link = join(root, `link-${Date.now()}`);
    symlinkSync(worker.folder, link);
    const linked = open({}, { folder: link });
    expect((await linked.message('described')).tools.map(({ name }) => name).sort()).toEqual(names.toSorted());
  });

  test('the environment and the time zone are the same everywhere', async () => {
    const worker = opened();
    worker.start(12, 'surroundings');
    await worker.closed(12);
    expect(worker.result(12)).toBe('[["MALLOC_ARENA_MAX","TZ"],0]');
  });
});

describe('results of a call', () => {
  const cases: [string, string, string][] = [
    ['text', `return 'hello';`, 'hello'],
    ['data', `return db.chairs[chair];`, '{"colour":"blue"}'],
    ['nothing', '', 'ok'],
    ['a refusal', `throw new ToolError('not today');`, 'Error: not today'],
    [
      'an exception',
      `return (undefined as never as string).length;`,
      "Error: Cannot read properties of undefined (reading 'length')",
    ],
    ['an async result', `return Promise.resolve(7);`, '7'],
    [
      'a write by a read tool',
      `db.chairs[chair]!.colour = 'red';`,
      'Error: a read tool may not write: it tried to change chairs.A1.colour. Declare its effect as write',
    ],
    [
      'what JSON can not hold',
      `return 1n as never;`,
      'Error: TOOL returned a value that cannot be converted to JSON: Do not know how to serialize a BigInt',
    ],
    ['a new id', `return id('W') === id('W');`, 'false'],
  ];
  const said = cases.map(([, body], at) => {
    const run = `({ chair }, { db, id }) => { ${body} }`;
    return `export const say_${at} = tool({ description: 'x', effect: 'read', input, run: ${run} });\n`;
  });
  const failing = `export const half = tool({ description: 'x', effect: 'write', input, run: ({ chair }, { db }) => { db.chairs[chair]!.colour = 'x'; throw new ToolError('no'); } });
export const bad = tool({ description: 'x', effect: 'write', input, run: ({ chair }, { db }) => { db.chairs[chair]!.colour = new Date(0) as never; } });
export const strict = tool({ description: 'x', effect: 'read', input: z.object({ chair: z.number() }), run: () => 'reached' });`;
  const opened = shared(said.join('') + failing, [...cases.map((_, at) => `say_${at}`), 'half', 'bad', 'strict']);

  test.each(cases.map(([what, , expected], at) => [what, `say_${at}`, expected, 1 + at] as const))(
    '%s',
    async (_, name, expected, rollout) => {
      const worker = opened();
      worker.start(rollout, name);
      await worker.closed(rollout);
      expect(worker.result(rollout)).toBe(expected.replace('TOOL', name));
    },
  );

  test('a failed write leaves no trace', async () => {
    const worker = opened();
    worker.start(101, 'half');
    worker.start(102, 'bad');
    await Promise.all([worker.closed(101), worker.closed(102)]);
    for (const rollout of [101, 102])
      expect(worker.events(rollout).some(({ type }) => type === 'databaseWritten')).toBe(false);
    expect(worker.result(102)).toMatch(/^Error: chairs\.A1\.colour was given a Date/);
  });

  test('arguments that do not fit are answered and never reach the tool', async () => {
    const worker = opened();
    worker.start(201, 'strict');
    await worker.closed(201);
    expect(worker.result(201)).toMatch(/^Error: the arguments of strict do not fit: chair: /);
  });
});

describe('code that cannot be loaded', () => {
  const cases: [string, Record<string, string>, string, number][] = [
    [
      'an enum',
      { 'tools.ts': 'const one = 1;\n\n  enum Status { Open }\n' },
      "tools.ts:3:3: an enum is not erasable: a domain's TypeScript runs with its types stripped and nothing else changed. Use a union of string literals, or an object with `as const`.",
      3,
    ],
    [
      'a parameter property',
      { 'tools.ts': 'class A {\n  constructor(private x: number) {}\n}\n' },
      'tools.ts:2:23: a parameter property is not erasable: ',
      2,
    ],
    [
      'an enum in another file',
      { 'tools.ts': "import './more.ts';\n", 'more.ts': 'export enum E { A }\n' },
      'more.ts:1:8: an enum is not erasable',
      1,
    ],
    ['broken syntax', { 'tools.ts': 'const a = ;\n' }, 'tools.ts:1:11: Expression expected', 1],
    [
      'a bracket that is not closed',
      { 'tools.ts': 'const a = [\n  1,\n  2\n\n' },
      "tools.ts:3:4: Expected ',', got the end of the file",
      3,
    ],
    [
      'a value that is missing at the end',
      { 'tools.ts': 'export const a = 1;\nexport const x = \n' },
      'tools.ts:2:17: Expression expected',
      2,
    ],
    [
      'a name twice',
      { 'tools.ts': 'export const a: number = 1;\nexport const b = 2;\nexport const a = 3;\n' },
      "tools.ts:3:14: Identifier 'a' has already been declared",
      3,
    ],
    [
      'a package',
      { 'tools.ts': "\nimport x from 'lodash';\n" },
      'tools.ts:2: can\'t import "lodash". A domain has no node_modules; it can import zod, rehearsal and files of its own folder.',
      2,
    ],
    [
      'the inspector',
      { 'tools.ts': "import { open } from 'node:inspector';\n" },
      'tools.ts:1: can\'t import "node:inspector". The inspector would bypass the permissions of the code.',
      1,
    ],
    [
      'a missing file',
      { 'tools.ts': "import './gone.ts';\n" },
      'tools.ts:1: can\'t import "./gone.ts": there is no such file',
      1,
    ],
    [
      'a file outside',
      { 'tools.ts': "import '../secret.ts';\n" },
      'tools.ts:1: can\'t import "../secret.ts": it is outside of the domain\'s folder',
      1,
    ],
    [
      'an exception at load',
      { 'tools.ts': "const a: number = 1;\n  throw new Error('not now');\n" },
      'tools.ts:2:9: not now',
      2,
    ],
    [
      'a missing export',
      {
        'tools.ts': "import { gone } from './more.ts';\nexport const a = gone;\n",
        'more.ts': 'export const here = 1;\n',
      },
      "tools.ts:1:1: The requested module './more.ts' does not provide an export named 'gone'",
      1,
    ],
  ];
  test.each(sampled(cases, 4))('%s', async (_, files, message, line) => {
    const worker = open(files);
    const { failure } = await worker.message('notDescribed');
    expect(failure.message).toContain(message);
    expect(failure).toMatchObject({ who: 'environment', code: 'tool/code', line });
  });

  test('a domain without code has no tools', async () => {
    expect((await open({}).message('described')).tools).toEqual([]);
  });

  test('imports without an extension and of JavaScript work', async () => {
    const worker = open({
      'tools.ts': `${head}import { one } from './more';\nimport { two } from './plain.js';\nexport const sum = tool({ description: String(one + two), effect: 'read', input, run: () => 'x' });`,
      'more.ts': 'export const one: number = 1;',
      'plain.js': 'export const two = 2;',
    });
    expect((await worker.message('described')).tools).toMatchObject([{ name: 'sum', description: '3' }]);
  });

  test('an endless loop at load is stopped', async () => {
    const worker = open({ 'tools.ts': 'for (;;) {}\n' }, { silenceMs: 1500 });
    expect((await worker.died()).failure).toMatchObject({
      code: 'tool/hung',
      message: expect.stringMatching(
        /^the domain's code did not return within 1500 ms of processor time .* or declare a longer toolTimeoutMs/,
      ),
    });
  });
});

describe('under a debugger', () => {
  // Both return when the file exists that `go` writes, long after their time limit.
  const slow = `export const slow = tool({ description: 'x', effect: 'read', input, run: () => { while (!process.getBuiltinModule('node:fs').existsSync('go')); return 'done'; } });
export const late = tool({ description: 'x', effect: 'read', input, run: async () => { while (!process.getBuiltinModule('node:fs').existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20)); return 'done'; } });`;
  const go = ({ folder }: { readonly folder: string }) => writeFileSync(join(folder, 'go'), '');

  /** Waits until a call in another worker was stopped at the time limit. */
  async function limitToPass() {
    const other = await ready(loop, ['loop'], { timeoutMs });
    other.start(1, 'loop');
    await other.died();
  }

  const timeoutMs = 100;

  async function inspected() {
    const worker = await ready(slow, ['slow', 'late'], { inspectable: true, timeoutMs });
    const opened = await worker.worker.inspect();
    if (typeof opened === 'string') throw new Error(opened);
    return { worker, ...opened };
  }

  test('the worker waits for a debugger, and calls do not time out while the inspector is open', async () => {
    const { worker, url, attached } = await inspected();
    expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]{36}$/);
    worker.start(1, 'slow');
    worker.start(2, 'late');
    let isThere = false;
    void attached.then(() => {
      isThere = true;
    });
    await limitToPass();
    expect([isThere, worker.worker.isInspected]).toEqual([false, true]);
    const client = await InspectorClient.connect(url);
    await client.attach();
    await attached;
    await limitToPass();
    go(worker);
    await Promise.all([worker.closed(1), worker.closed(2)]);
    expect([worker.result(1), worker.result(2)]).toEqual(['done', 'done']);
  });

  inFullSuite('a closed inspector is gone, and calls time out again', async () => {
    const { worker, url, attached } = await inspected();
    const client = await InspectorClient.connect(url);
    await client.attach();
    await attached;
    worker.worker.uninspect();
    await client.closed;
    await expect(InspectorClient.connect(url)).rejects.toThrow('no inspector');
    worker.start(1, 'slow');
    expect((await worker.died()).failure).toMatchObject({ code: 'tool/hung' });
    expect(worker.worker.isInspected).toBe(false);
  });

  test('it stops on the first line of the requested call, and in no other call', async () => {
    const { worker, url, attached } = await inspected();
    const client = await InspectorClient.connect(url);
    await client.attach();
    await attached;
    worker.worker.send({ type: 'stopInside', rollout: 1 });
    worker.start(1, 'slow');
    const { file, line, frames } = await client.paused();
    expect([file, line, frames[0]?.functionName]).toEqual([expect.stringMatching(/^file:.*tools\.ts$/), 5, 'run']);
    await limitToPass();
    go(worker);
    await client.send('Debugger.resume');
    await worker.closed(1);
    worker.start(2, 'late');
    await worker.closed(2);
    expect([worker.result(1), worker.result(2)]).toEqual(['done', 'done']);
  });

  inFullSuite('a debugger that has left is not waited for', async () => {
    const { worker, url, attached } = await inspected();
    const client = await InspectorClient.connect(url);
    await client.attach();
    await attached;
    client.close();
    await client.closed;
    worker.worker.send({ type: 'stopInside', rollout: 1 });
    worker.start(1, 'slow');
    go(worker);
    await worker.closed(1);
    expect(worker.result(1)).toBe('done');
  });

  test('a worker that was not started for a debugger has no inspector', async () => {
    expect(await (await ready(slow, ['slow'], {})).worker.inspect()).toContain('without an inspector');
  });

  test("the domain's own code cannot reach the inspector", async () => {
    const body =
      "export const peek = tool({ description: 'x', effect: 'read', input, run: () => String(process.getBuiltinModule('node:inspector')) });";
    const worker = await ready(body, ['peek'], { inspectable: true });
    worker.start(1, 'peek');
    await worker.closed(1);
    expect(worker.result(1)).toBe('undefined');
  });

  inFullSuite('permissions stay', async () => {
    const body =
      "export const peek = tool({ description: 'x', effect: 'read', input, run: () => readFileSync('/etc/hosts', 'utf8') });";
    const worker = await ready(`import { readFileSync } from 'node:fs';\n${body}`, ['peek'], { inspectable: true });
    worker.start(1, 'peek');
    await worker.closed(1);
    expect(worker.result(1)).toContain('access denied');
  });
});

test('a key that is cut off is not in what a worker printed last', async () => {
  const key = keptSecret('KEY', 'key-0123456789abcdef');
  const text = JSON.stringify(`${key}${'x'.repeat(19_990)}`);
  const code = `process.getBuiltinModule('node:fs').writeSync(2, ${text}); process.reallyExit(3);`;
  const { failure } = await open({ 'tools.ts': code }).died();
  expect(failure.message).toMatch(/: [^0-9]*x+$/);
});

test('a missing runtime is reported', async () => {
  mkdirSync(join(root, 'empty'), { recursive: true });
  const worker = open({}, { nodePath: join(root, 'no-such-node') });
  expect((await worker.died()).failure).toMatchObject({
    who: 'infrastructure',
    code: 'worker/start',
    message: expect.stringContaining('no-such-node'),
  });
});
