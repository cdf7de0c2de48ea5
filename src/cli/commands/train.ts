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
import { explain, type TrainingKind, trainingKeys, trainingKinds } from '../../engine/shell/trainingKeys.ts';
import { type Command, type Given, text } from '../command.ts';
import { type ExitCode, type Io, progress, UsageError } from '../io.ts';
import { askAtTerminal, trialsOf } from '../rolloutOptions.ts';
import type { Launch } from '../targets/target.ts';
import { keepPlace, placeOf, targetAt } from '../targets/targets.ts';
import { launchTrainer } from '../trainerLaunch.ts';
import { type TrainingRequest, trainingConfiguration, trainingRequest } from '../trainingConfiguration.ts';
import { readTrainingFile } from '../trainingFile.ts';
import { diskOf, operations, runOperation } from '../trainingOperations.ts';

export const train: Command = {
  name: 'train',
  summary: 'train a model on rollouts of a domain: SFT, then GRPO',
  help: `rehearsal train sft|grpo|evaluate DOMAIN... [options]
rehearsal train stop|resume|follow|fetch RUN [options]

Trains on this machine, or on the target that is named; docs/training-targets.md says what each needs. SFT learns
from successful recordings; without --recordings the gold seat plays the training tasks first. GRPO plays groups of rollouts with the model and learns from their rewards. Evaluate
measures a checkpoint on the test tasks, at temperature 1 and greedy, and writes result.json.
GRPO can learn from several domains at once, and is evaluated on their test tasks while it trains.

RUN is a run's folder, or its name in .rehearsal/training. Stop ends it after its current optimizer step, with a
checkpoint. Resume goes on from the last checkpoint, where the run was started. Follow brings what it wrote elsewhere
into its folder here until it is over. Fetch brings a checkpoint here.

  --config FILE      a configuration (*.training.yaml): any key of --explain; options stand above it, and paths in it
                     are relative to it. Without DOMAIN its domain is taken, without sft|grpo|evaluate its kind
  --explain          say what every key does (or the keys that stand in the place of DOMAIN), in which unit, with its
                     default in each profile, what the paper says, and its name in TRL and verl; nothing starts
  --profile NAME     cpu, gpu (one GPU), paper (MUA-RL's recipe, on a cluster), or trial (seconds a step, to see that
                     all works): sets of defaults (default: trial for the model tiny, else cpu)
  --set KEY=VALUE    one key, as JSON; may stand several times
  --model NAME       smollm2, tiny (random, for trying out), a checkpoint's folder, or a hub id (default: smollm2)
  --steps N          optimizer steps, in place of the profile's steps or epochs
  --recordings PATH  SFT: a run's folder, a synthesis (what is accepted of it), or a recording, to learn from
  --trials K         SFT without recordings: rollouts of the gold seat for each training task (default: 4);
                     evaluate: rollouts for each test task, at each temperature (default: 8)
  --weights LIST     GRPO on several domains: how often groups of each are drawn, such as 2,1 (default: equally)
  --held-out FOLDER  GRPO: a domain that is evaluated and not trained on; may stand several times. The run warns where
                     it falls below the interval that it had before training
  --user SEAT        GRPO and evaluate: who plays the user: agenda or openai:MODEL[@BASE_URL] (default: the domain's for
                     training or for evaluation)
  --evaluate-user SEAT  GRPO: who plays the user when the run is evaluated (default: the domain's for evaluation)
  --out FOLDER       the run's folder (default: .rehearsal/training/<id> here)
  --resume           go on from the last checkpoint of --out
  --detach           return once it runs; it lives on, and ends when a file named "stop" appears in its folder
  --python PATH      the Python of the target that makes the trainer's environment (3.11 or newer)
  --target TARGET    where to train: local (this machine, the default), ssh://USER@HOST:PORT/FOLDER, or, for GRPO with
                     verl on a Ray cluster, ray://HOST:8265
  --disk GB          the free disk that the run needs there beside what is copied
  --checkpoint NAME  fetch: which one (default: the newest)
  --json             machine-readable output
`,
  options: {
    config: { type: 'string' },
    explain: { type: 'boolean' },
    profile: { type: 'string' },
    set: { type: 'string', multiple: true },
    model: { type: 'string' },
    steps: { type: 'string' },
    recordings: { type: 'string' },
    trials: { type: 'string' },
    weights: { type: 'string' },
    'held-out': { type: 'string', multiple: true },
    user: { type: 'string' },
    'evaluate-user': { type: 'string' },
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
    if (given.values['explain'] === true) return explainKeys(given, io);
    const { request, place, target, lesson, launch } = asked(given, io);
    const { run, config } = launch;
    await target.preflight(launch, io);
    makeRunFolder(run);
    await target.prepare(launch, io);
    if (lesson) await playGold(lesson, io, request.domains[0].loaded);
    if (io.signal.aborted)
      throw new Fault({ who: 'infrastructure', code: 'cancelled', message: 'cancelled before training began' });
    writeFileSync(join(run, 'launch.json'), `${JSON.stringify(config, null, 2)}\n`);
    keepPlace(run, place);
    return launchTrainer(io, target, launch, given.values['json'] === true);
  },
};

/** Finds what would make a training run fail, as beginning with it does; nothing is written or spent. */
export async function preflight(given: Given, io: Io): Promise<void> {
  const { target, launch } = asked(given, io);
  await target.preflight(launch, io);
}

/** What is to be trained, and where. Throws a `UsageError` for what can't be meant. */
function asked(given: Given, io: Io) {
  const named = text(given, 'config');
  const file = named === undefined ? null : readTrainingFile(named, io.cwd);
  const request = trainingRequest(given, io, file);
  const { kind } = request;
  const run = runFolder(given, io, kind);
  const place = placeOf(run, text(given, 'target'), text(given, 'python'));
  const lesson = kind === 'sft' ? lessonOf(given, io, request, run) : null;
  const config = trainingConfiguration(given, io, request, run, lesson ? lesson.paths : []);
  const launch: Launch = {
    kind,
    run,
    config,
    placed: (words) => file?.placed(words, config) ?? words,
    isResumed: given.values['resume'] === true,
    isDetached: given.values['detach'] === true,
    python: text(given, 'python'),
    disk: diskOf(given),
  };
  return { request, place, target: targetAt(place), lesson, launch };
}

/** Prints every key of a kind of run, or those that are named behind it. */
function explainKeys(given: Given, io: Io): ExitCode {
  const [first, ...wanted] = given.positionals;
  const kind = trainingKinds.find((each) => each === first);
  if (!kind) throw new UsageError(`say whose keys: rehearsal train ${trainingKinds.join('|')} --explain`);
  const keys = trainingKeys(kind);
  const unknown = wanted.find((name) => !keys.some((key) => key.name === name));
  if (unknown !== undefined)
    throw new UsageError(`there is no key ${unknown}; known are ${keys.map(({ name }) => name).join(', ')}`);
  const shown = keys.filter(({ name, isGiven }) => (wanted.length > 0 ? wanted.includes(name) : !isGiven));
  const words = shown.map((key) => [`${key.name} (${key.type})`, ...explain(key)].join('\n    '));
  io.out(given.values['json'] === true ? `${JSON.stringify(shown)}\n` : `${words.join('\n\n')}\n`);
  return 0;
}

function runFolder(given: Given, io: Io, kind: TrainingKind): string {
  const out = text(given, 'out');
  if (given.values['resume'] === true) {
    if (!out) throw new UsageError('--resume needs the folder of the run: --out FOLDER');
    if (!existsSync(resolve(io.cwd, out)))
      throw new UsageError(`${out}: there is no run to go on with. Name its folder, or begin one without --resume`);
  }
  return out ? resolve(io.cwd, out) : resolve(io.cwd, '.rehearsal', 'training', runName(kind));
}

/** What SFT learns from: recordings at paths, and the rollouts of the gold seat that are to lie there first. */
type Lesson = { readonly paths: readonly string[]; readonly tasks: readonly Task[]; readonly trials: number };

/** What was given, else rollouts of the gold seat on the training tasks. Nothing is played yet. */
function lessonOf(given: Given, io: Io, { domains, file }: TrainingRequest, run: string): Lesson {
  const named = text(given, 'recordings');
  const written = file?.values['recordings'];
  const paths = named === undefined ? (Array.isArray(written) ? written.map(String) : []) : [resolve(io.cwd, named)];
  const missing = paths.find((path) => !existsSync(path));
  if (missing) throw new UsageError(`${named ?? missing}: there are no recordings`);
  if (paths.length > 0) return { paths, tasks: [], trials: 0 };
  const { loaded } = domains[0];
  const tasks = loaded.tasks.filter(({ split }) => split === 'train');
  if (tasks.length === 0) throw new UsageError(`${loaded.folder} has no task in the split train`);
  return { paths: [join(run, 'gold')], tasks, trials: trialsOf(given, tasks.length, 4) };
}

async function playGold({ paths, tasks, trials }: Lesson, io: Io, domain: LoadedDomain): Promise<void> {
  const [path] = paths;
  if (tasks.length === 0 || path === undefined) return;
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
