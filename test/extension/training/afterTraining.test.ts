import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { synthesize } from '../../../src/extension/coldStart/synthesize.ts';
import { trainingRuns } from '../../../src/extension/runs/runsOfWorkspace.ts';
import { syntheses } from '../../../src/extension/runs/synthFolders.ts';
import { firstConfiguration } from '../../../src/extension/training/configuration.ts';
import { compareEvaluations } from '../../../src/extension/training/evaluations.ts';
import { runExperiment } from '../../../src/extension/training/experiments.ts';
import { exportCheckpoint } from '../../../src/extension/training/exportCheckpoint.ts';
import { serveCheckpoint } from '../../../src/extension/training/serveCheckpoint.ts';
import { evaluateCheckpoint, trainConfigured } from '../../../src/extension/training/startTraining.ts';
import { writeSynthesis } from '../../../src/synthesis/synthesisFolder.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** The editor with its user: the messages that it shows, and the user's answers. */
const editor = vi.hoisted(() => ({
  workspace: '',
  /** Another folder of the same window. */
  second: '',
  said: [] as string[],
  opened: [] as string[],
  copied: '',
  press: undefined as string | undefined,
  save: undefined as string | undefined,
  compared: [] as unknown[],
}));

vi.mock('../../../src/extension/panels/comparisonPanel.ts', () => ({
  openComparison: (_: unknown, folders: unknown) => void editor.compared.push(folders),
}));

vi.mock('vscode', () => {
  class Cancelling {
    readonly heard: (() => unknown)[] = [];
    readonly token = {
      isCancellationRequested: false,
      onCancellationRequested: (hear: () => unknown) => {
        this.heard.push(hear);
        return { dispose: () => undefined };
      },
    };
    cancel() {
      this.token.isCancellationRequested = true;
      for (const hear of this.heard) hear();
    }
  }
  const folder = (path = editor.workspace) => ({ uri: { fsPath: path } });
  const say = async (words: string) => {
    editor.said.push(words);
    const pressed = editor.press;
    editor.press = undefined;
    return pressed;
  };
  return {
    CancellationTokenSource: Cancelling,
    EventEmitter: class {
      fire() {}
    },
    ProgressLocation: {},
    Uri: { file: (path: string) => ({ fsPath: path }) },
    commands: { executeCommand: async () => undefined },
    env: {
      clipboard: {
        writeText: async (text: string) => {
          editor.copied = text;
        },
      },
    },
    workspace: {
      isTrusted: true,
      textDocuments: [],
      get workspaceFolders() {
        return [folder(), ...(editor.second === '' ? [] : [folder(editor.second)])];
      },
      getWorkspaceFolder: () => folder(),
      findFiles: async () => [{ fsPath: `${editor.second}/desk/domain.yaml` }],
      getConfiguration: () => ({ get: () => undefined }),
    },
    window: {
      showInformationMessage: say,
      showErrorMessage: say,
      showQuickPick: async (items: readonly { readonly picked?: boolean }[], { canPickMany = false }) =>
        canPickMany ? items : items[0],
      showInputBox: async ({ value }: { readonly value?: string }) => value,
      showSaveDialog: async () => editor.save && { fsPath: editor.save },
      showTextDocument: async ({ fsPath }: { readonly fsPath: string }) => void editor.opened.push(fsPath),
      withProgress: (_: object, run: (progress: object, token: object) => unknown) =>
        run({ report: () => undefined }, new Cancelling().token),
    },
  };
});

/** A command line that writes its arguments and its folder to a file, and answers as the real one would. */
const cli = join(temporaryFolder('after-training'), 'cli.mjs');
const note = join(dirname(cli), 'note.json');
writeFileSync(
  cli,
  `import { writeFileSync } from 'node:fs';
  const args = process.argv.slice(2);
  writeFileSync(${JSON.stringify(note)}, JSON.stringify({ args, cwd: process.cwd() }));
  const answers = {
    'serve-model': { url: 'http://127.0.0.1:1/v1', token: 'secret' },
    'export-model': { model: 'x', bytes: 2500000 },
  };
  if (args[1].includes('broken')) {
    console.log(JSON.stringify({ error: { message: 'it is broken' } }));
    process.exit(2);
  }
  console.log(JSON.stringify(answers[args[0]] ?? {}));
  if (args[0] === 'serve-model') setInterval(() => {}, 1000);`,
);
const context = {
  cli,
  environment: async () => ({}),
  log: { info: () => undefined },
  extension: { subscriptions: [] as object[] },
} as never;
const asked = () =>
  JSON.parse(readFileSync(note, 'utf8')) as { readonly args: readonly string[]; readonly cwd: string };

/** Long enough for a machine that is busy with other work. */
const limit = { timeout: 240_000 };

beforeEach(() => {
  Object.assign(editor, {
    workspace: temporaryFolder('after-training'),
    second: '',
    said: [],
    opened: [],
    compared: [],
    copied: '',
    press: undefined,
    save: undefined,
  });
});

function run(name: string, kind: string, workspace = editor.workspace): string {
  const folder = join(workspace, '.rehearsal', 'training', name);
  const checkpoint = join(folder, 'checkpoints', 'final');
  mkdirSync(checkpoint, { recursive: true });
  writeFileSync(join(checkpoint, 'config.json'), '{}');
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ kind, model: 'tiny', domain: 'desk', steps: 1 }));
  return folder;
}

test('a checkpoint of a run is evaluated with as many trials as were asked for', async () => {
  const of = run('20260101-000000-sft', 'sft');
  const domain = join(editor.workspace, 'desk');
  const folder = await evaluateCheckpoint(context, { of, domain, trials: 3 }, () => undefined);
  expect(folder).toMatch(/evaluate/);
  const checkpoint = join(of, 'checkpoints', 'final');
  expect(asked().args.slice(0, 7)).toEqual(['train', 'evaluate', domain, '--model', checkpoint, '--trials', '3']);
  expect(existsSync(folder ?? '')).toBe(true);
});

test('evaluations that two windows start in the same second each have their own folder', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T10:15:30Z') });
  onTestFinished(() => void vi.useRealTimers());
  const of = run('20260101-000000-sft', 'sft');
  const domain = join(editor.workspace, 'desk');
  const start = () => evaluateCheckpoint(context, { of, domain, trials: 3 }, () => undefined);
  const folders = await Promise.all([start(), start()]);
  const training = join(editor.workspace, '.rehearsal', 'training');
  expect(folders.toSorted()).toEqual([
    join(training, '20261121-101530-evaluate'),
    join(training, '20261121-101530-evaluate-2'),
  ]);
});

test('evaluations are compared with the oldest; fewer than two give no comparison', async () => {
  const before = run('20260101-000000-evaluate', 'evaluate');
  run('20260102-000000-sft', 'sft');
  expect(await compareEvaluations(context, undefined)).toBeUndefined();
  expect(editor.said).toEqual([expect.stringContaining('There are fewer than two evaluations in this workspace.')]);
  const after = run('20260103-000000-evaluate', 'evaluate');
  expect(await compareEvaluations(context, undefined)).toEqual([before, after]);
  expect(editor.compared).toEqual([[before, after]]);
});

test('a checkpoint is served with its address and its token to copy, until the window closes', async () => {
  const of = run('20260101-000000-sft', 'sft');
  editor.press = 'Copy Address and Token';
  expect(await serveCheckpoint(context, of)).toEqual({ url: 'http://127.0.0.1:1/v1', token: 'secret' });
  expect(asked().args).toEqual(['serve-model', join(of, 'checkpoints', 'final'), '--json']);
  expect(editor.said[0]).toContain('20260101-000000-sft/final is served at http://127.0.0.1:1/v1');
  await vi.waitFor(
    () => expect(editor.copied).toBe('OPENAI_BASE_URL=http://127.0.0.1:1/v1\nOPENAI_API_KEY=secret\n'),
    limit,
  );
  for (const each of (context as { extension: { subscriptions: { dispose: () => void }[] } }).extension.subscriptions)
    each.dispose();
});

test('a checkpoint that cannot be served is reported, and a run without a checkpoint too', async () => {
  expect(await serveCheckpoint(context, run('broken', 'sft'))).toBeUndefined();
  await vi.waitFor(() => expect(editor.said).toEqual(['it is broken']), limit);
  expect(await serveCheckpoint(context, join(editor.workspace, 'none'))).toBeUndefined();
  expect(editor.said[1]).toContain('none has no checkpoint here');
});

test('merged weights are exported where the person says', async () => {
  const of = run('20260101-000000-sft', 'sft');
  expect(await exportCheckpoint(context, of)).toBeUndefined();
  editor.save = join(editor.workspace, 'merged');
  expect(await exportCheckpoint(context, of)).toBe(editor.save);
  expect(asked().args).toEqual(['export-model', join(of, 'checkpoints', 'final'), '--out', editor.save, '--json']);
  expect(editor.said).toEqual([`Exported 2.5 MB of weights to ${editor.save}.`]);
});

test('an experiment runs in the folder that is open, and its table is shown', async () => {
  const table = join(editor.workspace, '.rehearsal', 'experiments', 'a', 'result.txt');
  const file = join(editor.workspace, 'a.experiment.yaml');
  expect(await runExperiment(context, file)).toBe(table);
  expect(asked()).toEqual({ args: ['experiment', file, '--json'], cwd: editor.workspace });
  expect(editor.opened).toEqual([table]);
  expect(await runExperiment(context, join(editor.workspace, 'broken.experiment.yaml'))).toBeUndefined();
  expect(editor.said).toEqual(['it is broken']);
});

test('a new configuration can be one of an evaluation', () => {
  expect(firstConfiguration('evaluate', 'smollm2', null)).toContain(
    'kind: evaluate\ndomain: .\nmodel: smollm2\ntrials: 8\n',
  );
  expect(firstConfiguration('sft', 'tiny', 40)).toContain('profile: trial\nsteps: 40\n');
});

/** A domain in the second folder of the window. */
function secondDesk(): string {
  editor.second = temporaryFolder('second');
  const domain = join(editor.second, 'desk');
  mkdirSync(domain);
  return domain;
}

test.each([
  [
    'an evaluation',
    'training',
    (domain: string) => evaluateCheckpoint(context, { domain, model: 'tiny', trials: 1 }, () => undefined),
  ],
  [
    'training by a configuration',
    'training',
    (domain: string) => {
      const file = join(editor.workspace, 'a.training.yaml');
      writeFileSync(file, `kind: grpo\ndomain: [{ folder: ${domain} }]\n`);
      return trainConfigured(context, file, () => undefined);
    },
  ],
  ['a synthesis', 'synth', () => synthesize(context)],
])('%s is written into the folder of the window that contains the domain', async (_what, kind, begin) => {
  const folder = await begin(secondDesk());
  expect(dirname(folder ?? '')).toBe(join(editor.second, '.rehearsal', kind));
  expect(existsSync(join(editor.workspace, '.rehearsal'))).toBe(false);
});

test.each([
  [
    'a training run',
    (domain: string) => evaluateCheckpoint(context, { domain, model: 'tiny', trials: 1 }, () => undefined),
  ],
  ['a synthesis', () => synthesize(context)],
])('%s begins in no folder that cannot be written, and another folder is offered', async (_what, begin) => {
  const domain = secondDesk();
  // The path is a file instead of a folder, so that even root cannot write to it.
  writeFileSync(join(editor.second, '.rehearsal'), '');
  writeFileSync(note, '{}');
  expect(await begin(domain)).toBeUndefined();
  expect(editor.said).toEqual([expect.stringMatching(/cannot be written, so nothing was run. Choose another folder/)]);
  expect(asked()).toEqual({});
});

test('training runs and syntheses of all folders of the window are listed, equal names with their folder', async () => {
  secondDesk();
  const [old, same] = ['20260101-000000-sft', '20260102-000000-grpo'] as const;
  const folders = [run(same, 'grpo'), run(same, 'grpo', editor.second), run(old, 'sft', editor.second)];
  const listed = (await trainingRuns()).map(({ id, folder }) => [id, folder]);
  const ids = [`${same} (${editor.workspace})`, `${same} (${editor.second})`, old];
  expect(listed.toSorted()).toEqual(ids.map((id, at) => [id, folders[at]]).toSorted());
  expect(listed.at(-1)).toEqual([old, folders[2]]);
  const domains = [{ name: 'desk', folder: editor.second }];
  const file = { format: 1, domains, teacher: 'gold', count: 1, nearMisses: 0, seed: '1' } as const;
  const synthesis = join(editor.second, '.rehearsal', 'synth', 'a');
  mkdirSync(synthesis, { recursive: true });
  writeSynthesis(synthesis, file);
  expect((await syntheses()).map(({ folder }) => folder)).toEqual([synthesis]);
});
