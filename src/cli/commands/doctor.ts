import * as z from 'zod';
import { type AskedSettings, type ModelSeat, namedModel } from '../../engine/core/domain/seatSpec.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { throwUnlessAllowed } from '../../engine/shell/keys/keyOrigins.ts';
import { throwUnlessHeadersAllowed, withFilledHeaders, withSettings } from '../../engine/shell/models/modelSettings.ts';
import { addressProblem } from '../../engine/shell/models/parseSeat.ts';
import type { Condition, Status } from '../doctor/condition.ts';
import { type LivePath, type LiveStatus, livePaths, pathNames } from '../doctor/livePaths.ts';
import { machineConditions } from '../doctor/machine.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { readSettings, temperature } from '../options/modelSettings.ts';
import { json, type OptionValues, oneOf, option, repeated, seconds, text, wholeNumber } from '../options/option.ts';
import { rateLimitOf, rateLimitWait } from '../options/rolloutOptions.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/** Returns what `--live` names: a base URL, or openai:MODEL@BASE_URL. */
function endpointIn(given: string) {
  const named = namedModel(given);
  return named?.address ? { model: named.model, baseUrl: named.address } : { model: undefined, baseUrl: given };
}

const options = {
  live: option(
    'ENDPOINT',
    'an OpenAI-compatible base URL, such as http://127.0.0.1:8000/v1, or openai:MODEL@BASE_URL; its key in OPENAI_API_KEY',
    z.string().transform(endpointIn),
  ),
  model: text('M', 'the model to ask for (default: the first that the endpoint lists)'),
  only: oneOf('PATH', 'try only this path: agent, user, judge, grader or "tool simulator"', pathNames),
  maxTokens: wholeNumber('N', 'maximum tokens of one answer (default: 256)'),
  temperature: temperature('sampling temperature of each answer (default: 0)'),
  set: repeated(
    'agent.NAME=VALUE',
    'a request setting for the model, on every path: reasoningEffort, extraBody.FIELD, headers.NAME and the other settings of a rollout; repeatable',
  ),
  timeout: seconds('time limit for each path (default: 300)'),
  rateLimitWait,
  json,
};
type Options = OptionValues<typeof options>;

export const doctor: Command = defineCommand({
  name: 'doctor',
  summary: 'check that this machine, and a model, have what Rehearsal needs',
  usage: '[--live ENDPOINT [--model M] [--only PATH]]',
  about: `
Checks Node, workers, the sandbox, loopback, disk, keys (never their values), Python, the trainer and VS Code, and says what to do.
With --live, it also tries every path that needs a model once, on a copy of a sample domain: the agent's seat, the user's
seat, the judge of a rule, the grader of a task and the simulator of a tool. Then it reports what the endpoint
supports: calls, parallel calls, structured output, streaming, reasoning, token counts, parameters and rate limits.
`,
  options,
  after: 'Exit code 0: no check failed. 1: a check failed. 2: cancelled, or the checks could not run.',
  run: async (options, [extra], io) => {
    if (extra !== undefined) throw new UsageError(`it checks this machine and takes no folder: leave out "${extra}"`);
    const { live: endpoint, model } = options;
    if (endpoint === undefined && model !== undefined)
      throw new UsageError('--model goes with --live ENDPOINT: it says which model is asked there');
    const problem = endpoint && addressProblem(endpoint.baseUrl);
    if (problem) throw new UsageError(problem);
    const settings = settingsIn(options);
    const conditions = await machineConditions(io);
    if (!options.json) for (const condition of conditions) io.out(conditionText(condition));
    const live =
      endpoint === undefined
        ? null
        : await liveTable(await modelAt(endpoint.baseUrl, model ?? endpoint.model, settings, io), options, io);
    if (options.json) io.out(`${JSON.stringify({ conditions, ...(live ? { live } : {}) })}\n`);
    if (io.signal.aborted) return 2;
    return [...conditions, ...(live?.paths ?? [])].some(({ status }) => status === 'failed') ? 1 : 0;
  },
});

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

/** Returns the settings of the one model that takes every path. Throws a `UsageError` for those of another seat. */
function settingsIn(given: Options): AskedSettings {
  const { agent = {}, ...others } = readSettings(given);
  const [other] = Object.keys(others);
  if (other === undefined) return { ...agent, ...rateLimitOf(given) };
  throw new UsageError(`--live uses one model for every path: set agent.NAME instead of ${other}.NAME`);
}

async function liveTable(
  { seat, filled }: TriedModel,
  { timeout: timeoutMs = 300_000, only, json: isJson }: Options,
  io: Io,
) {
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
  const { endpointSupport } = await import('../doctor/endpointSupport.ts');
  const supports = await endpointSupport({ seat: filled, key, timeoutMs, signal: io.signal });
  if (!isJson) io.out(`\n${supports.map(conditionText).join('')}`);
  return { model: seat.model, paths, supports };
}

function pathText({ path, status, what, calls, tokens, seconds }: LivePath): string {
  const used = `${counted(calls, 'call')}, ${tokens.input} tokens in, ${tokens.output} out, ${seconds} s`;
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

async function firstModel(seat: ModelSeat, io: Io): Promise<string> {
  const unnamed = (why: string) =>
    new UsageError(`${seat.baseUrl} does not say which models it has. Name the model with --model. The reason: ${why}`);
  const { listedModels } = await import('../../engine/shell/models/openai.ts');
  const key = io.environment[seat.keyName ?? ''] ?? '';
  const [first] = await listedModels(seat, key, io.signal).catch((error: unknown) => {
    throw unnamed(messageOf(error));
  });
  if (first === undefined) throw unnamed('its list has none');
  return first;
}
