import { appendFileSync, cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Debuggee } from '../../../src/cli/dap/rollout/debuggee.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { readRun } from '../../../src/engine/shell/records/runRecord.ts';
import { InProcessClient } from '../../support/inProcessClient.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';
import { domain, policy, reason, ruleLine, Session, sharedSession as session, sharedEngine, text } from './harness.ts';

/** A recording of the sample failure, created once. */
const recorded = (async () => {
  const run = new Session(new InProcessClient(sharedEngine));
  await run.begin({ task: 'lamp-variant', noDebug: true });
  run.close();
  const [recording = ''] = run.recordings();
  return readFileSync(recording, 'utf8');
})();

async function recording(change: (lines: readonly string[]) => readonly string[] = (lines) => lines): Promise<string> {
  const path = join(temporaryFolder('rehearsal-recording'), 'lamp-variant.0.traj.jsonl');
  writeFileSync(path, `${change((await recorded).trim().split('\n')).join('\n')}\n`);
  return path;
}

const better = 'Shall I change the desk lamp in W1138 to white? It can be changed only once.';

test('a recording is stepped through without a call, and forks', async () => {
  const run = session();
  const path = await recording();
  const before = readFileSync(path, 'utf8');
  const { stop } = await run.begin({ recording: path }, { breakpoints: { [policy]: ruleLine() } });
  expect(stop.body).toMatchObject({ reason: 'entry' });
  expect(text(await run.step('continue'))).toMatch(/called before anything was proposed/);
  expect(text(await run.step('continue'))).toMatch(/^rule confirm-before-write violated/);
  expect(text(await run.step('continue'))).toMatch(/^reward 0/);
  await run.step('reverseContinue');
  expect(text(await run.step('reverseContinue'))).toMatch(/called before anything was proposed/);
  await run.step('stepBack');
  expect(await run.rewrite(better)).toMatch(/^forked: continues from the edited message$/);
  expect(await run.finish()).toMatch(/^reward 1/);
  expect(readFileSync(path, 'utf8')).toBe(before);
});

test('a session on a recording begins at the given step, and moves in both directions', async () => {
  const run = session();
  const { stop } = await run.begin({ recording: await recording(), step: 16 });
  expect([stop.body.reason, text(stop)]).toEqual(['entry', 'step 16 of the recording']);
  expect(await run.top()).toMatch(/before change_item: confirm-before-write, change-once violated/);
  await run.step('stepBack');
  expect(await run.top()).toMatch(/agent calls change_item/);
  for (const _ of [1, 2]) await run.step('stepIn');
  expect(await run.top()).toMatch(/^tools\.ts:\d+ change_item/);
  expect(await run.finish()).toMatch(/^reward 0/);
});

test('a step that the recording does not have becomes its last one, which is reported', async () => {
  const run = session();
  const { stop } = await run.begin({ recording: await recording((lines) => lines.slice(0, 8)), step: 99 });
  expect(text(stop)).toBe('step 7 of the recording');
  await run.shows('there is no step 99: the last one is step 7');
});

test.each([
  ['continue', 14],
  ['reverseContinue', 30],
])('a %s that a condition keeps busy can be paused', async (movement, step) => {
  const run = session();
  await run.begin({ recording: await recording(), step });
  // Every level iterates over all messages again.
  const condition = Array.from({ length: 5 }).reduce<string>((inner) => `count(messages, ${inner}) > 999`, 'true');
  await run.client.request('setFunctionBreakpoints', {
    breakpoints: ['role:agent', 'role:user', 'tool:change_item', 'rule:confirm-before-write'].map((name) => ({
      name,
      condition,
    })),
  });
  const stop = await run.client.stop(() => {
    void run.client.request(movement, { threadId: 1 });
    return run.client.request('pause', { threadId: 1 });
  });
  expect(reason(stop)).toBe('pause');
});

/** A finished run on the disk, created on first use. */
let finished: Promise<string> | undefined;
async function finishedRun(): Promise<string> {
  const folder = join(temporaryFolder('rehearsal-finished'), 'run');
  await rehearsal('run', domain, 'lamp-variant', '--out', folder);
  return folder;
}

/** Forks the recording of a copy of a finished run. The session is stopped right after the fork's edit. */
async function forkedRun(change: (folder: string) => void = () => undefined) {
  finished ??= finishedRun();
  const folder = join(temporaryFolder('rehearsal-forked'), 'run');
  cpSync(await finished, folder, { recursive: true });
  change(folder);
  const run = session();
  await run.begin({ recording: join(folder, 'lamp-variant.0.traj.jsonl') }, { breakpoints: { [policy]: ruleLine() } });
  await run.step('continue');
  await run.step('stepBack');
  await run.rewrite(better);
  return { folder, run };
}

test('a finished fork of a recording has its receipt in the ledger of the run, and is not a trial of it', async () => {
  const { folder, run } = await forkedRun();
  expect(await rehearsal('verify', folder)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/fork-1\.traj\.jsonl:\d+: has no receipt: the rollout is unfinished/),
  });
  expect(await run.finish()).toMatch(/^reward 1/);
  await vi.waitFor(async () => expect((await rehearsal('verify', folder)).code).toBe(0), { timeout: 240_000 });
  expect((await rehearsal('verify', folder)).out).toBe('2 recordings verified\n');
  expect(readRun(folder)).toMatchObject({
    rollouts: [{ reward: 0 }],
    forks: ['lamp-variant.0.fork-1.traj.jsonl'],
    unfinished: [],
  });
  appendFileSync(join(folder, 'lamp-variant.0.fork-1.traj.jsonl'), '\n{}\n');
  expect((await rehearsal('verify', folder)).code).toBe(1);
});

const obstacles: readonly {
  readonly name: string;
  readonly change: (folder: string) => void;
  readonly message: RegExp;
}[] = [
  {
    name: 'that is not a run',
    change: (folder) => rmSync(join(folder, 'run.json')),
    message: /is not a run: \S+run\.json is missing/,
  },
  {
    name: 'of another signer',
    change: (folder) => {
      const file = join(folder, 'run.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/"publicKey": "[^"]+"/, '"publicKey": "else"'));
    },
    message: /are signed with another key than yours/,
  },
  {
    name: 'whose ledger can not be written',
    change: (folder) => {
      rmSync(join(folder, 'ledger.jsonl'));
      symlinkSync('/proc/version', join(folder, 'ledger.jsonl'));
    },
    message: /ledger\.jsonl: is a symbolic link, and nothing is written through it/,
  },
];

test.each(obstacles)(
  'a fork in a folder $name gets no receipt, which is reported',
  async ({ change, message }) => {
    const { run } = await forkedRun(change);
    expect(await run.finish()).toMatch(/^reward 1/);
    await run.shows(/lamp-variant\.0\.fork-1\.traj\.jsonl gets no receipt: /);
    expect(run.client.output).toMatch(message);
  },
  60_000,
);

test('a recording that was cut short is shown as far as it goes', async () => {
  const run = session();
  const path = await recording((lines) => lines.slice(0, 12));
  appendFileSync(path, '{"n":12,"event":{"type":"too');
  await run.begin({ recording: path });
  expect(run.client.output).toMatch(/:13: has no end: the file was cut short here/);
  expect(text(await run.step('continue'))).toBe('the end of the recording');
});

test('a recording whose events can not follow each other is shown as far as they do', async () => {
  const run = session();
  const path = await recording((lines) => [...lines.slice(0, 3), ...lines.slice(4)]);
  await run.begin({ recording: path });
  expect(run.client.output).toMatch(/:4: event 4 is in the place of event 3/);
});

test('replay names the line of an event that can not follow', async () => {
  const path = await recording((lines) => {
    const result = lines.findIndex((line) => line.includes('"toolReturned"'));
    return [...lines.slice(0, 3), lines[result] ?? ''];
  });
  expect(await rehearsal('replay', path, '--domain', domain, '--quiet')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/:\d+: event \d+ \(toolReturned\) can't follow here: no call is under way/),
  });
});

test.each([
  { name: 'another database', from: '"database":"', to: '"database":"0', message: /was recorded on another database/ },
  {
    name: 'another domain',
    from: '"name":"order-desk"',
    to: '"name":"pet-desk"',
    message: /was recorded in the domain "pet-desk"/,
  },
])('a recording over $name is refused', async ({ from, to, message }) => {
  const run = session();
  const path = await recording(([first = '', ...rest]) => [first.replace(from, to), ...rest]);
  const { opening } = await run.open({ recording: path });
  expect(await opening).toMatchObject({ success: false, body: { error: { format: expect.stringMatching(message) } } });
});

test('property: a step back undoes a step, and a place has one state', async () => {
  const debuggee = new Debuggee({
    domain: loadDomain(domain),
    agent: { type: 'scripted' },
    user: { type: 'agenda' },
    forkAgent: { type: 'gold' },
    readKey: () => undefined,
    askPerson: () => Promise.reject(new Error('no person is asked')),
    log: (line) => expect.unreachable(line),
  });
  debuggee.attach(await recording());
  const places = [...debuggee.steps];
  const moves = fc.array(fc.constantFrom('forward' as const, 'back' as const), { maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(moves, async (walk) => {
      for (const move of walk) {
        const before = debuggee.cursor;
        const isMoved = await debuggee[move]();
        expect(debuggee.current).toBe(places[debuggee.cursor]);
        expect(debuggee.cursor).toBe(isMoved ? before + (move === 'forward' ? 1 : -1) : before);
        if (move === 'forward' && isMoved) {
          debuggee.back();
          expect(debuggee.cursor).toBe(before);
          await debuggee.forward();
        }
      }
    }),
  );
});
