import { pythonLiteral } from '../../../engine/core/values/pythonLiteral.ts';
import { objectOf, readMessage, type Said, type SaidCall } from '../saidMessage.ts';
import type { Exchange } from './step.ts';

/** Names of the spans in which smolagents calls a model: `OpenAIModel.generate` and its like. */
export const isOfSmolagents = (name: string): boolean => /Model\.generate(?:_stream)?$/.test(name);

/**
 * Returns an exchange of smolagents as other agents would have it. The history has calls as text in Python's notation,
 * the results of a step as one text, and the answer to the user as a call of `final_answer`. Results that one text has
 * together are left to the spans of the tools.
 */
export function withoutNotation({ said, lost }: Exchange): Exchange {
  const plain: Said[] = [];
  let open: readonly SaidCall[] = [];
  for (const each of said.map(withCalls)) {
    if (each.role === 'tool') {
      const [call, ...others] = open;
      open = [];
      if (call && others.length === 0)
        plain.push({ ...each, callId: call.id, name: call.name, content: each.content.replace(/^Observation:\n/, '') });
      continue;
    }
    const answer = each.role === 'agent' ? answerIn(each.calls) : undefined;
    if (each.role === 'agent') open = answer === undefined ? each.calls : [];
    plain.push(answer === undefined ? each : { role: 'agent', content: answer, calls: [] });
  }
  return { said: plain, lost };
}

function withCalls(said: Said): Said {
  if (said.role === 'user') return { ...said, content: said.content.replace(/^New task:\n/, '') };
  if (said.role !== 'agent' || !said.content?.startsWith('Calling tools:\n')) return said;
  const calls = pythonLiteral(said.content.slice('Calling tools:\n'.length));
  const read = calls === undefined ? [] : readMessage({ role: 'assistant', content: null, tool_calls: calls }).said;
  return read[0] ?? said;
}

function answerIn(calls: readonly SaidCall[]): string | undefined {
  const [call] = calls;
  if (calls.length !== 1 || call?.name !== 'final_answer') return undefined;
  const { answer } = objectOf(call.arguments);
  return typeof answer === 'string' ? answer : JSON.stringify(answer);
}
