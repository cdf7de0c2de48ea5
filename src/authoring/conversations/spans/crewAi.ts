import type { Said } from '../saidMessage.ts';
import type { Exchange } from './step.ts';

/** Names of the spans in which CrewAI calls a model. */
export const isOfCrewAi = (name: string): boolean => name.endsWith('.llm_call');

/** Returns an exchange of CrewAI without what it writes around the words of the user, and around names of tools. */
export function withoutPrompt({ said, lost }: Exchange): Exchange {
  return { said: said.map(plain), lost };
}

const opening = /^\s*Current Task: /;
const closing = /\n\n(?:Begin! This is VERY important to you|Provide your complete response:)[\s\S]*$/;

function plain(said: Said): Said {
  if (said.role === 'user' && opening.test(said.content))
    return { ...said, content: said.content.replace(opening, '').replace(closing, '') };
  if (said.role !== 'agent') return said;
  return { ...said, calls: said.calls.map((call) => ({ ...call, name: call.name.replace(/^'(.*)'$/, '$1') })) };
}
