import { personaSchema } from '../../src/engine/core/domain/persona.ts';
import { taskSchema } from '../../src/engine/core/domain/task.ts';
import type { ModelView } from '../../src/engine/shell/models/openai.ts';

/** A conversation of three messages, as a model seat sees it. */
export function modelView(): ModelView {
  return {
    domain: { name: 'desk' },
    task: taskSchema.parse({ id: 't', persona: 'p', user: { goal: 'You want a lamp.', known: { colour: 'red' } } }),
    persona: personaSchema.parse({ id: 'p', description: 'A person.' }),
    messages: [
      { role: 'user', step: 2, content: 'Hello' },
      { role: 'agent', step: 3, content: 'Which one?', toolCalls: [], messageId: 'm1' },
      { role: 'user', step: 4, content: 'The red one.' },
    ],
    started: {
      type: 'rolloutStarted',
      format: 1,
      engine: '0',
      domain: { name: 'desk', hash: 'h' },
      policyHash: 'p',
      task: { id: 't', hash: 'h', split: 'train' },
      seed: '1',
      trial: 0,
      now: '2026-01-05T09:00:00Z',
      basis: 'evaluate',
      turnCap: 30,
      toolErrorCap: 10,
      seats: { agent: 'openai:m', user: 'agenda' },
      system: 'Be kind.',
      tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
      database: 'd',
    },
  };
}
