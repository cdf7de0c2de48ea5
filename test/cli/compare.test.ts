import { appendFileSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type RecordingsCompared, recordingsCompared } from '../../src/cli/compare/recordings.ts';
import type { RunsCompared } from '../../src/cli/compare/runs.ts';
import { recordingsText } from '../../src/cli/compare/text.ts';
import type { ReportCard } from '../../src/engine/core/events/reportCard.ts';
import { withEmptyScripts } from '../support/sampleDomains.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const at = temporaryFolder('rehearsal-compare');
const [gold, scripted, desk, capped] = [join(at, 'gold'), join(at, 'scripted'), join(at, 'desk'), join(at, 'capped')];
const task = 'lamp-variant.0.traj.jsonl';

beforeAll(async () => {
  const tasks = ['--tasks', 'lamp-variant,wrong-card', '--trials', '2'];
  const domain = withEmptyScripts('wrong-card');
  await rehearsal('eval', domain, ...tasks, '--agent', 'gold', '--out', gold);
  await rehearsal('eval', domain, ...tasks, '--agent', 'scripted', '--out', scripted);
  const parcel = ['eval', 'domains/parcel-desk', '--tasks', 'reschedule-P46', '--agent', 'gold'];
  await rehearsal(...parcel, '--out', desk);
  await rehearsal(...parcel, '--turn-cap', '11', '--out', capped);
});

async function compared<Compared>(...paths: readonly string[]): Promise<Compared> {
  const { code, out } = await rehearsal('compare', ...paths, '--json');
  expect([code, out]).toEqual([0, expect.stringContaining('{')]);
  return JSON.parse(out) as Compared;
}

describe('runs', () => {
  test('three runs are aligned by task, and each is compared with the first', async () => {
    const { runs, tasks, pairs } = await compared<RunsCompared>(gold, scripted, gold);
    expect(runs.map(({ run, metrics }) => [run.agent, metrics.meanReward])).toEqual([
      ['gold', 1],
      ['scripted', 0],
      ['gold', 1],
    ]);
    expect(tasks.map((each) => [each.task, each.trials.map((trials) => trials.map(({ reward }) => reward))])).toEqual([
      [
        'lamp-variant',
        [
          [1, 1],
          [0, 0],
          [1, 1],
        ],
      ],
      [
        'wrong-card',
        [
          [1, 1],
          [0, 0],
          [1, 1],
        ],
      ],
    ]);
    expect(pairs.map((pair) => pair.tasks.map(({ flip }) => flip))).toEqual([
      ['broke', 'broke'],
      ['same', 'same'],
    ]);
    expect(pairs[0]?.partings.map(({ task: name, trial, steps }) => [name, trial, steps])).toContainEqual([
      'lamp-variant',
      0,
      [15, 15],
    ]);
  });

  test('runs of two domains have no task in common, and the report says why', async () => {
    const { pairs } = await compared<RunsCompared>(gold, desk);
    expect(pairs[0]?.tasks).toEqual([]);
    expect(pairs[0]?.settings).toContain('domain: order-desk → parcel-desk');
    expect(pairs[0]?.settings).toContain('text of the policy');
    expect(pairs[0]?.onlyInOne).toEqual(['lamp-variant', 'wrong-card', 'reschedule-P46']);
  });

  test('tools, rules and the database that changed between two runs are named, and so is every pair that differs', async () => {
    const changed = join(at, 'changed-domain');
    cpSync('domains/order-desk', changed, { recursive: true });
    const edit = (file: string, from: string, to: string) => {
      const text = readFileSync(join(changed, file), 'utf8');
      expect(text).toContain(from);
      writeFileSync(join(changed, file), text.replace(from, to));
    };
    edit('tools.ts', "description: '", "description: 'Now: ");
    edit('database.json', 'Hugo', 'Ugo');
    const after = join(at, 'changed-run');
    const run = ['--tasks', 'lamp-variant,wrong-card', '--trials', '2', '--agent', 'gold', '--out', after];
    await rehearsal('eval', changed, ...run);
    const { out } = await rehearsal('compare', gold, after);
    expect(out).toMatch(/^differs in the agent's tools: \w+ changed$/m);
    expect(out).toMatch(/^differs in database at the start$/m);
    expect(out).toMatch(/^differs in content of the domain without its tasks, such as rules\.yaml/m);
    const { out: scripts } = await rehearsal('compare', gold, scripted);
    expect(scripts).toContain(
      '0 of 4 pairs of rollouts (same task and trial) are identical; these differ: lamp-variant (trials 0 and 1), wrong-card (trials 0 and 1)',
    );
    expect(scripts).not.toMatch(/differs in (?:content|database|the agent's tools)/);
  });

  test('a task that lost its reward is named with the reason, and the verdict covers only the others', async () => {
    const yaml = (id: string, actions: string) =>
      `id: ${id}\npersona: plain\nuser: { goal: Look. }\nactions: [${actions}]\n`;
    const domain = smallDomain({ look: { effect: 'write', run: "return 'ok'" } }, yaml('look', '{ tool: look }'));
    writeFileSync(join(domain, 'tasks/wait.task.yaml'), yaml('wait', ''));
    const [before, after] = [join(at, 'scored'), join(at, 'unscored')];
    await rehearsal('eval', domain, '--agent', 'gold', '--out', before);
    const tools = join(domain, 'tools.ts');
    writeFileSync(tools, readFileSync(tools, 'utf8').replace("return 'ok'", "throw new Error('it is dark')"));
    await rehearsal('eval', domain, '--agent', 'gold', '--out', after);
    const { out } = await rehearsal('compare', before, after);
    expect(out).toMatch(/^left out: task look has no reward in B: .*look fails: it is dark$/m);
    expect(out).toContain('\n1 task with a reward in both runs: B is better on 0, worse on 0;');
    expect(out).toContain('no difference is shown in this task; 1 task without a reward is left out\n');
  });

  test('a run whose description is broken is named, and so is a recording that can’t be read', async () => {
    const broken = join(at, 'broken');
    cpSync(gold, broken, { recursive: true });
    appendFileSync(join(broken, task), 'not JSON\n');
    const { runs } = await compared<RunsCompared>(gold, broken);
    expect(runs[1]?.problems).toEqual([expect.stringMatching(/lamp-variant\.0\.traj\.jsonl:\d+: is not JSON/)]);
    writeFileSync(join(broken, 'run.json'), '{');
    const { code, out } = await rehearsal('compare', gold, broken, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ error: { message: expect.stringContaining('run.json:1: is not JSON') } });
  });

  test.each([
    [[], 'name two runs'],
    [[gold], 'name two runs'],
    [[gold, 'missing'], 'missing is not the folder of a run, which contains run.json: '],
    [[gold, join(gold, task)], 'name two recordings'],
    [[join(gold, task), join(gold, 'none.traj.jsonl')], 'there is no such recording'],
  ])('%j: %s', async (paths, message) => {
    const { code, err } = await rehearsal('compare', ...paths);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

/** Creates a folder as the trainer leaves it after an evaluation, with the rollouts of a run in one of its parts. */
function evaluation(name: string, run: string, parts: readonly string[] = ['sampled']): string {
  const folder = join(at, name);
  const recordings = readdirSync(run).filter((file) => file.endsWith('.traj.jsonl'));
  for (const part of ['sampled', 'greedy']) {
    const into = join(folder, 'trajectories', part);
    mkdirSync(into, { recursive: true });
    const played = parts.includes(part) ? recordings : [];
    for (const file of played) copyFileSync(join(run, file), join(into, file));
    const lines = played.map((file) => ({
      task: file.split('.')[0],
      member: Number(file.split('.')[1]),
      recording: file,
    }));
    writeFileSync(join(into, 'rollouts.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
  const config = { kind: 'evaluate', model: name, domain: 'domains/order-desk', seed: 1, temperature: 1 };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return folder;
}

describe('evaluations by the trainer', () => {
  test('they are compared by task as runs are, with each other and with a run', async () => {
    const base = evaluation('base', scripted);
    const trained = evaluation('trained', gold);
    const [ofRuns, found] = [
      await compared<RunsCompared>(scripted, gold),
      await compared<RunsCompared>(base, trained, gold),
    ];
    const [pair, withRun] = found.pairs;
    const [expected] = ofRuns.pairs;
    expect(pair).toMatchObject({ ...expected, settings: expect.anything() });
    expect(pair?.settings).toEqual(
      expect.arrayContaining(["agent's seat: base (temperature 1) → trained (temperature 1)"]),
    );
    expect(withRun?.difference).toEqual(expected?.difference);
    expect(found.runs.map(({ metrics, problems }) => [metrics.meanReward, problems])).toEqual([
      [0, []],
      [1, []],
      [1, []],
    ]);
  });

  test('the greedy rollouts count where one has no others; without a part in common nothing is compared', async () => {
    const both = evaluation('both', gold, ['sampled', 'greedy']);
    const greedy = evaluation('greedy', scripted, ['greedy']);
    const { pairs } = await compared<RunsCompared>(both, greedy);
    expect(pairs[0]?.settings).toContain("agent's seat: both (greedy) → greedy (greedy)");
    const sampled = evaluation('sampled', gold);
    const { code, err } = await rehearsal('compare', greedy, sampled);
    expect([code, err]).toEqual([2, expect.stringMatching(/greedy has greedy rollouts only and \S+sampled has none/)]);
  });

  test('what can’t be compared is named', async () => {
    const broken = evaluation('broken-evaluation', gold);
    appendFileSync(join(broken, 'trajectories', 'sampled', task), 'not JSON\n');
    appendFileSync(join(broken, 'trajectories', 'sampled', 'rollouts.jsonl'), '{"task": "lamp');
    const { runs } = await compared<RunsCompared>(gold, broken);
    expect(runs[1]?.problems).toEqual([
      expect.stringMatching(/rollouts\.jsonl has a line that is not a rollout/),
      expect.stringMatching(/lamp-variant\.0\.traj\.jsonl:\d+: is not JSON/),
    ]);
    const refused = async (config: string, message: string) => {
      writeFileSync(join(broken, 'config.json'), config);
      const { code, err } = await rehearsal('compare', gold, broken);
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    };
    await refused('{', 'config.json:1: ');
    await refused('{"kind": "evaluate"}', 'is not a configuration of a training run (model');
    await refused('{"kind": "grpo", "model": "tiny", "domain": "x", "seed": 1}', 'is a training run (grpo)');
    const begun = evaluation('begun', gold, []);
    const { code, err } = await rehearsal('compare', gold, begun);
    expect([code, err]).toEqual([2, expect.stringContaining('begun has no rollouts')]);
  });
});

test('another turn cap is named, of two runs and of two recordings', async () => {
  const recording = 'reschedule-P46.0.traj.jsonl';
  const { pairs } = await compared<RunsCompared>(desk, capped);
  const { settings } = await compared<RecordingsCompared>(join(desk, recording), join(capped, recording));
  expect([pairs[0]?.settings, settings]).toEqual([['turn cap: 10 → 11'], ['turn cap: 10 → 11']]);
});

test('the turn cap of a run that an older version wrote is that of its recordings, or not known', async () => {
  const older = join(at, 'older');
  cpSync(desk, older, { recursive: true });
  const file = JSON.parse(readFileSync(join(older, 'run.json'), 'utf8')) as object;
  writeFileSync(join(older, 'run.json'), JSON.stringify({ ...file, turnCap: undefined }));
  const same = await compared<RunsCompared>(older, desk);
  const other = await compared<RunsCompared>(older, capped);
  writeFileSync(join(older, 'ledger.jsonl'), '');
  const empty = await compared<RunsCompared>(older, desk);
  expect([same, other, empty].map(({ pairs }) => pairs[0]?.settings)).toEqual([
    [],
    ['turn cap: 10 → 11'],
    ['turn cap: not known → 10'],
  ]);
});

describe('recordings', () => {
  test('the step at which they diverge is named in each', () => {
    const [one, other] = [join(gold, task), join(scripted, task)];
    const found = recordingsCompared([one, other], undefined);
    const divergence = found.divergence && { ...found.divergence, steps: [17, 16] as const };
    expect(recordingsText({ ...found, divergence })).toContain('they diverge at step 17 of A and step 16 of B\n');
  });

  test('they diverge at one step; conversation, end states, verdicts and rewards are side by side', async () => {
    const found = await compared<RecordingsCompared>(join(gold, task), join(scripted, task));
    const { divergence, rows, database, recordings, settings, fork } = found;
    expect(fork).toBeNull();
    expect(settings).toEqual(["agent's seat: gold → scripted"]);
    expect(divergence).toMatchObject({ steps: [15, 15], what: 'agent' });
    const parted = rows.findIndex(({ isAlike }) => !isAlike);
    expect([rows[parted]?.first?.n, rows[parted]?.second?.n]).toEqual([15, 15]);
    expect(rows[parted + 3]).toMatchObject({ isAlike: true, first: { n: 16 }, second: { n: 21 } });
    expect(database.problem).toBeNull();
    expect(database.differences[0]).toEqual({
      place: 'orders.W1138.items[0].variant',
      first: '"brass"',
      second: '"white"',
    });
    expect(recordings.map(({ measure }) => measure.reward)).toEqual([1, 0]);
    expect(recordings[1].verdicts).toContainEqual(
      expect.objectContaining({ name: 'rule confirm-before-write', verdict: 'violated', step: 16 }),
    );
    expect(recordings[0].verdicts).toContainEqual(
      expect.objectContaining({ name: 'rule confirm-before-write', verdict: 'held' }),
    );
  });

  test('the steps of verdicts are those of the report card', async () => {
    const { verdicts } = (await compared<RecordingsCompared>(join(gold, task), join(scripted, task))).recordings[1];
    const last = readFileSync(join(scripted, task), 'utf8').trim().split('\n').at(-1) ?? '';
    const { event } = JSON.parse(last) as { readonly event: { readonly card: ReportCard } };
    const items = event.card.flatMap((layer) => layer.items);
    const steps = new Map(items.map(({ name, evidence }) => [name, evidence.at(-1)]));
    const isFirst = (at: number) => verdicts.findIndex(({ name }) => name === verdicts[at]?.name) === at;
    const violated = verdicts.filter(({ verdict }, at) => verdict === 'violated' && isFirst(at));
    expect(violated.map(({ step }) => step)).toEqual(violated.map(({ name }) => steps.get(name.replace(/^rule /, ''))));
    expect(violated.map(({ name }) => name)).toContain('communicate');
  });

  test('what differs is named without hashes: tasks by their ids, and a text that changed in one sentence', async () => {
    const { settings } = await compared<RecordingsCompared>(join(gold, task), join(gold, 'wrong-card.0.traj.jsonl'));
    expect(settings).toContain('task: lamp-variant → wrong-card');
    expect(settings.join()).not.toMatch(/text of the task|\p{Hex_Digit}{12}/u);
    const changed = join(at, 'changed.0.traj.jsonl');
    const recorded = readFileSync(join(gold, task), 'utf8').split('\n');
    const first = JSON.parse(recorded[0] ?? '') as { event: { task: { hash: string }; policyHash: string } };
    first.event.task.hash = 'f'.repeat(64);
    first.event.policyHash = 'e'.repeat(64);
    writeFileSync(changed, [JSON.stringify(first), ...recorded.slice(1)].join('\n'));
    const found = recordingsCompared([join(gold, task), changed], undefined);
    expect(found.settings).toEqual(['text of the task', 'text of the policy']);
  });

  test('in words', async () => {
    const { code, out } = await rehearsal('compare', join(gold, task), join(scripted, task));
    expect(code).toBe(0);
    expect(out).toContain('they diverge at step 15');
    expect(out).toContain('from there (= the same in both, | different)\n     step  A ');
    expect(out).toMatch(/^ {2}agent +gold +scripted$/m);
    expect(out).toMatch(/orders\.W1138\.items\[0\]\.variant +"brass" +"white"/);
    const same = await rehearsal('compare', join(gold, task), join(gold, task));
    expect(same.out).toContain('they are identical');
    expect(same.out).toContain('both ended with the same database');
  });

  test('a violation is in the words of the policy', async () => {
    const { out } = await rehearsal('compare', join(gold, task), join(scripted, task));
    expect(out).toContain('was made, which the policy does not allow here: "Transfer to a human');
    expect(out).not.toContain('although this does not hold');
  });

  test('one that was stopped has no reward, and the call that its verdict is about had not run', async () => {
    const folder = temporaryFolder('rehearsal-stopped');
    copyFileSync(join(scripted, task), join(folder, task));
    const lines = readFileSync(join(scripted, task), 'utf8').split('\n');
    writeFileSync(join(folder, 'stopped.0.traj.jsonl'), `${lines.slice(0, 17).join('\n')}\n`);
    const paths = [join(folder, 'stopped.0.traj.jsonl'), join(folder, task)] as const;
    const [stopped] = recordingsCompared(paths, 'domains/order-desk').recordings;
    expect(stopped.verdicts[0]?.detail).toContain('change_item was called before');
    expect(stopped.measure.calls.map(({ tool }) => tool)).not.toContain('change_item');
    expect(stopped.stoppedCalls).toEqual(['change_item']);
    const { out } = await rehearsal('compare', ...paths);
    expect(out).toContain('A  no reward: the rollout was stopped before it ended\n');
    expect(out).toContain('   change_item was stopped before it ran\n');
    expect(out).toMatch(/^ .*end: the agent handed the conversation over$/m);
    const other = { pid: 1, host: 'another-host', start: null };
    writeFileSync(join(folder, '.lock'), JSON.stringify(other));
    const running = recordingsCompared(paths, 'domains/order-desk');
    expect(running.recordings.map(({ isRunning }) => isRunning)).toEqual([true, false]);
    expect(recordingsText(running, 200)).toContain(
      'A  no reward: the rollout is still running\n   change_item has not run yet',
    );
  });

  test('a terminal that is too narrow for two columns has them below each other', () => {
    const found = recordingsCompared([join(gold, task), join(scripted, task)], undefined);
    const [wide, narrow] = [recordingsText(found, 200), recordingsText(found, 80)];
    expect(wide).toMatch(/^ {2}\| {4}15 {2}agent: .* {4}15 {2}agent: /m);
    expect(narrow).toMatch(/^ +step {2}event\n {2}\| A +15 {2}agent: .*\n {2}\| B +15 {2}agent: /m);
    expect(narrow).toMatch(/^ {2}= A, B {2}16, 21 {2}/m);
    const rows = narrow.split('\n').filter((line) => line.startsWith('  ') && !line.startsWith('   '));
    expect(rows.filter(({ length }) => length > 80)).toEqual([]);
  });

  test('of two domains, and of an unknown domain, the report says why no end states are shown', async () => {
    const other = await compared<RecordingsCompared>(join(gold, task), join(desk, 'reschedule-P46.0.traj.jsonl'));
    expect(other.settings).toContain('domain: order-desk → parcel-desk');
    expect(other.database.problem).toContain('recorded on different databases');
    const lost = join(temporaryFolder('rehearsal-lost'), task);
    copyFileSync(join(gold, task), lost);
    expect((await compared<RecordingsCompared>(lost, lost)).database.problem).toContain(
      'The folder of their domain is unknown',
    );
    const named = await rehearsal('compare', lost, lost, '--domain', 'domains/order-desk');
    expect(named.out).toContain('both ended with the same database');
    const strange = await rehearsal('compare', lost, lost, '--domain', 'domains/parcel-desk');
    expect(strange.out).toContain('recorded on a different database');
  });

  test('a recording that was cut short is compared as far as it goes, and a file that is not a recording is refused', async () => {
    const cut = join(gold, 'cut.0.traj.jsonl');
    const lines = readFileSync(join(gold, task), 'utf8').split('\n');
    writeFileSync(cut, `${lines.slice(0, 10).join('\n')}\n{"n":`);
    const { recordings, divergence, database } = await compared<RecordingsCompared>(cut, join(gold, task));
    expect(recordings[0].problems).toEqual(['cut.0.traj.jsonl, line 11: has no end: the file was cut short here']);
    expect(divergence?.texts[0]).toBe('(nothing more)');
    expect(database.problem).toBeNull();
    writeFileSync(cut, 'no recording\n');
    const { code, err } = await rehearsal('compare', cut, join(gold, task));
    expect([code, err]).toEqual([2, expect.stringContaining('cut.0.traj.jsonl:1: is not JSON')]);
  });
});
