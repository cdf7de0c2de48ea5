import type { ErrorObject } from 'ajv';
import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { simulationOf } from '../../core/domain/simulatedTool.ts';
import type { Tool } from '../../core/domain/tool.ts';
import { doubtAbout } from '../../core/values/answerDoubt.ts';
import { exactSchema } from '../../core/values/exactSchema.ts';
import { canonicalJson, type Json, type JsonObject, textOrJson } from '../../core/values/json.ts';
import { answerAmong, endsInsideObject, placedObjects } from '../../core/values/jsonInText.ts';
import { keysOfPointer } from '../../core/values/jsonPointer.ts';
import { rawJson, withDigits } from '../../core/values/largeIntegers.ts';
import type { Patch } from '../../core/world/database.ts';
import type { CheckedQuestion } from '../checkedFold/checkedQuestion.ts';
import { redactedPart } from '../keys/secrets.ts';
import { misfitOf } from '../load/arguments.ts';
import { exactDataErrors, sentArguments } from '../load/exactErrors.ts';
import { failedOutcome } from '../rollout/effectEvents.ts';
import type { SimulatedAnswer } from '../workers/workerMessage.ts';
import type { OnRetry } from './endpointAttempts.ts';
import type { Answered } from './openai.ts';
import { askForObject, structured } from './structuredOutput.ts';

/** A call of a simulated tool, as the supervisor passes it on. */
export type AskedSimulator = Extract<CheckedQuestion, { readonly type: 'simulated' }>;

/** JSON Patch (RFC 6902) with JSON Pointers, as models know it. */
const writesSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      op: { enum: ['add', 'replace', 'remove'] },
      path: { type: 'string', pattern: '^/' },
      value: {},
    },
    required: ['op', 'path'],
    additionalProperties: false,
    if: { properties: { op: { enum: ['add', 'replace'] } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema.
    then: { required: ['value'] },
  },
};

/** The form of an answer, around the result. */
const answerSchema = {
  type: 'object',
  properties: { result: {}, error: { type: 'string' }, writes: writesSchema },
  additionalProperties: false,
  oneOf: [{ required: ['result'] }, { required: ['error'] }],
};

/**
 * Asks a model to answer for a tool within the tool's schema. What can't be used is a `problem`, so that it can be
 * determined.
 * @param key the API key, or empty for a server that wants none
 */
export async function askToolModel(
  model: ModelSeat,
  key: string,
  tool: Tool,
  asked: AskedSimulator,
  signal: AbortSignal,
  onRetry?: OnRetry,
): Promise<Answered<SimulatedAnswer>> {
  const misfit = misfitOf(tool, asked.arguments, asked.integers);
  if (misfit) return { reply: failedOutcome(misfit), call: { ms: 0, request: null } };
  const seat = { ...model, temperature: model.temperature ?? 0, timeoutMs: tool.timeoutMs };
  const messages = [
    { role: 'system' as const, content: simulatorInstructions(tool) },
    { role: 'user' as const, content: callText(tool, asked) },
  ];
  const wanted = {
    body: { messages, response_format: answerFormat(tool) },
    read: (text: string) => toolAnswerIn(text, tool),
    isAnswer: (reply: SimulatedAnswer) => !('problem' in reply),
    broken: (how: string) => ({ problem: `it was ${how}` }),
  };
  return askForObject<SimulatedAnswer>(seat, key, 'tool', wanted, signal, onRetry);
}

/** Returns what the model receives about the tool that it simulates. */
function simulatorInstructions(tool: Tool): string {
  const source = simulationOf(tool);
  return [
    `You simulate the tool ${tool.name} of a computer system. Answer exactly as that tool would, with one JSON object and nothing else.`,
    `What it does: ${tool.description}`,
    `How it behaves: ${source.behaviour}`,
    `Its arguments, as JSON Schema: ${JSON.stringify(exactSchema(tool.parameters))}`,
    'Your answer is {"result": ...} for a call that works, or {"error": "..."} for one that the tool refuses.',
    `The result must fit this JSON Schema: ${JSON.stringify(source.result)}`,
    ...(tool.effect === 'write'
      ? [
          `A call that changes data also gives "writes": a list of JSON Patch operations (RFC 6902: op add, replace or remove; path as JSON Pointer; value) on the database. It may change only: ${source.writes.join(', ')}.`,
        ]
      : ['The tool changes nothing.']),
    'Use only what the database shows; invent no records.',
  ].join('\n');
}

function callText(tool: Tool, { arguments: args, integers, visible, now, problem }: AskedSimulator): string {
  const sent = sentArguments(tool.parameters, args, integers);
  const said = { now, call: { tool: tool.name, arguments: sent }, database: visible };
  const before = problem === null ? [] : [`Your last answer could not be used: ${problem}. Answer again.`];
  return [JSON.stringify(said, null, 1), ...before].join('\n\n');
}

/**
 * Returns the form of an answer, without what few servers can hold a model to: conditions, and patterns that are not of
 * the whole text. `toolAnswerIn` checks those.
 */
function answerFormat(tool: Tool) {
  const { if: _if, then: _then, ...item } = writesSchema.items;
  const operation = { ...item, properties: { ...item.properties, path: { type: 'string' } } };
  const writes = tool.effect === 'write' ? { writes: { ...writesSchema, items: operation } } : {};
  const properties = { result: simulationOf(tool).result as JsonObject, error: { type: 'string' }, ...writes };
  return structured('tool_answer', { type: 'object', properties, additionalProperties: false }, false);
}

/** Returns the answer in a model's text, checked against the tool's schema. Its result keeps all digits of its numbers. */
function toolAnswerIn(text: string, tool: Tool): SimulatedAnswer {
  const objects = placedObjects(text).map(({ written, span }) => ({ value: rawJson(written) as JsonObject, span }));
  const last = objects.at(-1);
  if (last === undefined) return { problem: `it is not JSON: ${redactedPart(text, 0, 200)}` };
  if (endsInsideObject(text)) return { problem: 'it breaks off' };
  const isSame = (one: JsonObject, other: JsonObject) => canonicalJson(one) === canonicalJson(other);
  const given = answerAmong(
    objects.filter(({ value }) => !misfitIn(value, tool)),
    isSame,
  );
  if (given === 'differing') return { problem: 'it has several answers that differ' };
  if (given === undefined) {
    const { instancePath = '', message = 'does not fit' } = misfitIn(last.value, tool) ?? {};
    return { problem: `${instancePath || 'the answer'} ${message}` };
  }
  const doubt = doubtAbout(text, given.span, ['result', 'error', 'writes']);
  if (doubt) return { problem: `it ${doubt}` };
  const answer = given.value as {
    readonly result?: Json;
    readonly error?: string;
    readonly writes?: readonly Written[];
  };
  if (answer.error !== undefined) return failedOutcome(answer.error);
  const { result } = answer;
  const content = textOrJson(result);
  return { content, isError: false, writes: (answer.writes ?? []).map(patchOf) };
}

/** Returns how an answer differs from its form or from the schema of the result; undefined where it fits. */
function misfitIn(answer: JsonObject, tool: Tool): Pick<ErrorObject, 'instancePath' | 'message'> | undefined {
  const [form] = exactDataErrors(answerSchema, answer);
  const { result } = answer;
  if (form || result === undefined) return form;
  const [error] = exactDataErrors(simulationOf(tool).result as JsonObject, result);
  return error && { ...error, instancePath: `/result${error.instancePath}` };
}

type Written = { readonly op: Patch['op']; readonly path: string; readonly value?: Json };

function patchOf({ op, path, value }: Written): Patch {
  const isValued = op !== 'remove' && value !== undefined;
  return { op, path: keysOfPointer(path), ...(isValued ? { value: withDigits(value) } : {}) };
}
