import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isProposal } from '../../src/engine/core/dialogue/dialogue.ts';
import type { Task } from '../../src/engine/core/domain/task.ts';
import { instructionsIn } from '../../src/engine/core/seats/instruction.ts';
import type { JsonObject } from '../../src/engine/core/values/json.ts';
import { describeCodeTools } from '../../src/engine/shell/describe.ts';
import { completeDomain, loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../../src/engine/shell/records/ledger.ts';
import { replayRecording } from '../../src/engine/shell/replay.ts';
import { type BatchOptions, runBatch, type TrialResult } from '../../src/engine/shell/runs/batch.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';

const helpLine = join(import.meta.dirname, '../../domains/help-line');
const loaded = loadDomain(helpLine);
const { tasks } = loaded.domain;
const described = describeCodeTools(loaded).then((tools) => completeDomain(loaded, tools).domain);

function freshFolder(): string {
  const folder = temporaryFolder('help-line');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Rehearses a domain in a worker; the recordings stay until the test is over. */
async function rehearse(
  domain: string,
  seats: Pick<BatchOptions, 'agent' | 'user'>,
  chosen?: ReadonlySet<string>,
): Promise<{ readonly folder: string; readonly results: readonly TrialResult[] }> {
  const folder = freshFolder();
  const supervisor = await openSupervisor(loadDomain(domain));
  try {
    const results = await runBatch(supervisor, {
      ...seats,
      folder,
      tasks: supervisor.domain.tasks.filter(({ id }) => chosen?.has(id) ?? true),
      trials: 1,
      seed: 'both ends',
      basis: 'evaluate',
      concurrency: 8,
      key: signingKey(join(folder, 'key')),
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('no person is asked')),
    });
    return { folder, results };
  } finally {
    await supervisor.close();
  }
}

const goldSeats = { agent: { type: 'gold' }, user: { type: 'agenda' } } as const;
const recordingsOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.traj.jsonl'))
    .toSorted()
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);

test('help-line is as large as it says, and its splits share no customer and no line', () => {
  expect(loaded.diagnostics).toEqual([]);
  const count = (split: string) => tasks.filter((task) => task.split === split).length;
  expect([count('train'), count('test'), loaded.domain.personas.length]).toEqual([26, 20, 5]);
  const named = (split: string) =>
    tasks
      .filter((task) => task.split === split)
      .flatMap((task) =>
        JSON.stringify([task.user.known, task.actions, task.state]).match(/\bL\d{4}\b|"name":"[^"]+"/g),
      );
  const [train, tested] = [new Set(named('train')), new Set(named('test'))];
  expect(train.size).toBe(52);
  expect([...tested].filter((each) => train.has(each))).toEqual([]);
});

test('each split has every persona, and faults of every type are seeded', () => {
  for (const split of ['train', 'test']) {
    const own = tasks.filter((task) => task.split === split);
    expect(new Set(own.map(({ persona }) => persona)).size).toBe(5);
    expect(new Set(own.flatMap(({ faults = [] }) => faults.map(({ type }) => type)))).toEqual(
      new Set(['outage', 'changedSchema', 'latency', 'undocumentedResult', 'permissionDenied']),
    );
  }
});

test('gold serves every user within the rules; the same seed gives the same bytes, and a replay the same states', async () => {
  const first = await rehearse(helpLine, goldSeats);
  const wrong = first.results.filter(({ reward, violations }) => reward !== 1 || violations > 0);
  expect(wrong.map(({ task, reason }) => `${task}: ${reason}`)).toEqual([]);
  expect(first.results).toHaveLength(tasks.length);
  const recordings = recordingsOf(first.folder);
  const ends = recordings.map(([name, text]) => [
    name.startsWith('socket'),
    /"stop":"(\w+)"|"reason":"(handedOff)"/.exec(text)?.slice(1).join(''),
  ]);
  expect(ends.filter(([isSocket, end]) => end !== (isSocket ? 'handedOff' : 'done'))).toEqual([]);
  expect(recordings).toHaveLength(tasks.length);
  const again = sampled(recordings, 6);
  const ids = new Set(again.map(([name]) => name.replace(/\.0\.traj\.jsonl$/, '')));
  const second = await rehearse(helpLine, goldSeats, ids);
  expect(recordingsOf(second.folder)).toEqual(again);
  for (const [name] of again) expect(replayRecording(loaded, join(first.folder, name)).problems).toEqual([]);
});

type Acting = 'agent' | 'user' | 'both';

/** A task in which the seats play exactly the gold actions of these sides, in their order. */
function scripted(task: Task, acting: Acting): JsonObject {
  const { faults: _, change: __, ...rest } = { ...task, change: undefined };
  const agent: unknown[] = [];
  const user: unknown[] = ['Hello.'];
  for (const { tool, by, arguments: values } of task.actions) {
    if (acting !== 'both' && acting !== by) continue;
    if (by === 'agent') agent.push([{ tool, arguments: values }]);
    else {
      agent.push('Your turn.');
      user.push([{ tool, arguments: values }], 'Done.');
    }
  }
  const { goal } = task.user;
  return {
    ...rest,
    id: `${task.id}.${acting}`,
    user: { goal, script: user },
    agent: 'scripted',
    script: [...agent, 'Goodbye.'],
  } as unknown as JsonObject;
}

inFullSuite('no side alone reaches the goal of any task, and both together do', async () => {
  const domain = join(freshFolder(), 'help-line');
  cpSync(helpLine, domain, { recursive: true });
  rmSync(join(domain, 'rules.yaml'));
  rmSync(join(domain, 'tasks'), { recursive: true });
  mkdirSync(join(domain, 'tasks'));
  const variants = tasks.flatMap((task) =>
    (['agent', 'user', 'both'] as const).map((acting) => scripted(task, acting)),
  );
  writeFileSync(join(domain, 'tasks', 'sides.task.yaml'), JSON.stringify(variants));
  const { results } = await rehearse(domain, { agent: { type: 'scripted' }, user: { type: 'scripted' } });
  const rewardsOf = (acting: Acting) =>
    results
      .filter(({ task }) => task.endsWith(`.${acting}`))
      .map(({ task, reward, reason }) => ({ task, reward, reason }));
  expect(rewardsOf('both').filter(({ reward }) => reward !== 1)).toEqual([]);
  for (const acting of ['agent', 'user'] as const) {
    const rewards = rewardsOf(acting);
    expect(rewards).toHaveLength(tasks.length);
    expect(rewards.filter(({ reward, reason }) => reward !== 0 || !reason.startsWith('database:'))).toEqual([]);
  }
});

inFullSuite('an agent that does its part without asking, verifying or telling gets nothing', async () => {
  const domain = join(freshFolder(), 'help-line');
  cpSync(helpLine, domain, { recursive: true });
  const blunt = tasks.map((task) => {
    const writes = task.actions.filter(({ by, tool }) => by === 'agent' && !/^(?:find|get|run)/.test(tool));
    const { agent: _, ...rest } = { ...task, agent: undefined };
    return {
      ...rest,
      script: [...writes.map(({ tool, arguments: values }) => [{ tool, arguments: values }]), 'Done.'],
    };
  });
  rmSync(join(domain, 'tasks'), { recursive: true });
  mkdirSync(join(domain, 'tasks'));
  writeFileSync(join(domain, 'tasks', 'blunt.task.yaml'), JSON.stringify(blunt));
  const { results } = await rehearse(domain, { agent: { type: 'scripted' }, user: { type: 'agenda' } });
  expect(results.filter(({ reward }) => reward !== 0)).toEqual([]);
  expect(results).toHaveLength(tasks.length);
});

test("the user understands every wording of the lexicon for its tools, and takes none of the agent's proposals for one", async () => {
  const domain = await described;
  const samples: JsonObject = {
    code: 'heron-12345',
    channel: 6,
    bill: 'B1234',
    line: 'L2001',
    serial: 'HR-1',
    profile: 'stable',
    plan: 'Fibre 500',
  };
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => String(samples[name]));
  const own = domain.tools.filter(({ owner }) => owner === 'user');
  expect(own).toHaveLength(9);
  for (const { name, parameters } of own) {
    const names = Object.keys(parameters['properties'] as JsonObject);
    const values = Object.fromEntries(names.map((each) => [each, samples[each]]));
    const { instruct = [], synonyms = [] } = domain.lexicon.tools[name] ?? {};
    expect(instruct.length + synonyms.length).toBeGreaterThan(2);
    for (const text of instruct.map(filled))
      expect(instructionsIn(text, domain), text).toEqual([{ tool: name, arguments: values }]);
  }
  const agents = domain.tools.filter(({ owner }) => owner === 'agent');
  for (const { name } of agents)
    for (const text of (domain.lexicon.tools[name]?.propose ?? []).map(filled)) {
      expect(isProposal(text), text).toBe(true);
      expect(instructionsIn(text, domain), text).toEqual([]);
    }
});

test.each([
  ['Can you reboot the router for me and see whether that helps?', ['restart_router']],
  ['Power cycle your router, please.', ['restart_router']],
  ['Set the wifi to channel 11.', ['set_wifi_channel']],
  ['Which colour does the internet light have? Please check the lights.', ['check_lights']],
  ['Read me the serial number, then restart the router.', ['read_label', 'restart_router']],
  ['I have restarted your router.', []],
  ['Would you like me to restart your router from here?', []],
  ['Do not restart the router yet.', []],
  ['Set the wifi to another channel.', []],
])('the user hears in "%s" what it is asked to do', async (text, wanted) => {
  const domain = await described;
  expect(instructionsIn(text, domain).map(({ tool }) => tool)).toEqual(wanted);
});
