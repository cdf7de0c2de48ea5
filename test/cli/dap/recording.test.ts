import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Debuggee } from '../../../src/cli/dap/debuggee.ts';
import { loadDomain } from '../../../src/engine/shell/load/loadDomain.ts';
import { domain, policy, ruleLine, session, text } from './harness.ts';

/** A recording of the well-known failure, made once. */
const recorded = (async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', noDebug: true });
  const [recording = ''] = run.recordings();
  return readFileSync(recording, 'utf8');
})();

async function recording(change: (lines: readonly string[]) => readonly string[] = (lines) => lines): Promise<string> {
  const path = join(mkdtempSync(join(tmpdir(), 'rehearsal-recording-')), 'lamp-variant.0.traj.jsonl');
  writeFileSync(path, `${change((await recorded).trim().split('\n')).join('\n')}\n`);
  return path;
}

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
  expect(await run.rewrite('Shall I change the desk lamp in W1138 to white? It can be changed only once.')).toMatch(
    /^forked: goes on from the edited message$/,
  );
  expect(await run.finish()).toMatch(/^reward 1/);
  expect(readFileSync(path, 'utf8')).toBe(before);
});

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
  expect(run.client.output).toMatch(/:4: event 4 stands where event 3 belongs/);
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
    askPerson: () => Promise.reject(new Error('nobody is asked')),
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
