import { basename } from 'node:path';
import type { Dialect } from '../../engine/core/dialect.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/json.ts';
import { type TrainingKind, trainingKinds } from '../../engine/core/trainingKind.ts';
import { profileFor } from '../../engine/core/trainingProfile.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';
import { type Given, text, texts } from '../command.ts';
import { trainedDialect } from '../dialect.ts';
import { type Io, UsageError } from '../io.ts';
import { openDomain, trialsOf, wholeNumber } from '../rolloutOptions.ts';
import { modelNamed } from '../servedModel.ts';
import { ownEngine } from './engineCommand.ts';
import type { TrainingFile } from './trainingFile.ts';
import { trainingUser } from './trainingUser.ts';

/** A domain of a run: what is known of it, and what was said of its part in the run. */
export type TrainingDomain = { readonly loaded: LoadedDomain; readonly said: JsonObject };

/** What a person asks for: the kind of run, and the domains, in the order in which they were named. */
export type TrainingRequest = {
  readonly kind: TrainingKind;
  readonly domains: readonly [TrainingDomain, ...TrainingDomain[]];
  readonly heldOut: readonly TrainingDomain[];
  readonly file: TrainingFile | null;
};

/** Reads what the command line and the configuration's file ask for. Throws a `UsageError` for what can't be meant. */
export function trainingRequest(given: Given, io: Io, file: TrainingFile | null): TrainingRequest {
  const [first, ...rest] = given.positionals;
  const named = trainingKinds.find((each) => each === first);
  const kind = named ?? file?.kind;
  if (!kind) throw new UsageError(`say what to train with: ${trainingKinds.join(' or ')}`);
  if (file && file.kind !== kind)
    throw new UsageError(`${text(given, 'config')} is a configuration of ${file.kind}, not of ${kind}`);
  const folders = named ? rest : given.positionals;
  const said = folders.length > 0 ? folders.map((folder) => ({ folder })) : sharesIn(file?.values['domain']);
  const opened = weighted(said, text(given, 'weights')).map((each) => domainOf(each, io));
  const [one = { loaded: openDomain(io, undefined), said: {} }, ...more] = opened;
  if (more.length > 0 && kind !== 'grpo')
    throw new UsageError(`${kind} has one domain, and ${opened.length} are named; GRPO takes several`);
  const heldOut = texts(given, 'held-out').map((folder) => ({ folder }));
  const left = (heldOut.length > 0 ? heldOut : sharesIn(file?.values['held_out'])).map((each) => domainOf(each, io));
  if (left.length > 0 && kind !== 'grpo') throw new UsageError('--held-out is for GRPO, which trains on other domains');
  return { kind, domains: [one, ...more], heldOut: left, file };
}

/** The complete configuration that was asked for: options above the file; the trainer adds its profile's defaults. */
export function trainingConfiguration(
  given: Given,
  io: Io,
  { kind, domains, heldOut, file }: TrainingRequest,
  run: string,
  recordings: readonly string[],
): Readonly<Record<string, Json>> {
  const settings = settingsOf(given);
  const written = { ...file?.values, ...settings };
  const [{ loaded }] = domains;
  const model = modelOf(text(given, 'model') ?? written['model'] ?? 'smollm2', io);
  const profile = text(given, 'profile');
  const steps = wholeNumber(given, 'steps');
  const counted = kind === 'evaluate' ? trialsIn(given, loaded) : {};
  const isCounted = text(given, 'trials') !== undefined;
  const common = {
    profile: profileFor(model),
    dialect: dialectOf(domains, model, written['dialect']),
    ...counted,
    ...file?.values,
    ...(isCounted ? counted : {}),
    ...(profile === undefined ? {} : { profile }),
    ...(steps === undefined ? {} : { steps }),
    run,
    model,
  };
  const engine = { engine_command: ownEngine(), engine_cwd: run };
  const user = (purpose: 'train' | 'evaluate', option: string, key: string, { loaded: domain, said }: TrainingDomain) =>
    userOf(domain, purpose, text(given, option) ?? said[key] ?? written[key], io);
  const evaluateUser = (domain: TrainingDomain) => user('evaluate', 'evaluate-user', 'evaluate_user', domain);
  switch (kind) {
    case 'sft':
      return {
        ...common,
        ...engine,
        domain: loaded.folder,
        recordings,
        ...(isEvaluated(written) ? { evaluate_user: evaluateUser(domains[0]) } : {}),
        ...settings,
      };
    case 'grpo': {
      const shares = domains.map((each) => ({
        ...shareOf(each),
        user: user('train', 'user', 'user', each),
        evaluate_user: evaluateUser(each),
      }));
      const [only, ...others] = shares;
      const domain =
        only && others.length === 0
          ? { domain: only.folder, user: only.user, evaluate_user: only.evaluate_user }
          : { domain: shares };
      const held = heldOut.map((each) => ({ ...shareOf(each), evaluate_user: evaluateUser(each) }));
      return { ...common, ...engine, ...domain, ...(held.length > 0 ? { held_out: held } : {}), ...settings };
    }
    case 'evaluate':
      return {
        ...common,
        ...engine,
        domain: loaded.folder,
        user: user('evaluate', 'user', 'user', domains[0]),
        ...settings,
      };
    default:
      throw kind satisfies never;
  }
}

/** Whether a run of SFT plays rollouts at all; one that does not asks for no user. */
const isEvaluated = ({ evaluate_every: every }: Readonly<Record<string, Json>>) => every !== undefined && every !== 0;

const shareOf = ({ loaded, said }: TrainingDomain) => ({
  name: basename(loaded.folder),
  ...said,
  folder: loaded.folder,
});

function trialsIn(given: Given, { tasks }: LoadedDomain): Readonly<Record<string, Json>> {
  const trials = trialsOf(given, tasks.filter(({ split }) => split === 'test').length, 8);
  return { trials, greedy_trials: trials };
}

/** A folder, or the list of them that a file has. What is neither is left to the trainer, which says what it expects. */
function sharesIn(value: Json | undefined): readonly JsonObject[] {
  if (typeof value === 'string') return [{ folder: value }];
  return Array.isArray(value) ? value.filter((each): each is JsonObject => isObject(each) && 'folder' in each) : [];
}

function domainOf(said: JsonObject, io: Io): TrainingDomain {
  return { loaded: openDomain(io, String(said['folder'])), said };
}

function weighted(shares: readonly JsonObject[], given: string | undefined): readonly JsonObject[] {
  if (given === undefined) return shares;
  const weights = given.split(',').map(Number);
  if (weights.some((weight) => !(weight > 0 && Number.isFinite(weight))))
    throw new UsageError(`--weights is a list of numbers above 0, such as 2,1, not "${given}"`);
  if (weights.length !== shares.length)
    throw new UsageError(`--weights has ${weights.length} numbers for ${shares.length} domains; name one for each`);
  return shares.map((share, index) => ({ ...share, weight: weights[index] ?? 1 }));
}

/** A checkpoint keeps the dialect that it was trained in. Else the domains of a run have to agree on theirs. */
function dialectOf([{ loaded }, ...others]: TrainingRequest['domains'], model: Json, said: Json | undefined): Dialect {
  const trained = typeof model === 'string' ? trainedDialect(model) : undefined;
  const { dialect } = loaded.file;
  const other = others.map((each) => each.loaded.file.dialect).find((each) => each !== dialect);
  if (!trained && other && said === undefined)
    throw new UsageError(
      `the domains speak different dialects (${dialect}, ${other}): choose one with --set dialect=${dialect}`,
    );
  return trained ?? dialect;
}

function userOf(domain: LoadedDomain, purpose: 'train' | 'evaluate', said: Json | undefined, io: Io): Json {
  return said === undefined || typeof said === 'string' ? trainingUser(domain.file, purpose, said, io) : said;
}

/** The trainer runs in the run's folder, so a checkpoint's folder is named by its whole path. */
function modelOf(model: Json, io: Io): Json {
  return typeof model === 'string' ? modelNamed(model, `--model ${model}`, io) : model;
}

/** What `--set` says, by key. */
export function settingsOf(given: Given): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    texts(given, 'set').map((pair): [string, Json] => {
      const [, key, value] = /^([a-z_]+)=(.*)$/.exec(pair) ?? [];
      if (!key || value === undefined) throw new UsageError(`--set is KEY=VALUE, not "${pair}"`);
      try {
        return [key, JSON.parse(value)];
      } catch {
        return [key, value];
      }
    }),
  );
}
