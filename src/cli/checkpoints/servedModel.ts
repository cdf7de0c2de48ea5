import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Dialect } from '../../engine/core/domain/dialect.ts';
import { checkpointScheme } from '../../engine/core/domain/seatSpec.ts';
import type { Json } from '../../engine/core/values/json.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { workFolders } from '../../engine/shell/files/workFolders.ts';
import { servedCheckpoint } from '../../engine/shell/models/parseSeat.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { checkpointsOf } from '../../engine/shell/records/trainingRun.ts';
import { nearest } from '../../engine/shell/source/nearest.ts';
import { lastLineOf } from '../python/lastLine.ts';
import {
  hubKeys,
  interpreterOf,
  preparePython,
  trainerEnvironment,
  trainerModule,
} from '../python/pythonEnvironment.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { waitReport } from '../terminal/waitReport.ts';
import { trainedChat } from './trainedChat.ts';

/** A model behind the trainer's gateway, on loopback. */
export type ServedModel = {
  /** The base URL of an OpenAI-compatible endpoint. */
  readonly url: string;
  /** The API key that the gateway requires. */
  readonly token: string;
  /** Settles when the gateway has ended; rejects with a `Fault` if it failed before it was closed. */
  readonly ended: Promise<void>;
  readonly close: () => Promise<void>;
};

export type Serving = {
  /** As `modelNamed` gives it. */
  readonly model: string;
  readonly dialect: Dialect;
  /** Whether the model thinks before it answers. */
  readonly thinking: boolean;
  /** 0, the default: a free one. */
  readonly port?: number;
  /** An existing Python that serves it, as `interpreterOf` reads it. */
  readonly python?: Json | undefined;
};

/**
 * The model that a person named for training or serving: `smollm2`, `tiny`, the whole path of a folder, or a hub id.
 * Throws a `UsageError` for what is none of them.
 * @param said how the person said it, as in `--model NAME`
 */
export function modelNamed(model: string, said: string, { cwd }: Pick<Io, 'cwd'>): string {
  const folder = resolve(cwd, model);
  if (statSync(folder, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`${said} is a file: name the folder that contains it`);
  if (existsSync(folder)) {
    throwIfRun(folder, model, said);
    return folder;
  }
  throwIfRun(resolve(cwd, workFolders.training, model), join(workFolders.training, model), said);
  if (!/^[\w-][\w.-]*(\/[\w.-]+)?$/.test(model))
    throw new UsageError(
      `${said}: there is no such folder. A model is smollm2, tiny, a checkpoint's folder, or a hub id (NAME or OWNER/NAME)`,
    );
  const meant = ownModels.includes(model) || model.includes('/') ? undefined : nearest(model, ownModels, 2);
  if (meant !== undefined)
    throw new UsageError(
      `${said}: there is no such folder, and the trainer does not know a model of this name. Did you mean "${meant}"?`,
    );
  return model;
}

/** The models that the trainer brings, by name. */
const ownModels = ['smollm2', 'tiny'];

/** Throws a `UsageError` for the folder of a training run, which contains models and is not one. */
function throwIfRun(folder: string, named: string, said: string): void {
  const newest = checkpointsOf(folder).at(-1);
  if (newest === undefined && !existsSync(join(folder, runFiles.launch))) return;
  throw new UsageError(
    newest === undefined
      ? `${said} is a training run, which has no checkpoint yet. Name a model`
      : `${said} is a training run. Did you mean its checkpoint ${join(named, runFiles.checkpoints, newest)}?`,
  );
}

/** Prints that a model's name is looked up on the hub, which takes a while where the hub does not answer. */
export function tellHub(model: string, io: Pick<Io, 'err'>): void {
  if (isAbsolute(model) || ownModels.includes(model)) return;
  io.err(`${model} is not a folder here; looking for it on the Hugging Face hub\n`);
}

/** Starts the gateway over a model and waits until it answers. What it can't load is a `Fault` in its words. */
export async function serveModel(
  io: Pick<Io, 'err' | 'signal'>,
  { model, dialect, thinking, port = 0, python }: Serving,
): Promise<ServedModel> {
  const { python: command } = await preparePython(io, interpreterOf(python, process.cwd()));
  tellHub(model, io);
  const [program, ...rest] = command;
  const chat = ['--dialect', dialect, ...(thinking ? ['--thinking'] : [])];
  const args = [...rest, ...trainerModule, 'gateway', '--model', model, ...chat, '--port', String(port)];
  const child = spawn(program, args, { env: trainerEnvironment(hubKeys), stdio: ['ignore', 'pipe', 'pipe'] });
  let words = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    words = lastLineOf(line) || words;
  });
  let isClosing = false;
  const ended = new Promise<void>((done, fail) => {
    child.once('error', (error) => fail(cannotServe(model, error.message)));
    child.once('close', (code) => (isClosing || code === 0 ? done() : fail(cannotServe(model, words))));
  });
  // Anyone who waits for it hears of its failure; no one else needs to.
  ended.catch(() => undefined);
  const close = async () => {
    isClosing = true;
    child.kill('SIGTERM');
    await ended.catch(() => undefined);
  };
  io.signal.addEventListener('abort', () => void close(), { once: true });
  const first = new Promise<string>((done) => createInterface({ input: child.stdout }).once('line', done));
  const wait = waitReport({ say: (text) => io.err(`${text}\n`), summary: () => '' });
  wait.begin(0, `the model ${model}`);
  const said = await Promise.race([first, ended.then(() => null)]).finally(wait.end);
  if (said === null) throw new Fault({ who: 'infrastructure', code: 'cancelled', message: 'cancelled' });
  const { base_url: url, token } = JSON.parse(said) as { readonly base_url: string; readonly token: string };
  return { url, token, ended, close };
}

function cannotServe(model: string, words: string): Fault {
  return new Fault({
    who: 'environment',
    code: 'model/not-served',
    message: `the model ${model} can't be served: ${words || 'its gateway exited without output'}`,
  });
}

/**
 * Plays with the checkpoint that a person put into the agent's seat behind a gateway, from before the first rollout to
 * after the last; without one, just plays.
 * @param agent the seat as it was named, `checkpoint:NAME` or another
 * @param dialect of a model that no run here has trained: the domain's
 * @param play is given an environment in which `parseSeat` knows the checkpoint
 */
export async function withCheckpoint<Result>(
  agent: string | undefined,
  dialect: Dialect,
  io: Io,
  play: (io: Io) => Promise<Result>,
): Promise<Result> {
  const served = await servedFor(agent, dialect, undefined, io);
  if (!served) return play(io);
  try {
    return await play({ ...io, environment: { ...io.environment, ...environmentOf(served) } });
  } finally {
    await served.close();
  }
}

/**
 * The checkpoint that a seat's name asks for, served; undefined for every other seat.
 * @param dialect of a model that no run here has trained: the domain's
 */
export async function servedFor(
  agent: string | undefined,
  dialect: Dialect,
  python: Json | undefined,
  io: Pick<Io, 'cwd' | 'err' | 'signal'>,
): Promise<ServedModel | undefined> {
  if (!agent?.startsWith(checkpointScheme)) return undefined;
  const model = modelNamed(agent.slice(checkpointScheme.length), agent, io);
  const { dialect: trained = dialect, thinking = false } = trainedChat(model);
  return serveModel(io, { model, dialect: trained, thinking, python });
}

/** The environment in which `parseSeat` knows a checkpoint. */
export function environmentOf({ url, token }: ServedModel): NodeJS.ProcessEnv {
  return { [servedCheckpoint.url]: url, [servedCheckpoint.token]: token };
}
