import type { Domain } from '../../../../src/engine/core/domain/domain.ts';
import { type Persona, personaSchema } from '../../../../src/engine/core/domain/persona.ts';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import type { UserView } from '../../../../src/engine/core/seats/seat.ts';
import { started } from '../../../support/desk.ts';
import { domain, taskWith } from '../conversation.ts';

export type Drawn = {
  readonly persona?: Record<string, unknown>;
  readonly task?: Parameters<typeof taskWith>[0];
  readonly seed?: string;
};

/** Returns the view of the user after these turns. The first turn is the user's. */
export function viewAfter(lines: readonly string[], { persona = {}, task = {}, seed = '1' }: Drawn = {}): UserView {
  const own: Persona = personaSchema.parse({ id: 'p', description: 'A person.', patience: 3, ...persona });
  const drawn = { ...taskWith(task), persona: own.id };
  const of: Domain = { ...domain, personas: [own], tasks: [drawn] };
  const messages: Message[] = [];
  for (const [step, content] of lines.entries())
    messages.push(step % 2 === 0 ? { role: 'user', step, content } : { role: 'agent', step, content, toolCalls: [] });
  return { domain: of, task: drawn, persona: own, started: started(seed, drawn), messages };
}
