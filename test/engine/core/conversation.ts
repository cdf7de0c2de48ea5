import { lexiconSchema } from '../../../src/engine/core/dialogue/lexicon.ts';
import type { Domain } from '../../../src/engine/core/domain/domain.ts';
import { type Persona, personaSchema } from '../../../src/engine/core/domain/persona.ts';
import { type Task, taskSchema } from '../../../src/engine/core/domain/task.ts';
import type { Message } from '../../../src/engine/core/events/message.ts';
import type { RolloutState } from '../../../src/engine/core/events/state.ts';
import { agendaUser } from '../../../src/engine/core/seats/agenda.ts';
import { goldAgent } from '../../../src/engine/core/seats/gold.ts';
import type { AgentReply, SeatView, UserReply } from '../../../src/engine/core/seats/seat.ts';
import { randomStream } from '../../../src/engine/core/values/random.ts';
import { hashOf } from '../../../src/engine/core/world/database.ts';
import { run } from '../../../src/engine/shell/rollout/driver.ts';
import type { Ports } from '../../../src/engine/shell/rollout/ports.ts';
import { callTool, domain as desk, type Line, setting, started } from '../../support/desk.ts';

export const personas: readonly Persona[] = (['plain', 'brief', 'chatty', 'formal'] as const).flatMap((style) =>
  [{}, { omits: true }, { changes: true }, { insists: true }].map((behaviours) =>
    personaSchema.parse({
      id: `${style}-${Object.keys(behaviours)[0] ?? 'simple'}`,
      description: 'A person.',
      style,
      behaviours,
      patience: 3,
    }),
  ),
);

/** The desk of chairs, with every persona and a lexicon. */
export const domain: Domain = {
  ...desk,
  personas,
  phrases: {},
  lexicon: lexiconSchema.parse({
    facts: { chair: { label: 'chair number' } },
    tools: { paint: { propose: ['Shall I paint {chair} {colour}?'] } },
  }),
};

type Draft = { readonly persona?: string; readonly [key: string]: unknown; readonly user?: Record<string, unknown> };

/** Returns a task of the desk in which the chair A1 should become red, with some fields replaced. */
export function taskWith({ user = {}, ...rest }: Draft = {}): Task {
  return taskSchema.parse({
    id: 'repaint',
    persona: 'plain-simple',
    user: {
      goal: 'You want your chair A1 painted red.',
      opening: 'Please paint chair A1 red.',
      known: { chair: 'A1', colour: 'red' },
      ...user,
    },
    actions: [
      { tool: 'look', arguments: { chair: 'A1' } },
      { tool: 'paint', arguments: { chair: 'A1', colour: 'red' } },
    ],
    ...rest,
  });
}

/** Plays gold against agenda to the end. The first agent turns can be given, as in a fork. */
export async function converse(
  task: Task,
  seed = '1',
  script: readonly Line[] = [],
  of: Domain = domain,
  call: Ports['callTool'] = callTool,
): Promise<RolloutState> {
  const agent = (view: SeatView): AgentReply => {
    const turn = view.messages.filter(({ role }) => role === 'agent').length;
    const line = script[turn];
    if (line === undefined) return goldAgent(view);
    if (typeof line === 'string') return { content: line, toolCalls: [] };
    return {
      content: null,
      toolCalls: Object.entries(line).map(([name, args]) => ({ id: `given_${turn}`, name, arguments: args })),
    };
  };
  const ports: Ports = {
    agent,
    user: agendaUser,
    callTool: call,
    readSource: () => Promise.reject(new Error('no source here')),
  };
  const from = { ...started(seed, task), database: hashOf(setting.world.agent) };
  let state: RolloutState | undefined;
  for await (const step of run({ setting: { ...setting, domain: of }, task, ports }, from)) state = step.state;
  if (!state) throw new Error('a rollout has steps');
  return state;
}

/** Returns the messages and calls of a conversation, one per line. */
export function transcript({ messages }: Pick<RolloutState, 'messages'>): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === 'tool') return [];
    if (message.role === 'user') return [`user: ${message.content}`];
    return message.toolCalls.length > 0
      ? message.toolCalls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`)
      : [`agent: ${message.content}`];
  });
}

/** Returns the agenda user's replies to these agent texts, until it stops. */
export function heardBy(task: Task, texts: readonly string[], seed = '1', of: Domain = domain): readonly UserReply[] {
  const messages: Message[] = [];
  const replies: UserReply[] = [];
  const reply = () => {
    const said = agendaUser(viewOf(task, messages, 'user', seed, of));
    replies.push(said);
    messages.push({ role: 'user', step: messages.length, content: said.content });
  };
  reply();
  for (const text of texts) {
    if (replies.at(-1)?.stop) break;
    messages.push({ role: 'agent', step: messages.length, content: text, toolCalls: [] });
    reply();
  }
  return replies;
}

export function viewOf(
  task: Task,
  messages: readonly Message[],
  seat: string,
  seed = '1',
  of: Domain = domain,
): SeatView {
  const persona = of.personas.find(({ id }) => id === task.persona);
  if (!persona) throw new Error(`no persona ${task.persona}`);
  return {
    domain: of,
    database: setting.world.agent,
    task,
    persona,
    started: started(seed, task),
    messages,
    random: randomStream(seed, seat, messages.length),
  };
}
