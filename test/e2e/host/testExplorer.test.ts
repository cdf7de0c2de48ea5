import { strict as assert } from 'node:assert';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import type { Context } from '../../../src/extension/commandLine/context.ts';
import { workOf } from '../../../src/extension/runs/runPlaces.ts';
import { chosenTests } from '../../../src/extension/testing/chosenTests.ts';
import { debugTests } from '../../../src/extension/testing/debugTests.ts';
import type { Explorer } from '../../../src/extension/testing/explorer.ts';
import { publishRun } from '../../../src/extension/testing/publishedRuns.ts';
import { coverageDetails } from '../../../src/extension/testing/runCoverage.ts';
import { TaskTree } from '../../../src/extension/testing/taskTree.ts';
import { runTests } from '../../../src/extension/testing/testRun.ts';
import { domainRow } from '../../../src/language/service/domainRow.ts';
import { outageTask } from '../support/outageTask.ts';
import { copyOfDesk, eventually, rehearse } from './desk.ts';
import { inFullSuite } from './fullSuite.ts';

type Told = { readonly what: string; readonly of: string; readonly rest: readonly unknown[] };

/** Returns a controller that also records the calls of its test runs. */
function observed(controller: vscode.TestController, told: Told[]): vscode.TestController {
  const createTestRun = (...given: Parameters<vscode.TestController['createTestRun']>): vscode.TestRun => {
    const run = controller.createTestRun(...given);
    const note =
      (what: string, call: (...args: never[]) => unknown) =>
      (...args: never[]) => {
        const [first, ...rest] = args as unknown[];
        told.push({ what, of: (first as vscode.TestItem | undefined)?.id ?? '', rest: [first, ...rest] });
        return call.apply(run, args);
      };
    const entries = Object.keys(run).map((key) => {
      const value = run[key as keyof vscode.TestRun];
      return [key, typeof value === 'function' ? note(key, value as never) : value] as const;
    });
    return Object.fromEntries(entries) as unknown as vscode.TestRun;
  };
  return {
    id: controller.id,
    label: controller.label,
    items: controller.items,
    createRunProfile: controller.createRunProfile,
    refreshHandler: undefined,
    createTestItem: controller.createTestItem,
    invalidateTestResults: controller.invalidateTestResults,
    dispose: controller.dispose,
    createTestRun,
  };
}

describe('the Test Explorer', () => {
  const desk = copyOfDesk();
  const { folder } = desk;
  writeFileSync(join(folder, 'tasks', 'outage.task.yaml'), outageTask);
  const own = vscode.tests.createTestController('rehearsal.host', 'Rehearsal in the host');
  const told: Told[] = [];
  const controller = observed(own, told);
  const tree = new TaskTree(
    controller,
    async () => [folder],
    async (of, grouping) => domainRow(loadDomain(of, { soundness: false }), grouping),
  );
  const memory = new Map<string, unknown>();
  const extensionPath = vscode.extensions.getExtension('rehearsal.rehearsal')?.extensionPath ?? '';
  const workspaceState = {
    get: (key: string) => memory.get(key),
    update: async (key: string, value: unknown) => void memory.set(key, value),
  };
  const context = {
    extension: { workspaceState, subscriptions: [] },
    log: { info: () => undefined },
    cli: join(extensionPath, 'dist', 'rehearsal.mjs'),
    environment: async () => ({ ELECTRON_RUN_AS_NODE: '1' }),
  } as unknown as Context;
  const explorer: Explorer = { context, controller, tree, shown: new Map(), debugged: new Set() };
  const { token } = new vscode.CancellationTokenSource();

  before(async () => {
    await tree.resolve();
    const [[, domain] = []] = [...own.items];
    await tree.resolve(domain);
  });
  beforeEach(() => {
    told.length = 0;
  });
  after(() => {
    own.dispose();
    desk.remove();
  });

  const task = (id: string): vscode.TestItem => {
    const item = tree.task(folder, id);
    assert.ok(item, `there is no item of ${id}`);
    return item;
  };
  const run = (include: readonly vscode.TestItem[], trials: number, isCovered = false) =>
    runTests(explorer, new vscode.TestRunRequest(include), token, { trials, isCovered });
  const calls = (what: string) => told.filter((each) => each.what === what);
  const messages = (of: string): readonly vscode.TestMessage[] =>
    told.flatMap((each) => (each.what === 'failed' && each.of === of ? [each.rest[1]].flat() : [])) as never;

  it('has tasks under their splits, each at its place in its file', () => {
    const [[, domain] = []] = [...own.items];
    assert.equal(domain?.label, 'order-desk');
    assert.deepEqual([...(domain?.children ?? [])].map(([id]) => id).sort(), ['split:test', 'split:train']);
    const lines = readFileSync(join(folder, 'tasks', 'changes.task.yaml'), 'utf8').split('\n');
    for (const id of ['new-address', 'second-thoughts']) {
      const { range, uri, tags } = task(id);
      assert.equal(basename(uri?.fsPath ?? ''), 'changes.task.yaml');
      assert.ok(lines[range?.start.line ?? 0]?.includes(`id: ${id}`), id);
      assert.ok(tags.some((tag) => tag.id.startsWith('persona:')) && tags.some((tag) => tag.id.startsWith('split:')));
    }
  });

  it('runs the tasks of a group, and leaves those out that are excluded', async () => {
    const group = task('lamp-variant').parent;
    const request = { include: group ? [group] : [], exclude: [task('new-address')] };
    const ids = (await chosenTests(tree, controller, request)).map(({ id }) => id);
    assert.ok(ids.includes('lamp-variant') && !ids.includes('new-address') && !ids.includes('second-thoughts'));
  });

  describe('a run of a task that passes and one that fails', () => {
    let heard: readonly Told[];
    before(async () => {
      told.length = 0;
      await run([task('lamp-variant'), task('new-address')], 1, true);
      heard = [...told];
    });
    beforeEach(() => {
      told.push(...heard);
    });

    it('reports why one failed, where, and the rows that differ', async () => {
      assert.deepEqual(
        calls('passed').map(({ of }) => of),
        ['new-address'],
      );
      assert.deepEqual(
        calls('failed').map(({ of }) => of),
        ['lamp-variant'],
      );
      const [why, rows] = messages('lamp-variant');
      assert.match(String(why?.message), /^Reward 0, the agent failed: rule confirm-before-write was violated/);
      assert.match(rows?.expectedOutput ?? '', /^orders\.W1138\n {2}items\[0\]\.variant: "brass"/);
      assert.match(rows?.actualOutput ?? '', /^orders\.W1138\n {2}items\[0\]\.variant: "white"/);
      const [step, rule] = why?.stackTrace ?? [];
      assert.match(step?.label ?? '', /^turn \d+, step 16: change_item violated confirm-before-write$/);
      assert.match(step?.uri?.fsPath ?? '', /lamp-variant\.0\.traj\.jsonl$/);
      assert.deepEqual([step?.position?.line, step?.uri?.fragment], [16, 'step-16']);
      await vscode.commands.executeCommand('vscode.open', step?.uri);
      await eventually(() => {
        const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
        assert.ok(shown instanceof vscode.TabInputCustom && shown.uri.fragment === 'step-16');
      });
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      assert.equal(basename(rule?.uri?.fsPath ?? ''), 'policy.md');
      const policy = readFileSync(join(folder, 'policy.md'), 'utf8').split('\n');
      assert.match(policy.slice(rule?.position?.line).slice(0, 3).join(' '), /\{#confirm-before-write\}/);
      assert.equal(basename(why?.stackTrace?.at(-1)?.uri?.fsPath ?? ''), 'lamp-variant.task.yaml');
      assert.ok(calls('appendOutput').some(({ rest }) => /user .*I'm Hugo Okafor.*\r\n/.test(String(rest[0]))));
      assert.equal(calls('end').length, 1);
    });

    it('covers the policy and the tools: how often each rule was checked and each tool called, together and by task', async () => {
      const files = calls('addCoverage').map(({ rest }) => rest[0] as vscode.FileCoverage);
      assert.deepEqual(files.map(({ uri }) => basename(uri.fsPath)).sort(), ['policy.md', 'tools.ts']);
      const policy = files.find(({ uri }) => uri.fsPath.endsWith('policy.md')) as vscode.FileCoverage;
      const executed = (name: RegExp, test?: vscode.TestItem) =>
        coverageDetails(policy, test).flatMap((each) =>
          each instanceof vscode.DeclarationCoverage && name.test(each.name) ? [each.executed as number] : [],
        );
      const [all = 0] = executed(/^confirm-before-write \(violated 2 times\)$/);
      const [one = 0] = executed(/^confirm-before-write \(violated 2 times\)$/, task('lamp-variant'));
      const [other = 0] = executed(/^confirm-before-write$/, task('new-address'));
      assert.deepEqual([all, one > 0, other > 0], [one + other, true, true]);
      assert.deepEqual(executed(/^refund-method/), [0]);
      assert.ok(policy.statementCoverage.covered < policy.statementCoverage.total);
    });

    it('is not shown a second time', async () => {
      const names = readdirSync(workOf('runs', folder));
      assert.ok(names.length > 0);
      const shown = await Promise.all(names.map((name) => publishRun(explorer, join(workOf('runs', folder), name))));
      assert.deepEqual(shown.filter(Boolean), []);
    });
  });

  it('trials are under their task; one that fails fails it, with pass^k', async () => {
    const item = task('address-in-an-outage');
    await run([item], 3);
    assert.deepEqual([...item.children].map(([id]) => id).sort(), ['trial:0', 'trial:1', 'trial:2']);
    assert.deepEqual(
      calls('passed')
        .map(({ of }) => of)
        .sort(),
      ['trial:0', 'trial:2'],
    );
    assert.deepEqual(
      calls('failed').map(({ of }) => of),
      ['trial:1', 'address-in-an-outage'],
    );
    assert.equal(item.label, 'address-in-an-outage (2/3 passed, pass^3 0.00)');
    assert.match(
      String(messages('address-in-an-outage')[0]?.message),
      /^2 of 3 trials passed: pass\^1 0\.67, pass\^3 0/,
    );
    const [why, rows] = messages('trial:1');
    assert.equal(rows?.expectedOutput, 'orders.W1012\n  address: "9 Garden Close, Dunmore"');
    assert.ok(why?.stackTrace?.some(({ label }) => /change_address failed/.test(label)));
  });

  it('cancelling skips what did not come out, and keeps the run', async () => {
    const source = new vscode.CancellationTokenSource();
    const all = await chosenTests(tree, controller, new vscode.TestRunRequest());
    const running = runTests(explorer, new vscode.TestRunRequest(undefined), source.token, { trials: 20 });
    // The first result shows that the run has started; many more are to come.
    await eventually(() => assert.ok(calls('passed').length + calls('failed').length > 0, 'no rollout finished'));
    source.cancel();
    await running;
    assert.ok(calls('skipped').length > 0);
    assert.deepEqual(calls('errored'), []);
    assert.ok(all.length > 40);
    assert.equal(calls('end').length, 1);
  });

  it('tasks of one domain are one run, also if one names another agent', async () => {
    const runs = workOf('runs', folder);
    const before = readdirSync(runs);
    await run([task('lamp-variant'), task('new-address')], 1);
    assert.deepEqual(
      [calls('failed'), calls('passed')].map((all) => all.map(({ of }) => of)),
      [['lamp-variant'], ['new-address']],
    );
    assert.equal(readdirSync(runs).filter((name) => !before.includes(name)).length, 1);
  });

  it('an error in a file ends only the tasks that it concerns, and is shown on the item', async () => {
    const file = join(folder, 'tasks', 'broken.task.yaml');
    writeFileSync(file, 'id: broken\npersona: [unknown\n');
    await tree.read(folder);
    const [[, domain] = []] = [...own.items];
    assert.equal(domain?.children.get(`file:${file}`), undefined);
    assert.match(String(task('broken').error), /^broken\.task\.yaml:\d+: /);
    await run([task('new-address'), task('broken')], 1);
    assert.deepEqual(
      ['passed', 'errored'].map((what) => calls(what).map(({ of }) => of)),
      [['new-address'], ['broken']],
    );
    writeFileSync(file, 'id: unknown\npersona: missing\nuser: { goal: None. }\n');
    await tree.read(folder);
    assert.match(String(task('unknown').error), /missing/);
    told.length = 0;
    await run([task('new-address'), task('unknown')], 1);
    assert.deepEqual(
      ['passed', 'errored'].map((what) => calls(what).map(({ of }) => of)),
      [['new-address'], ['unknown']],
    );
    const [[message] = []] = calls('errored').map(({ rest }) => [rest[1]].flat() as vscode.TestMessage[]);
    assert.match(String(message?.message).split('\n')[0] ?? '', /^broken\.task\.yaml:2: .*missing/);
    await vscode.workspace.fs.delete(vscode.Uri.file(file));
    await tree.read(folder);
    assert.equal(tree.task(folder, 'unknown'), undefined);
    assert.equal(domain?.children.get(`file:${file}`), undefined);
  });

  it('a change of a file keeps the items of tasks that are still there', async () => {
    const before = task('lamp-variant');
    const line = before.range?.start.line ?? 0;
    const file = before.uri?.fsPath ?? '';
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, `# One line more.\n${text}`);
    await tree.read(folder);
    assert.equal(task('lamp-variant'), before);
    assert.equal(before.range?.start.line, line + 1);
    writeFileSync(file, text);
    appendFileSync(file, '\n');
    await tree.read(folder);
  });

  inFullSuite('a run of the command line is shown once, and again only when more of it is finished', async () => {
    const out = join(workOf('runs', folder), 'from-a-terminal');
    const terminal = (trials: number) =>
      rehearse(
        'eval',
        folder,
        '--agent',
        'scripted',
        '--tasks',
        'address-in-an-outage',
        '--trials',
        `${trials}`,
        '--out',
        out,
      );
    const item = task('address-in-an-outage');
    // A single trial is the result of the task itself: the three trials before it are gone.
    await terminal(1);
    assert.equal(await publishRun(explorer, out), true);
    assert.deepEqual([...item.children], []);
    assert.equal(item.label, 'address-in-an-outage');
    assert.deepEqual(
      calls('passed').map(({ of }) => of),
      ['address-in-an-outage'],
    );
    assert.equal(await publishRun(explorer, out), false);
    await terminal(2);
    told.length = 0;
    assert.equal(await publishRun(explorer, out), true);
    assert.deepEqual(
      calls('failed').map(({ of }) => of),
      ['trial:1', 'address-in-an-outage'],
    );
    assert.deepEqual([...item.children].map(([id]) => id).sort(), ['trial:0', 'trial:1']);
    assert.equal(item.label, 'address-in-an-outage (1/2 passed, pass^2 0.00)');
    assert.equal(await publishRun(explorer, out), false);
  });

  it('Debug starts a session on the task, and shows how its rollout came out', async () => {
    const started: string[] = [];
    // It stops at the violation, and at the reward; to continue from there ends the session.
    const tracker = vscode.debug.registerDebugAdapterTrackerFactory('rehearsal', {
      createDebugAdapterTracker: (session) => ({
        onDidSendMessage: ({ event }: { readonly event?: string }) => {
          if (event === 'stopped') void session.customRequest('continue', { threadId: 1 });
        },
      }),
    });
    const sessions = vscode.debug.onDidStartDebugSession(({ configuration }) => started.push(configuration['task']));
    try {
      await debugTests(explorer, new vscode.TestRunRequest([task('lamp-variant')]), token);
    } finally {
      tracker.dispose();
      sessions.dispose();
    }
    assert.deepEqual(started, ['lamp-variant']);
    assert.deepEqual(
      calls('failed').map(({ of }) => of),
      ['lamp-variant'],
    );
    assert.equal(calls('end').length, 1);
  });

  it('Debug ends its session when the test run is cancelled, as the first Stop of a session does', async () => {
    const source = new vscode.CancellationTokenSource();
    const sessions = vscode.debug.onDidStartDebugSession(() => source.cancel());
    try {
      await debugTests(explorer, new vscode.TestRunRequest([task('lamp-variant')]), source.token);
    } finally {
      sessions.dispose();
    }
    await eventually(() => assert.equal(vscode.debug.activeDebugSession, undefined));
    assert.deepEqual(
      calls('skipped').map(({ of }) => of),
      ['lamp-variant'],
    );
    assert.match(String(calls('appendOutput')[0]?.rest[0]), /has no result/);
  });
});
