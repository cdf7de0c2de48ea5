import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Debuggee } from '../../../src/cli/dap/rollout/debuggee.ts';
import { type Edit, edited } from '../../../src/cli/dap/rollout/edit.ts';
import type { RolloutState } from '../../../src/engine/core/events/state.ts';
import { stateHash } from '../../../src/engine/core/rollout/rollout.ts';
import { contentHash } from '../../../src/engine/core/values/hash.ts';
import type { Json, JsonObject } from '../../../src/engine/core/values/json.ts';
import { toJson } from '../../../src/engine/core/world/database.ts';
import { Fault } from '../../../src/engine/shell/files/fault.ts';
import { readRecording, sidecarPath } from '../../../src/engine/shell/records/recording.ts';
import { verifyRecording } from '../../../src/engine/shell/records/verifyRun.ts';
import { replayRecording } from '../../../src/engine/shell/replay.ts';
import { runs } from '../../support/runs.ts';
import { sampleDomains, someRollout, withMistakes } from '../../support/sampleDomains.ts';
import { sampled } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';

// Laws of the debugger over every task of every sample domain: stepping back or forth never changes earlier steps.

const root = temporaryFolder('rehearsal-forks');
let folders = 0;
const fresh = () => join(root, String(++folders));

/** Returns the hash of a complete state, computed from its content without cached hashes. */
const whole = ({ world, messages, turn, phase }: RolloutState) =>
  contentHash([toJson(world.agent), toJson(world.user), messages, turn, phase] as unknown as Json);

function stateAt({ current }: Debuggee): RolloutState {
  if (!current) throw new Error('there is no step yet');
  return current.state;
}

type Steps = Debuggee['steps'];
const inFull = (steps: Steps) => steps.map(({ n, event, state }) => [n, JSON.stringify(event), whole(state)]);

/** Any edit of a rollout by a person. Numbers select the place, so that an edit fits any rollout. */
const someEdit = fc.record({
  kind: fc.constantFrom('message', 'call', 'arguments', 'database', 'turn'),
  at: fc.nat(),
  place: fc.nat(),
  text: fc.oneof(fc.constantFrom('Yes.', 'No, wait.', 'Please cancel it all.', ''), fc.string({ maxLength: 30 })),
  value: fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
});
type SomeEdit = typeof someEdit extends fc.Arbitrary<infer T> ? T : never;

/** Returns a path to some value of a database. */
function somePath(json: Json, place: number): readonly string[] {
  if (typeof json !== 'object' || json === null) return [];
  const keys = Object.keys(json);
  const key = keys[place % Math.max(keys.length, 1)];
  if (key === undefined || Array.isArray(json)) return [];
  return [key, ...somePath((json as JsonObject)[key] ?? null, place >> 2)];
}

function editOf({ kind, at, place, text, value }: SomeEdit, debuggee: Debuggee): Edit {
  const { steps } = debuggee;
  const spoken = steps.filter(({ event }) => event.type === 'agentReplied' || event.type === 'userReplied');
  const step = (kind === 'message' || kind === 'call' ? spoken : steps)[place % Math.max(spoken.length, 1)]?.n ?? 0;
  const calls = steps.flatMap(({ n, event }) =>
    event.type === 'agentReplied' ? event.toolCalls.map(({ id, arguments: values }) => ({ n, id, values })) : [],
  );
  const call = calls[at % Math.max(calls.length, 1)];
  const tools = debuggee.steps[0]?.state.started.tools ?? [];
  const made = { content: null, call: { name: tools[at % tools.length]?.name ?? 'none', arguments: {} } };
  if (kind === 'message') return { type: 'message', step, content: text };
  if (kind === 'call') return { type: 'message', step, ...made };
  if (kind === 'turn') return place % 2 === 0 ? { type: 'turn', content: text } : { type: 'turn', ...made };
  if (kind === 'arguments' && call) {
    const path = typeof call.values === 'string' ? [] : Object.keys(call.values).slice(0, 1);
    return { type: 'arguments', step: call.n, callId: call.id, path, value };
  }
  const side = at % 4 === 0 ? 'user' : 'agent';
  const path = somePath(toJson(stateAt(debuggee).world[side]), place);
  return { type: 'database', side, path: path.length > 0 ? path : ['added'], value };
}

describe.each(sampled(sampleDomains, 4))('in %s', (name) => {
  const domain = withMistakes(name);
  const debuggees: Record<'gold' | 'scripted', Debuggee> = { gold: open('gold'), scripted: open('scripted') };
  afterAll(() => Promise.all([debuggees.gold.close(), debuggees.scripted.close()]));

  function open(agent: 'gold' | 'scripted'): Debuggee {
    return new Debuggee({
      domain,
      agent: { type: agent },
      user: { type: 'agenda' },
      forkAgent: { type: 'gold' },
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('no person is asked')),
      log: () => undefined,
    });
  }

  type Played = {
    readonly agent: 'gold' | 'scripted';
    readonly task: (typeof domain.tasks)[number];
    readonly seed: string;
  };

  /** Launches a rollout, steps through it with `walk`, and plays the rest. */
  async function launched({ agent, task, seed }: Played, walk: (debuggee: Debuggee) => Promise<void> = async () => {}) {
    const debuggee = debuggees[agent];
    const recording = join(fresh(), `${task.id}.0.traj.jsonl`);
    await debuggee.launch({ task, seed, trial: 0, basis: 'evaluate', recording });
    await walk(debuggee);
    while (await debuggee.forward());
    return { debuggee, recording };
  }

  beforeAll(async () => {
    const [task] = domain.tasks;
    if (task) await launched({ agent: 'gold', task, seed: '0' });
  });

  const moves = fc.array(fc.constantFrom('forward' as const, 'back' as const), { maxLength: 80 });

  test('a step back undoes a step, and stepping back and forth gives the same bytes as a run without stops', async () => {
    await fc.assert(
      fc.asyncProperty(someRollout(domain), moves, async (played, walk) => {
        const straight = await launched(played);
        const bytes = readFileSync(straight.recording, 'utf8');
        const seen: string[] = [];
        const { recording } = await launched(played, async (debuggee) => {
          seen[debuggee.cursor] = whole(stateAt(debuggee));
          for (const move of walk) {
            const before = debuggee.cursor;
            const moved = await debuggee[move]();
            const now = debuggee.cursor;
            expect(now).toBe(moved ? before + (move === 'forward' ? 1 : -1) : before);
            const state = whole(stateAt(debuggee));
            seen[now] ??= state;
            expect(state, `at ${now}`).toBe(seen[now]);
            if (!moved || move === 'back') continue;
            debuggee.back();
            expect(whole(stateAt(debuggee))).toBe(seen[before]);
            await debuggee.forward();
          }
        });
        expect(readFileSync(recording, 'utf8')).toBe(bytes);
      }),
      { numRuns: runs(4) },
    );
  });

  test('a fork continues from its prefix and never changes its parent, and neither does a fork of a fork', async () => {
    await fc.assert(
      fc.asyncProperty(
        someRollout(domain),
        fc.array(someEdit, { minLength: 1, maxLength: 3 }),
        async (played, edits) => {
          const { debuggee, recording } = await launched(played);
          let parent = recording;
          for (const some of edits) {
            debuggee.attach(parent);
            const steps = debuggee.steps;
            for (let left = some.at % steps.length; left > 0; left -= 1) debuggee.next();
            const [before, folder] = [inFull(steps), readdirSync(join(parent, '..'))];
            const files = [parent, sidecarPath(parent)].map((path) => readFileSync(path, 'utf8'));
            const refused = await debuggee.fork(editOf(some, debuggee)).then(
              () => null,
              (error: unknown) => error,
            );
            while (refused === null && (await debuggee.forward()));
            expect([parent, sidecarPath(parent)].map((path) => readFileSync(path, 'utf8'))).toEqual(files);
            expect(inFull(steps)).toEqual(before);
            if (refused !== null) {
              expect(refused).toBeInstanceOf(Fault);
              expect(debuggee.steps).toBe(steps);
              if ((refused as Fault).failure.code === 'edit/refused')
                expect(readdirSync(join(parent, '..'))).toEqual(folder);
              continue;
            }
            expectFork(debuggee, steps, parent);
            parent = debuggee.recording;
          }
        },
      ),
      { numRuns: runs(5) },
    );
  });

  /** Expects that a fork that has ended shares the declared events with its parent and has a complete record. */
  function expectFork(debuggee: Debuggee, parents: Steps, parent: string): void {
    const fork = readRecording(debuggee.recording);
    const started = fork.lines[0]?.event;
    const at = (started?.type === 'rolloutStarted' && started.parent?.event) || 0;
    const shared = fork.lines.slice(1, at + 1);
    expect(shared.map(({ event }) => event)).toEqual(parents.slice(1, at + 1).map(({ event }) => event));
    expect(shared.map(({ state }) => state)).toEqual(parents.slice(1, at + 1).map(({ state }) => stateHash(state)));
    expect(started).toMatchObject({ parent: { chain: readRecording(parent).lines[at]?.chain } });
    expect(fork.lines.at(-1)?.event.type).toBe('rewarded');
    expect(replayRecording(domain, debuggee.recording).problems).toEqual([]);
    expect(verifyRecording(debuggee.recording).problems).toEqual([]);
  }
});

test('arguments that are not an object are refused, and nothing is written', async () => {
  const [event] = [{ type: 'agentReplied', content: null, toolCalls: [{ id: 'c1', name: 'restart', arguments: {} }] }];
  const steps = [{ n: 0, event }] as unknown as Steps;
  for (const value of [[], 7, null, true])
    expect(() => edited(steps, 0, { type: 'arguments', step: 0, callId: 'c1', path: [], value })).toThrow(
      'the arguments of a call are a JSON object',
    );
});
