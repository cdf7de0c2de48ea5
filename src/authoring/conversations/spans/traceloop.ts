import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import { toolsIn } from '../offeredTools.ts';
import { objectOf, readMessage, resultText, textOf } from '../saidMessage.ts';
import { type Dialect, listAt } from './dialect.ts';
import { type Exchange, joined, nothing } from './step.ts';

/** Traceloop's OpenLLMetry: `gen_ai.prompt.0.role`, `gen_ai.completion.0.content` and their like. */
export const traceloop: Dialect = {
  label: 'Traceloop',
  matches: ({ attributes }) =>
    Object.keys(attributes).some((key) => /^(?:gen_ai|llm)\.(?:prompt|completion)s?\.\d|^traceloop\./.test(key)),
  read: ({ attributes, isError }) => {
    const kind = textOf(attributes['traceloop.span.kind']);
    const input = messagesAt(attributes, 'prompt', 'prompts', 'user');
    const output = messagesAt(attributes, 'completion', 'completions', 'assistant');
    const result = attributes['traceloop.entity.output'];
    const isTool = kind === 'tool';
    return {
      kind: isTool
        ? 'tool'
        : input.said.length + output.said.length > 0
          ? 'chat'
          : kind === undefined
            ? undefined
            : 'agent',
      input: isTool ? nothing : input,
      output: isTool ? nothing : output,
      tools: toolsIn(listAt(attributes, 'llm.request.functions') as Json),
      called: isTool
        ? {
            name: textOf(attributes['traceloop.entity.name']) ?? '',
            result: result === undefined ? undefined : { content: resultText(result), isError },
          }
        : undefined,
    };
  },
};

function messagesAt(attributes: JsonObject, name: string, older: string, role: string): Exchange {
  const [own] = [`gen_ai.${name}`, `llm.${older}`]
    .map((prefix) => listAt(attributes, prefix))
    .filter((list) => list.length > 0);
  return joined(
    ...(own ?? []).map((message) =>
      readMessage({ role, ...message, tool_calls: Object.values(objectOf(message['tool_calls'])) }),
    ),
  );
}
