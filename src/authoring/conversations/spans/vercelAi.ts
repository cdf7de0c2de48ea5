import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, readMessage, resultText, textOf } from '../saidMessage.ts';
import type { Dialect } from './dialect.ts';
import { type Exchange, exchangeIn, nothing } from './step.ts';

/** The AI SDK of Vercel: `ai.prompt.messages`, `ai.response.text`, `ai.toolCall.result` and their like. */
export const vercelAi: Dialect = {
  label: 'Vercel AI SDK',
  matches: ({ attributes }) =>
    Object.keys(attributes).some((key) => /^ai\.(?:operationId|prompt|response|toolCall)/.test(key)),
  read: ({ attributes, name, isError }) => {
    const operation = textOf(attributes['ai.operationId']) ?? name;
    const isTool = operation === 'ai.toolCall';
    const result = attributes['ai.toolCall.result'];
    return {
      kind: isTool
        ? 'tool'
        : /\.do(?:Generate|Stream)$/.test(operation)
          ? 'chat'
          : /embed/i.test(operation)
            ? 'other'
            : 'agent',
      input: isTool ? nothing : exchangeIn(attributes['ai.prompt.messages'] ?? attributes['ai.prompt'], 'user'),
      output: isTool ? nothing : answerIn(attributes),
      tools: toolsIn(listIn(attributes['ai.prompt.tools']) as Json),
      called: isTool
        ? {
            id: textOf(attributes['ai.toolCall.id']),
            name: textOf(attributes['ai.toolCall.name']) ?? '',
            result: result === undefined ? undefined : { content: resultText(result), isError },
          }
        : undefined,
    };
  },
};

function answerIn(attributes: JsonObject): Exchange {
  const named = (name: string) => attributes[`ai.response.${name}`] ?? attributes[`ai.result.${name}`];
  const [text, calls, object, reasoning] = [named('text'), named('toolCalls'), named('object'), named('reasoning')];
  if ((text ?? calls ?? object) === undefined) return nothing;
  return readMessage({
    role: 'assistant',
    content: text ?? object ?? null,
    tool_calls: listIn(calls) as Json,
    reasoning: reasoning ?? null,
  });
}
