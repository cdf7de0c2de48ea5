import { isObject, type Json, type JsonObject } from '../../../engine/core/values/json.ts';
import type { ConversationReader } from '../conversationReader.ts';
import { conversationIdOf } from '../messageRows.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf, textOf } from '../saidMessage.ts';
import { conversationsIn } from '../spans/conversationTree.ts';
import { nanoseconds } from '../spans/otlp.ts';
import { calledIn, exchangeIn, nothing, type Step, type StepKind } from '../spans/step.ts';

/** Reads runs of LangSmith, with the runs inside of them where an export nests them. */
export const langSmith: ConversationReader = {
  name: 'langsmith',
  label: 'LangSmith export',
  source: 'spans',
  keys: ['run_type', 'inputs', 'outputs'],
  matches: (value) => isRun(objectOf(value)),
  read: (logs) => {
    const steps = logs.flatMap(({ path: file, values }) =>
      values.flatMap(({ value, line }) => stepsOf(objectOf(value), file, line)),
    );
    return conversationsIn(steps, (id) => `the runs of ${id} hold no messages. Export them with inputs and outputs`);
  },
};

const isRun = (value: JsonObject) => textOf(value['run_type']) !== undefined && 'inputs' in value;

const kinds: Readonly<Record<string, StepKind>> = { llm: 'chat', chain: 'agent', tool: 'tool' };

function stepsOf(run: JsonObject, file: string, line: number): readonly Step[] {
  const inner = listIn(run['child_runs']).map(objectOf).filter(isRun);
  return [stepOf(run, file, line), ...inner.flatMap((each) => stepsOf(each, file, line))];
}

function stepOf(run: JsonObject, file: string, line: number): Step {
  const kind = kinds[textOf(run['run_type']) ?? ''] ?? 'other';
  const [inputs, outputs] = [run['inputs'], run['outputs']].map(valueIn);
  const isTool = kind === 'tool';
  const [input, output] = isTool ? [nothing, nothing] : [exchangeIn(inputs, 'user'), exchangeIn(outputs, 'assistant')];
  const extra = objectOf(valueIn(run['extra']));
  const result = objectOf(outputs)['output'] ?? outputs;
  const isError = textOf(run['error']) !== undefined;
  const given = objectOf(inputs)['input'] ?? inputs;
  return {
    ...{ file, line, kind, links: [], isError },
    trace: textOf(run['trace_id'] ?? run['id']) ?? '',
    id: textOf(run['id']) ?? '',
    parent: textOf(run['parent_run_id']) ?? '',
    time: nanoseconds(run['start_time'] ?? null),
    name: textOf(run['name']) ?? '',
    // The session of a run is its project.
    conversation: conversationIdOf(objectOf(extra['metadata'])),
    input: input.said,
    output: output.said,
    tools: toolsIn(objectOf(extra['invocation_params'])['tools'] ?? objectOf(inputs)['tools']),
    called: isTool ? calledIn(textOf(run['name']) ?? '', given, result, isError) : undefined,
    lost: [...input.lost, ...output.lost],
    unread: [],
  };
}

/** A value as such, or written as JSON text. */
function valueIn(value: Json | undefined): Json | undefined {
  if (isObject(value)) return value;
  return typeof value === 'string' ? (listIn(value)[0] ?? value) : (value ?? undefined);
}
