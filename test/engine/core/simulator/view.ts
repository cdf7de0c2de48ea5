import type { Domain } from '../../../../src/engine/core/domain.ts';
import type { Message } from '../../../../src/engine/core/message.ts';
import { type Persona, personaSchema } from '../../../../src/engine/core/persona.ts';
import type { UserView } from '../../../../src/engine/core/seat.ts';
import { started } from '../../../support/desk.ts';
import { domain, taskWith } from '../conversation.ts';

/** A line of the agent's: what it says, or a call that succeeds. */
export type Said = string | { readonly call: string; readonly args?: Record<string, string> };

export type Drawn = {
  readonly persona?: Record<string, unknown>;
  readonly task?: Parameters<typeof taskWith>[0];
  readonly seed?: string;
};

/** What the user sees after these turns, which begin with its own first words; the agent's calls stand between. */
export function viewAfter(lines: readonly Said[], { persona = {}, task = {}, seed = '1' }: Drawn = {}): UserView {
  const own: Persona = personaSchema.parse({ id: 'p', description: 'A person.', patience: 3, ...persona });
  const drawn = { ...taskWith(task), persona: own.id };
  const of: Domain = { ...domain, personas: [own], tasks: [drawn] };
  const messages: Message[] = [];
  let isUsers = true;
  for (const [step, line] of lines.entries()) {
    if (typeof line !== 'string') {
      const id = `c${step}`;
      const toolCalls = [{ id, name: line.call, arguments: line.args ?? {} }];
      messages.push({ role: 'agent', step, content: null, toolCalls });
      messages.push({ role: 'tool', step, callId: id, name: line.call, content: 'ok', isError: false });
    } else {
      messages.push(
        isUsers ? { role: 'user', step, content: line } : { role: 'agent', step, content: line, toolCalls: [] },
      );
      isUsers = !isUsers;
    }
  }
  return { domain: of, task: drawn, persona: own, started: started(seed, drawn), messages };
}
