import type { Json } from '../../../engine/core/values/json.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf } from '../saidMessage.ts';
import type { Dialect } from './dialect.ts';
import { exchangeIn, joined, nothing } from './step.ts';

/** Google's Agent Development Kit: the request and the answer in the form of Gemini, each as JSON text. */
export const googleAdk: Dialect = {
  label: 'Agent Development Kit of Google',
  matches: ({ attributes }) => Object.keys(attributes).some((key) => key.startsWith('gcp.vertex.agent.')),
  read: ({ attributes }) => {
    const partOf = (name: string) => objectOf(listIn(attributes[`gcp.vertex.agent.${name}`])[0]);
    const { config, contents } = partOf('llm_request');
    const { content } = partOf('llm_response');
    if (!Array.isArray(contents)) return { input: nothing, output: nothing };
    const { system_instruction, tools } = objectOf(config);
    const opening = system_instruction === undefined ? [] : [{ role: 'system', content: system_instruction }];
    const declared = listIn(tools).flatMap((each) => listIn(objectOf(each)['function_declarations']));
    return {
      kind: 'chat',
      input: joined(exchangeIn(opening as Json, 'user'), exchangeIn(contents, 'user')),
      output: exchangeIn(content, 'assistant'),
      tools: toolsIn(declared as Json),
    };
  },
};
