import * as z from 'zod';
import type { AskedSettings, ModelSeat } from '../../engine/core/domain/seatSpec.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { boundFetch } from '../../engine/shell/keys/boundFetch.ts';
import { throwUnlessAllowed } from '../../engine/shell/keys/keyOrigins.ts';
import { throwUnlessHeadersAllowed, withFilledHeaders, withSettings } from '../../engine/shell/models/modelSettings.ts';
import type { Condition, Status } from '../doctor/condition.ts';
import { endpointSupport } from '../doctor/endpointSupport.ts';
import { type LivePath, type LiveStatus, livePaths, pathNames } from '../doctor/livePaths.ts';
import { machineConditions } from '../doctor/machine.ts';
import { type Command, type Given, text } from '../options/command.ts';
import { readSettings, settingOptions } from '../options/modelSettings.ts';
import { rateLimitHelp, rateLimitOf, rateLimitOption, wholeNumber } from '../options/rolloutOptions.ts';
import { type Io, UsageError } from '../terminal/io.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'check that this machine, and a model, have what Rehearsal needs',
  help: `rehearsal doctor [--live ENDPOINT [--model M] [--only PATH]]

Checks Node, lanes, the sandbox, loopback, disk, keys (never their values), Python, the trainer and VS Code, and says what to do.
With --live it also uses every path that needs a model once, on a copy of a sample domain: the agent's seat, the
user's seat, the judge of a rule, the grader of a task and the simulator of a tool. Then it reports what the endpoint
supports: calls, parallel calls, structured output, streaming, reasoning, token counts, parameters and rate limits.

  --live ENDPOINT    an OpenAI-compatible base URL, such as http://127.0.0.1:8000/v1, or openai:MODEL@BASE_URL; its key in
                     OPENAI_API_KEY
  --model M          the model to ask for (default: the first that the endpoint lists)
  --only PATH        one path alone: agent, user, judge, grader or "tool simulator"
  --max-tokens N     tokens of one answer (default: 256)
  --temperature X    of each answer (default: 0)
  --set agent.NAME=VALUE  how the model is asked, on every path: reasoningEffort, extraBody.FIELD, headers.NAME and the
                     other settings of a rollout; repeatable
  --timeout SECONDS  until a path counts as failed (default: 300)
${rateLimitHelp}  --json             machine-readable output
Exit code 0: nothing failed. 1: something did. 2: cancelled, or it could not be done.
`,
  options: {
    live: { type: 'string' },
    model: { type: 'string' },
    only: { type: 'string' },
    ...settingOptions,
    timeout: { type: 'string' },
    ...rateLimitOption,
  },
  run: async (given, io) => {
    if (given.positionals.length > 0)
      throw new UsageError(`it checks this machine and takes no folder: leave out "${given.positionals[0]}"`);
    const { endpoint, model } = endpointIn(given);
    if (endpoint !== undefined && !URL.canParse(endpoint))
      throw new UsageError(`--live is a base URL such as http://127.0.0.1:8000/v1, not "${endpoint}"`);
    if (endpoint === undefined && text(given, 'model') !== undefined)
      throw new UsageError('--model goes with --live ENDPOINT: it says which model is asked there');
    const settings = settingsIn(given);
    const only = text(given, 'only');
    if (only !== undefined && !pathNames.some((each) => each === only))
      throw new UsageError(`--only is one of ${pathNames.join(', ')}, not "${only}"`);
    const isJson = given.values['json'] === true;
    const conditions = await machineConditions(io);
    if (!isJson) for (const condition of conditions) io.out(conditionText(condition));
    const live =
      endpoint === undefined ? null : await liveTable(await modelAt(endpoint, model, settings, io), given, io, isJson);
    if (isJson) io.out(`${JSON.stringify({ conditions, ...(live ? { live } : {}) })}\n`);
    if (io.signal.aborted) return 2;
    return [...conditions, ...(live?.paths ?? [])].some(({ status }) => status === 'failed') ? 1 : 0;
  },
};

const marks: Readonly<Record<Status | LiveStatus, string>> = {
  ok: 'ok      ',
  warning: 'warning ',
  degraded: 'degraded',
  failed: 'FAILED  ',
};

function conditionText({ name, status, found, advice }: Condition): string {
  const first = `${marks[status]}  ${name.padEnd(14)}  ${found}\n`;
  return advice === null ? first : `${first}${' '.repeat(26)}${advice}\n`;
}

/** Returns what `--live` names: a base URL, or openai:MODEL@BASE_URL; and the model, by either option. */
function endpointIn(given: Given) {
  const live = text(given, 'live');
  const [, named, baseUrl] = /^openai:(.+?)@(.+)$/.exec(live ?? '') ?? [];
  return { endpoint: baseUrl ?? live, model: text(given, 'model') ?? named };
}

/** Returns the settings of the one model that takes every path. Throws a `UsageError` for those of another seat. */
function settingsIn(given: Given): AskedSettings {
  const { agent = {}, ...others } = readSettings(given);
  const [other] = Object.keys(others);
  if (other === undefined) return { ...agent, ...rateLimitOf(given) };
  throw new UsageError(`--live uses one model for every path: set agent.NAME instead of ${other}.NAME`);
}

async function liveTable({ seat, filled }: TriedModel, given: Given, io: Io, isJson: boolean) {
  const timeoutMs = (wholeNumber(given, 'timeout') ?? 300) * 1000;
  const only = pathNames.find((each) => each === text(given, 'only'));
  if (!isJson) io.out(`\n${seat.model} at ${new URL(seat.baseUrl).origin}\n`);
  const paths = await livePaths({
    seat,
    readKey: (name) => io.environment[name],
    signal: io.signal,
    timeoutMs,
    ...(only ? { only } : {}),
    ...(isJson ? {} : { onPath: (path) => io.out(pathText(path)) }),
  });
  if (only || io.signal.aborted) return { model: seat.model, paths };
  const key = io.environment[seat.keyName ?? ''] ?? '';
  const supports = await endpointSupport({ seat: filled, key, timeoutMs, signal: io.signal });
  if (!isJson) io.out(`\n${supports.map(conditionText).join('')}`);
  return { model: seat.model, paths, supports };
}

function pathText({ path, status, what, calls, tokens, seconds }: LivePath): string {
  const used = `${calls} calls, ${tokens.input} tokens in, ${tokens.output} out, ${seconds} s`;
  return `${marks[status]}  ${path.padEnd(14)}  ${what.replace(/\s+/g, ' ')}\n${' '.repeat(26)}${used}\n`;
}

type TriedModel = {
  readonly seat: ModelSeat;
  /** The same with the values of the variables in its headers. */
  readonly filled: ModelSeat;
};

/** Small answers at temperature 0: what is tried is the path, not the style. */
async function modelAt(
  baseUrl: string,
  named: string | undefined,
  settings: AskedSettings,
  io: Io,
): Promise<TriedModel> {
  const keyName = 'OPENAI_API_KEY';
  throwUnlessAllowed({ name: keyName, url: baseUrl, namedBy: '--live' }, io.environment);
  const base = { type: 'openai', model: named ?? '', baseUrl, keyName, temperature: 0, maxTokens: 256 } as const;
  const seat = withSettings(base, settings);
  throwUnlessHeadersAllowed(seat, io.environment);
  const filled = await withFilledHeaders(seat, (name) => io.environment[name]);
  const model = named ?? (await firstModel(filled, io));
  return { seat: { ...seat, model }, filled: { ...filled, model } };
}

const modelsSchema = z.object({ data: z.tuple([z.object({ id: z.string() })], z.unknown()) });

async function firstModel({ baseUrl, keyName, headers: own }: ModelSeat, io: Io): Promise<string> {
  const key = io.environment[keyName ?? ''];
  const advice =
    'Is the server running, is the base URL right, and is its key in OPENAI_API_KEY? Or name the model with --model';
  try {
    const headers = { ...(key ? { authorization: `Bearer ${key}` } : {}), ...own };
    const answer = await boundFetch(`${baseUrl.replace(/\/$/, '')}/models`, {
      headers,
      signal: AbortSignal.timeout(10_000),
    });
    const { data: models } = modelsSchema.safeParse(await answer.json());
    if (models) return models.data[0].id;
    throw new Error(`it answered ${answer.status}`);
  } catch (error) {
    throw new UsageError(`${baseUrl} does not say which models it has (${messageOf(error)}). ${advice}`);
  }
}
