import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf, readMessage, resultText, textOf } from '../saidMessage.ts';
import { isOfCrewAi, withoutPrompt } from './crewAi.ts';
import { type Dialect, listAt } from './dialect.ts';
import { isOfSmolagents, withoutNotation } from './smolagents.ts';
import { type Exchange, exchangeIn, joined, nothing, type StepKind } from './step.ts';

const kinds: Readonly<Record<string, StepKind>> = { LLM: 'chat', AGENT: 'agent', CHAIN: 'agent', TOOL: 'tool' };

/** OpenInference, as Phoenix and Arize record it: `llm.input_messages.0.message.role` and its like. */
export const openInference: Dialect = {
  label: 'OpenInference',
  matches: ({ attributes }) =>
    kindIn(attributes) !== undefined || Object.keys(attributes).some((key) => /^llm\.(?:in|out)put_messages/.test(key)),
  read: ({ attributes, isError, name }) => {
    const value = (name: string) => attributes[`${name}.value`] ?? objectOf(attributes[name])['value'];
    const plain = isOfSmolagents(name)
      ? withoutNotation
      : isOfCrewAi(name)
        ? withoutPrompt
        : (exchange: Exchange) => exchange;
    const asked = plain(messagesAt(attributes, 'llm.input_messages'));
    const answered = plain(messagesAt(attributes, 'llm.output_messages'));
    const kind = kinds[kindIn(attributes) ?? 'LLM'] ?? 'other';
    const result = value('output');
    const isWhole = asked.said.length > 0 || kind === 'tool';
    return {
      kind,
      input: kind === 'tool' ? nothing : isWhole ? asked : exchangeIn(value('input'), 'user'),
      output:
        kind === 'tool'
          ? nothing
          : answered.said.length > 0
            ? answered
            : plain(exchangeIn(value('output'), 'assistant')),
      tools: toolsIn(
        listAt(attributes, 'llm.tools').map(
          (each) => objectOf(each['tool'])['json_schema'] ?? each['json_schema'] ?? null,
        ) as Json,
      ),
      called:
        kind === 'tool'
          ? {
              id: textOf(attributes['tool_call.id'] ?? attributes['tool.id']),
              name: textOf(attributes['tool.name'] ?? objectOf(attributes['tool'])['name']) ?? '',
              given: textOf(value('input')),
              result: result === undefined ? undefined : { content: resultText(result), isError },
            }
          : undefined,
    };
  },
};

function kindIn(attributes: JsonObject): string | undefined {
  const nested = objectOf(objectOf(attributes['openinference'])['span'])['kind'];
  return textOf(attributes['openinference.span.kind'] ?? nested)?.toUpperCase();
}

function messagesAt(attributes: JsonObject, prefix: string): Exchange {
  return joined(
    ...listAt(attributes, prefix).map((each) => {
      const message = objectOf(each['message'] ?? each);
      const results = Object.values(objectOf(each['function'])).flatMap(listIn).map(objectOf);
      if (results.length > 0)
        return joined(
          ...results.map(({ call_id = null, ...result }) =>
            readMessage({ ...result, role: 'tool', tool_call_id: call_id }),
          ),
        );
      const contents = Object.values(objectOf(message['contents'])).map(
        (part) => objectOf(part)['message_content'] ?? part,
      );
      const calls = Object.values(objectOf(message['tool_calls'])).map((call) => objectOf(call)['tool_call'] ?? call);
      return readMessage({
        ...message,
        content: message['content'] ?? (contents.length > 0 ? contents : null),
        tool_calls: calls,
      });
    }),
  );
}
