import type { Recogniser } from '../../engine/core/dialogue/dialogue.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import { isWrite } from '../../engine/core/domain/tool.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { textsBy, type Utterance } from '../../engine/core/events/message.ts';
import { describedDomain } from '../../engine/shell/describe.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { keptBy } from '../masking/database.ts';
import { proposedIn } from './deeds.ts';
import { recogniserFor } from './desk.ts';
import { eventsOfDomain } from './domainEvents.ts';
import { spokenIn } from './fromConversation.ts';
import { type Intent, intentsOf, type Request, type Served } from './intents.ts';
import { type KnownValues, knownValues } from './values.ts';

/** The requests of real users, and the tasks of a domain that cover them. */
export type ChatCoverage = {
  readonly domain: string;
  readonly conversations: number;
  readonly intents: readonly Intent[];
};

/** Returns which intents of recorded conversations the tasks of a domain cover. Its tools are described in a worker. */
export async function chatCoverage(loaded: LoadedDomain, recordings: readonly string[]): Promise<ChatCoverage> {
  const { domain } = await describedDomain(loaded);
  const changes = new Set(domain.tools.filter((tool) => isWrite(tool) || tool.handsOff).map(({ name }) => name));
  const tasks = domain.tasks.map((task): Served => {
    const { goal, opening = '' } = task.user;
    const tools = task.actions.map(({ tool }) => tool).filter((tool) => changes.has(tool));
    return { id: task.id, text: `${opening} ${goal}`, tools };
  });
  const databases = [loaded.world.agent, loaded.world.user];
  const desk = { domain, values: knownValues(domain, databases), recogniser: recogniserFor(domain) };
  const requests = recordings.map((path) => requestIn(path, loaded, desk));
  const { kept = () => [] } = keptBy(databases);
  return {
    domain: domain.name,
    conversations: recordings.length,
    intents: intentsOf(requests, tasks, domain, kept),
  };
}

type Desk = { readonly domain: Domain; readonly values: KnownValues; readonly recogniser: Recogniser };

function requestIn(path: string, loaded: LoadedDomain, desk: Desk): Request {
  const { events } = eventsOfDomain(path, loaded);
  const spoken = spokenIn(events);
  const users = textsBy('user', spoken);
  const [opening = '', next = ''] = users;
  const isAnswer = desk.recogniser.user(next).confirms || desk.recogniser.user(next).closes;
  return { name: path, text: isAnswer ? opening : `${opening} ${next}`, served: servedBy(events, spoken, desk) };
}

/** The first tool that the agent called to change something, or proposed to call; the one that hands over, where it did. */
function servedBy(
  events: readonly RolloutEvent[],
  spoken: readonly Utterance[],
  { domain, values, recogniser }: Desk,
): string | null {
  const changes = domain.tools.filter((tool) => tool.owner === 'agent' && (isWrite(tool) || tool.handsOff));
  const called = events.find(
    (event) => event.type === 'toolCalled' && changes.some(({ name }) => name === event.call.name),
  );
  if (called?.type === 'toolCalled') return called.call.name;
  const [proposed] = proposedIn(spoken, domain, recogniser, values);
  if (proposed) return proposed.tool.name;
  const isHandedOff = spoken.some(({ role, content }) => role === 'agent' && recogniser.agent(content).handsOff);
  return (isHandedOff && changes.find(({ handsOff }) => handsOff)?.name) || null;
}
