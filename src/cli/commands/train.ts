import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Task } from '../../engine/core/task.ts';
import { runBatch } from '../../engine/shell/batch.ts';
import { makeRunFolder } from '../../engine/shell/disk.ts';
import { Fault } from '../../engine/shell/fault.ts';
import { signingKey } from '../../engine/shell/ledger.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';
import { runName } from '../../engine/shell/runName.ts';
import { openSupervisor } from '../../engine/shell/supervisor.ts';
import { type Command, type Given, text } from '../command.ts';
import { type Io, progress, UsageError } from '../io.ts';
import { askAtTerminal, openDomain, trialsOf, wholeNumber } from '../rolloutOptions.ts';
import { type TrainingKind as Kind, trainingKinds as kinds, type Launch } from '../targets/target.ts';
import { keepPlace, placeOf, targetAt } from '../targets/targets.ts';
import { launchTrainer } from '../trainerLaunch.ts';
import { diskOf, operations, runOperation } from '../trainingOperations.ts';
import { type TrainingUser, trainingUser } from '../trainingUser.ts';

export const train: Command = {
  name: 'train',
  summary: 'train a model on rollouts of a domain: SFT, then GRPO',
  help: `rehearsal train sft|grpo|evaluate DOMAIN [options]
rehearsal train stop|resume|follow|fetch RUN [options]

Trains on this machine, or on the target that is named; docs/training-targets.md says what each needs. SFT learns from successful recordings; without --recordings the gold seat plays the
training tasks first. GRPO plays groups of rollouts with the model and learns from their rewards. Evaluate
measures a checkpoint on the test tasks, at temperature 1 and greedy, and writes result.json.

RUN is a run's folder, or its name in .rehearsal/training. Stop ends it after its current optimizer step, with a
checkpoint. Resume goes on from the last checkpoint, where the run was started. Follow brings what it wrote elsewhere
into its folder here until it is over. Fetch brings a checkpoint here.

  --model NAME       smollm2, tiny (random, for trying out), a checkpoint's folder, or a hub id (default: smollm2)
  --steps N          optimizer steps (default: 40 for SFT, 20 for GRPO)
  --recordings PATH  SFT: a run's folder, or a recording, to learn from
  --trials K         SFT without recordings: rollouts of the gold seat for each training task (default: 4);
                     evaluate: rollouts for each test task, at each temperature (default: 8)
  --user SEAT        GRPO and evaluate: who plays the user: agenda or openai:MODEL[@BASE_URL] (default: the domain's for
                     training or for evaluation)
  --profile NAME     cpu, paper, or trial (seconds a step, to see that all works): sets of hyper-parameters
                     (default: trial for the model tiny, else cpu)
  --set KEY=VALUE    one hyper-parameter, as JSON; may stand several times
  --out FOLDER       the run's folder (default: .rehearsal/training/<id> here)
  --resume           go on from the last checkpoint of --out
  --detach           return once it runs; it lives on, and ends when a file named "stop" appears in its folder
  --python PATH      the Python of the target that makes the trainer's environment (3.11 or newer)
  --target TARGET    where to train (default: local, this machine)
  --disk GB          the free disk that the run needs there beside what is copied
  --checkpoint NAME  fetch: which one (default: the newest)
  --json             machine-readable output
`,
  options: {
    model: { type: 'string' },
    steps: { type: 'string' },
    recordings: { type: 'string' },
    trials: { type: 'string' },
    user: { type: 'string' },
    profile: { type: 'string' },
    set: { type: 'string', multiple: true },
    out: { type: 'string' },
    resume: { type: 'boolean' },
    detach: { type: 'boolean' },
    python: { type: 'string' },
    target: { type: 'string' },
    disk: { type: 'string' },
    checkpoint: { type: 'string' },
  },
  run: async (given, io) => {
    const operation = operations.find((each) => each === given.positionals[0]);
    if (operation) return runOperation(operation, given, io);
    const kind = kinds.find((each) => each === given.positionals[0]);
    if (!kind) throw new UsageError(`say what to train with: ${kinds.join(' or ')}`);
    const domain = openDomain(io, given.positionals[1]);
    const user =
      kind === 'sft'
        ? 'agenda'
        : trainingUser(domain.file, kind === 'grpo' ? 'train' : 'evaluate', text(given, 'user'), io);
    const run = runFolder(given, io, kind);
    const place = placeOf(run, text(given, 'target'), text(given, 'python'));
    const target = targetAt(place);
    const lesson = kind === 'sft' ? lessonOf(given, io, domain, run) : null;
    const config = configOf(given, io, kind, domain, run, lesson ? [lesson.path] : [], user);
    const launch: Launch = {
      kind,
      run,
      config,
      isResumed: given.values['resume'] === true,
      isDetached: given.values['detach'] === true,
      python: text(given, 'python'),
      disk: diskOf(given),
    };
    await target.preflight(launch, io);
    makeRunFolder(run);
    await target.prepare(launch, io);
    if (lesson) await playGold(lesson, io, domain);
    if (io.signal.aborted)
      throw new Fault({ who: 'infrastructure', code: 'cancelled', message: 'cancelled before training began' });
    writeFileSync(join(run, 'launch.json'), `${JSON.stringify(config, null, 2)}\n`);
    keepPlace(run, place);
    return launchTrainer(io, target, launch, given.values['json'] === true);
  },
};

function runFolder(given: Given, io: Io, kind: Kind): string {
  const out = text(given, 'out');
  if (given.values['resume'] === true) {
    if (!out) throw new UsageError('--resume needs the folder of the run: --out FOLDER');
    if (!existsSync(resolve(io.cwd, out)))
      throw new UsageError(`${out}: there is no run to go on with. Name its folder, or begin one without --resume`);
  }
  return out ? resolve(io.cwd, out) : resolve(io.cwd, '.rehearsal', 'training', runName(kind));
}

/** What SFT learns from: recordings at a path, and the rollouts of the gold seat that are to lie there first. */
type Lesson = { readonly path: string; readonly tasks: readonly Task[]; readonly trials: number };

/** What was given, else rollouts of the gold seat on the training tasks. Nothing is played yet. */
function lessonOf(given: Given, io: Io, domain: LoadedDomain, run: string): Lesson {
  const named = text(given, 'recordings');
  if (named) {
    const path = resolve(io.cwd, named);
    if (!existsSync(path)) throw new UsageError(`${named}: there are no recordings`);
    return { path, tasks: [], trials: 0 };
  }
  const tasks = domain.tasks.filter(({ split }) => split === 'train');
  if (tasks.length === 0) throw new UsageError(`${domain.folder} has no task in the split train`);
  return { path: join(run, 'gold'), tasks, trials: trialsOf(given, tasks.length, 4) };
}

async function playGold({ path, tasks, trials }: Lesson, io: Io, domain: LoadedDomain): Promise<void> {
  if (tasks.length === 0) return;
  io.err(`the gold seat plays ${tasks.length} tasks, ${trials} trials each\n`);
  const supervisor = await openSupervisor(domain, { log: (line) => io.err(`${line}\n`) });
  const show = progress(io);
  const total = tasks.length * trials;
  let done = 0;
  try {
    const options = {
      folder: path,
      tasks,
      trials,
      seed: 'gold',
      basis: 'train',
      agent: { type: 'gold' },
      user: { type: 'agenda' },
      concurrency: 16,
    } as const;
    const ports = { key: signingKey(), readKey: () => undefined, askPerson: askAtTerminal(io), signal: io.signal };
    await runBatch(supervisor, { ...options, ...ports, onFinished: () => show(++done, total, 'gold rollouts') });
  } finally {
    await supervisor.close();
  }
}

function configOf(
  given: Given,
  io: Io,
  kind: Kind,
  domain: LoadedDomain,
  run: string,
  recordings: readonly string[],
  user: TrainingUser,
): Record<string, unknown> {
  const model = modelOf(given, io);
  const common = {
    run,
    profile: text(given, 'profile') ?? (model === 'tiny' ? 'trial' : 'cpu'),
    model,
    dialect: domain.file.dialect,
  };
  const engine = {
    domain: domain.folder,
    engine_command: [process.execPath, process.argv[1], 'serve', '--stdio'],
    engine_cwd: run,
    user,
  };
  const steps = wholeNumber(given, 'steps');
  const trials = trialsOf(given, domain.tasks.filter(({ split }) => split === 'test').length, 8);
  switch (kind) {
    case 'sft':
      return { ...common, steps: steps ?? 40, recordings, ...settings(given) };
    case 'grpo':
      return { ...common, ...engine, steps: steps ?? 20, ...settings(given) };
    case 'evaluate':
      return { ...common, ...engine, trials, greedy_trials: trials, ...settings(given) };
    default:
      throw kind satisfies never;
  }
}

/** The trainer runs in the run's folder, so a checkpoint's folder is named by its whole path. */
function modelOf(given: Given, io: Io): string {
  const model = text(given, 'model') ?? 'smollm2';
  const folder = resolve(io.cwd, model);
  if (existsSync(folder)) return folder;
  if (!/^[\w-][\w.-]*(\/[\w.-]+)?$/.test(model))
    throw new UsageError(
      `--model ${model}: there is no such folder. A model is smollm2, tiny, a checkpoint's folder, or a hub id (NAME or OWNER/NAME)`,
    );
  return model;
}

function settings(given: Given): Record<string, unknown> {
  const pairs = given.values['set'];
  if (!Array.isArray(pairs)) return {};
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, value] = /^([a-z_]+)=(.*)$/.exec(String(pair)) ?? [];
      if (!key || value === undefined) throw new UsageError(`--set is KEY=VALUE, not "${String(pair)}"`);
      try {
        return [key, JSON.parse(value)];
      } catch {
        return [key, value];
      }
    }),
  );
}
