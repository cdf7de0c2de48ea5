import { basename } from 'node:path';
import { type TrainingKind, trainingKinds } from '../../engine/core/domain/trainingKind.ts';
import { profileFor } from '../../engine/core/domain/trainingProfile.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { issueText } from '../../engine/core/text/issueText.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import { firstModelOf } from '../../engine/shell/records/trainingRun.ts';
import { userSchema } from '../../training/trainingProtocol.ts';
import { modelNamed } from '../checkpoints/servedModel.ts';
import { trainedChat } from '../checkpoints/trainedChat.ts';
import { openDomain, throwIfTooMany } from '../options/rolloutOptions.ts';
import { trainingUser } from '../options/trainingUser.ts';
import { ownEngine } from '../python/engineCommand.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { type TrainingFile, wholePaths } from './trainingFile.ts';
import { operations, type TrainingOptions } from './trainingOptions.ts';

/** A domain of a run: what is known of it, and what was said about its part in the run. */
export type TrainingDomain = { readonly loaded: LoadedDomain; readonly said: JsonObject };

/** A request for training: its kind, and its domains in the order in which they were named. */
export type TrainingRequest = {
  readonly kind: TrainingKind;
  readonly domains: readonly [TrainingDomain, ...TrainingDomain[]];
  readonly heldOut: readonly TrainingDomain[];
  readonly file: TrainingFile | null;
  /** The settings of the domains in the file, if the file names the domains. */
  readonly ofFile: Readonly<Record<string, Json>>;
};

/** Reads what the command line and the configuration's file ask for. Throws a `UsageError` for what can't be meant. */
export function trainingRequest(
  options: TrainingOptions,
  positionals: readonly string[],
  io: Io,
  file: TrainingFile | null,
): TrainingRequest {
  const [first, ...rest] = positionals;
  const named = trainingKinds.find((each) => each === first);
  const kind = named ?? file?.kind;
  if (!kind) throw new UsageError(`say what to do: ${trainingKinds.join('|')} DOMAIN, or ${operations.join('|')} RUN`);
  if (file && file.kind !== kind)
    throw new UsageError(`${options.config} is a configuration of ${file.kind}, not of ${kind}`);
  const folders = named ? rest : positionals;
  const said = folders.length > 0 ? folders.map((folder) => ({ folder })) : sharesIn(file, 'domain');
  const opened = weighted(said, options.weights).map((each) => domainOf(each, io));
  const [one = { loaded: openDomain(io, undefined), said: {} }, ...more] = opened;
  if (more.length > 0 && kind !== 'grpo')
    throw new UsageError(`${kind} takes one domain, but you named ${opened.length}; GRPO takes several`);
  const heldOut = (options.heldOut ?? []).map((folder) => ({ folder }));
  const left = (heldOut.length > 0 ? heldOut : sharesIn(file, 'held_out')).map((each) => domainOf(each, io));
  if (left.length > 0 && kind !== 'grpo') throw new UsageError('--held-out is for GRPO, which trains on other domains');
  const taken = [...(folders.length > 0 ? [] : ['domain']), ...(heldOut.length > 0 ? [] : ['held_out'])];
  const ofFile = Object.fromEntries(Object.entries(file?.values ?? {}).filter(([key]) => taken.includes(key)));
  return { kind, domains: [one, ...more], heldOut: left, file, ofFile };
}

/** The complete configuration that was asked for: options above the file; the trainer adds its profile's defaults. */
export function trainingConfiguration(
  options: TrainingOptions,
  io: Io,
  { kind, domains, heldOut, file }: TrainingRequest,
  run: string,
  recordings: readonly string[],
): Readonly<Record<string, Json>> {
  const changed = wholePaths(kind, settingsOf(options), io.cwd);
  const written = { ...file?.values, ...changed };
  const { user: _user, evaluate_user: _evaluateUser, ...settings } = changed;
  const refusal = (words: string) => new UsageError(file?.placed(words, written) ?? words);
  throwUnlessAgent(written['agent'], io, refusal);
  const [{ loaded }] = domains;
  const model = modelOf(options.model ?? written['model'] ?? 'smollm2', io);
  const { profile, steps } = options;
  const counted = kind === 'evaluate' ? trialsIn(options, loaded) : {};
  const isCounted = options.trials !== undefined;
  const ofModel = profileFor(typeof model === 'string' ? firstModelOf(model) : model);
  const common = {
    ...(ofModel ? { profile: ofModel } : {}),
    ...chatOf(domains, model, written['dialect']),
    ...counted,
    ...file?.values,
    ...(isCounted ? counted : {}),
    ...(profile === undefined ? {} : { profile }),
    ...(steps === undefined ? {} : { steps }),
    run,
    model,
  };
  const engine = { engine_command: ownEngine(), engine_cwd: run };
  const user = (
    purpose: 'train' | 'evaluate',
    option: 'user' | 'evaluateUser',
    key: string,
    { loaded: domain, said }: TrainingDomain,
  ) =>
    userOf(domain, purpose, options[option] ?? said[key] ?? written[key], io, (words) => refusal(`${key}: ${words}`));
  const evaluateUser = (domain: TrainingDomain) => user('evaluate', 'evaluateUser', 'evaluate_user', domain);
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
        only && others.length === 0 && isPlain(domains[0])
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

/** Whether keys of the run say all of a domain's part in it; a cluster takes no other. */
const isPlain = ({ said }: TrainingDomain) =>
  Object.keys(said).every((key) => ['folder', 'user', 'evaluate_user'].includes(key));

const shareOf = ({ loaded, said }: TrainingDomain) => ({
  name: basename(loaded.folder),
  ...said,
  folder: loaded.folder,
});

function trialsIn({ trials = 8 }: TrainingOptions, { tasks }: LoadedDomain): Readonly<Record<string, Json>> {
  throwIfTooMany(trials, tasks.filter(({ split }) => split === 'test').length);
  return { trials, greedy_trials: trials };
}

/** The domains under a key of a file: one folder, or objects with one each. Throws a `UsageError` for what is neither. */
function sharesIn(file: TrainingFile | null, key: 'domain' | 'held_out'): readonly JsonObject[] {
  const value = file?.values[key];
  if (!file || value === undefined) return [];
  if (typeof value === 'string') return [{ folder: value }];
  const refused = (found: Json) =>
    new UsageError(
      file.placed(
        `${key}: expected a folder, or a list with entries such as { folder: order-desk }, found ${JSON.stringify(found)}`,
        file.values,
      ),
    );
  if (!Array.isArray(value)) throw refused(value);
  return value.map((each) => {
    if (!isObject(each) || typeof each['folder'] !== 'string') throw refused(each);
    return each;
  });
}

function domainOf(said: JsonObject, io: Io): TrainingDomain {
  return { loaded: openDomain(io, String(said['folder'])), said };
}

function weighted(shares: readonly JsonObject[], weights: readonly number[] | undefined): readonly JsonObject[] {
  if (weights === undefined) return shares;
  if (weights.length !== shares.length)
    throw new UsageError(
      `--weights has ${counted(weights.length, 'number')} for ${counted(shares.length, 'domain')}; name one for each`,
    );
  return shares.map((share, index) => ({ ...share, weight: weights[index] ?? 1 }));
}

/** A checkpoint keeps the chat that it was trained with. Else the domains of a run have to agree on a dialect. */
function chatOf([{ loaded }, ...others]: TrainingRequest['domains'], model: Json, said: Json | undefined): JsonObject {
  const { dialect: trained, thinking } = typeof model === 'string' ? trainedChat(model) : {};
  const { dialect } = loaded.file;
  const other = others.map((each) => each.loaded.file.dialect).find((each) => each !== dialect);
  if (!trained && other && said === undefined)
    throw new UsageError(
      `the domains use different dialects (${dialect}, ${other}): choose one with --set dialect=${dialect}`,
    );
  return { dialect: trained ?? dialect, ...(thinking === undefined ? {} : { thinking }) };
}

type Refusal = (words: string) => UsageError;

/** Throws a refusal for what is neither a seat nor an endpoint. */
function userOf(
  domain: LoadedDomain,
  purpose: 'train' | 'evaluate',
  said: Json | undefined,
  io: Io,
  refusal: Refusal,
): Json {
  if (said === undefined || typeof said === 'string') return trainingUser(domain.file, purpose, said, io);
  const { error } = userSchema.safeParse(said);
  if (!error) return said;
  throw refusal(`${issueText(error, 'user')}; expected agenda, or an endpoint with base_url, model and api_key_env`);
}

/** Throws a refusal for the file of an agent that the user writes that can't take the seat. */
function throwUnlessAgent(said: Json | undefined, io: Io, refusal: Refusal): void {
  if (typeof said !== 'string') return;
  const seat = parseSeat(`agent:${said}`, 'agent', 'person', io.environment, [io.cwd]);
  if (typeof seat === 'string') throw refusal(`agent: ${seat}`);
}

/** The trainer runs in the run's folder, so a checkpoint's folder is named by its whole path. */
function modelOf(model: Json, io: Io): Json {
  return typeof model === 'string' ? modelNamed(model, `--model ${model}`, io) : model;
}

/** Keys that `--set` cannot set, each with what to do instead. */
const saidOtherwise: ReadonlyMap<string, string> = new Map([
  ['run', 'name the folder of the run with --out'],
  ['domain', 'name the folder of the domain, as in: npx rehearsal train grpo parcel-desk'],
  ['held_out', 'name the folders with --held-out'],
  ['recordings', 'name what to learn from with --recordings'],
  ['engine_command', 'the command line fills it in'],
  ['engine_cwd', 'the command line fills it in'],
  ['python', 'name it with --python'],
]);

/** Returns what `--set` says, by key. Throws a `UsageError` for what it can't say. */
export function settingsOf({ set = [] }: TrainingOptions): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    set.map((pair): [string, Json] => {
      const key = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(key.length + 1);
      const instead = saidOtherwise.get(key);
      if (instead) throw new UsageError(`--set ${key} is not possible: ${instead}`);
      try {
        return [key, JSON.parse(value)];
      } catch {
        return [key, value];
      }
    }),
  );
}
