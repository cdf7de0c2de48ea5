import { isObject, type JsonObject } from '../../../engine/core/values/json.ts';
import type { ConversationReader } from '../conversationReader.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf, textOf } from '../saidMessage.ts';
import { conversationsIn } from '../spans/conversationTree.ts';
import { nanoseconds } from '../spans/otlp.ts';
import { calledIn, exchangeIn, nothing, type Step, type StepKind } from '../spans/step.ts';

/** Reads traces of Langfuse with their observations, and lists of observations. */
export const langfuse: ConversationReader = {
  name: 'langfuse',
  label: 'Langfuse export',
  source: 'spans',
  keys: ['traceId', 'type', 'input', 'output', 'observations'],
  matches: (value) => isObservation(objectOf(value)) || isTrace(objectOf(value)),
  read: (logs) => {
    const steps = logs.flatMap(({ path: file, values }) =>
      values.flatMap(({ value, line }) => stepsOf(objectOf(value), file, line)),
    );
    return conversationsIn(
      steps,
      (id) => `the observations of ${id} hold no messages. Export them with input and output`,
    );
  },
};

const kinds: Readonly<Record<string, StepKind>> = {
  GENERATION: 'chat',
  AGENT: 'agent',
  SPAN: 'agent',
  CHAIN: 'agent',
  TOOL: 'tool',
};

const either = (object: JsonObject, name: string) =>
  object[name] ?? object[name.replace(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`)];

const isObservation = (value: JsonObject) =>
  either(value, 'traceId') !== undefined && /^[A-Z]+$/.test(textOf(value['type']) ?? '');

const isTrace = (value: JsonObject) =>
  Array.isArray(value['observations']) ||
  (either(value, 'sessionId') !== undefined && 'input' in value && 'output' in value && 'timestamp' in value);

function stepsOf(value: JsonObject, file: string, line: number): readonly Step[] {
  if (isObservation(value)) return [observationOf(value, file, line, {})];
  const trace = objectOf(value['trace'] ?? value);
  // The list of traces that the API returns names observations by their ids only.
  const observations = listIn(value['observations']).filter(isObject);
  if (observations.length > 0) return observations.map((each) => observationOf(each, file, line, trace));
  return [
    observationOf(
      { ...trace, type: 'GENERATION', traceId: trace['id'] ?? '', startTime: trace['timestamp'] ?? null },
      file,
      line,
      trace,
    ),
  ];
}

function observationOf(value: JsonObject, file: string, line: number, trace: JsonObject): Step {
  const type = textOf(value['type']) ?? '';
  const kind = kinds[type] ?? 'other';
  const { input: asked, output: answered, level, name } = value;
  const isTool = kind === 'tool';
  const [input, output] = isTool ? [nothing, nothing] : [exchangeIn(asked, 'user'), exchangeIn(answered, 'assistant')];
  const given = typeof asked === 'string' ? listIn(asked)[0] : asked;
  return {
    ...{ file, line, kind, links: [] },
    trace: textOf(either(value, 'traceId') ?? trace['id']) ?? '',
    id: textOf(value['id']) ?? '',
    parent: textOf(either(value, 'parentObservationId')) ?? '',
    time: nanoseconds(either(value, 'startTime') ?? null),
    name: textOf(name) ?? '',
    isError: level === 'ERROR',
    conversation: textOf(either(value, 'sessionId') ?? either(trace, 'sessionId')),
    input: input.said,
    output: output.said,
    tools: toolsIn(objectOf(given)['tools'] ?? objectOf(value['metadata'])['tools']),
    called: isTool ? calledIn(textOf(name) ?? '', asked, answered, level === 'ERROR') : undefined,
    lost: [...input.lost, ...output.lost],
    unread: [],
  };
}
