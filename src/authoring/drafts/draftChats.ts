import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Persona, personaSchema } from '../../engine/core/domain/persona.ts';
import { taskSchema } from '../../engine/core/domain/task.ts';
import { undecided } from '../../engine/shell/audit/goldReplay.ts';
import { openStage } from '../../engine/shell/audit/stage.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { forEach } from '../../engine/shell/files/forEach.ts';
import { isDraft, withDrafts } from '../../engine/shell/load/drafts.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { inside } from '../../engine/shell/source/source.ts';
import { draftText } from '../draftText.ts';
import { taskIdFor } from '../writtenDomain.ts';
import type { Drafter } from './askedModel.ts';
import { openDesk } from './desk.ts';
import { eventsOfDomain } from './domainEvents.ts';
import { type ConversationDraft, draftFromConversation, writtenPersona } from './fromConversation.ts';
import { LookUps } from './lookUps.ts';
import { differencesFrom } from './reproduction.ts';

type RecordedDraft = ConversationDraft & { readonly recording: string };

export type ChatDrafts = {
  readonly drafts: readonly RecordedDraft[];
  /** Texts of new files of the domain, by their paths. */
  readonly files: ReadonlyMap<string, string>;
  /** Ids of the tasks in them, and of the draft personas that these need. */
  readonly ids: readonly string[];
};

export type DraftOptions = {
  /** Name of the file of the tasks, without its suffix. */
  readonly name: string;
  /** A model for what conversations do not tell by themselves; null asks none. */
  readonly drafter: Drafter | null;
  /** Whether personas may be drafted that the domain does not have. */
  readonly newPersonas: boolean;
  /** The id of the task, where there is one conversation; else it is that of the recording. */
  readonly id?: string;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number, what: string) => void;
};

/** No one plays it: look-ups are called in their own rollout. */
const lookUp = 'look-up';
const probe = taskSchema.parse({ id: lookUp, persona: lookUp, user: { goal: 'Look something up.' } });
const nobody = personaSchema.parse({ id: lookUp, description: 'Looks something up.' });

/** Drafts a task from each recording of a conversation, and a persona where the domain has no one who behaves so. */
export async function draftChats(
  loaded: LoadedDomain,
  recordings: readonly string[],
  { name, id: wanted, drafter, newPersonas, signal, onProgress }: DraftOptions,
): Promise<ChatDrafts> {
  const staged = { ...loaded, domain: { ...loaded.domain, personas: [...loaded.domain.personas, nobody] } };
  const stage = await openStage(staged, signal, [probe]);
  const taken = new Set(loaded.parts.tasks.map(({ value }) => value.id));
  const drafted: RecordedDraft[] = [];
  try {
    const domain = { ...stage.supervisor.domain, personas: personasOf(loaded) };
    const isTaken = (persona: string) =>
      loaded.parts.personas.some(({ value }) => value.id === persona) || existsSync(personaFile(loaded, persona));
    const desk = openDesk({ ...loaded, domain }, new LookUps(stage, probe), newPersonas, isTaken);
    for (const recording of recordings) {
      if (signal.aborted) break;
      const { events, id } = conversationAt(recording, loaded);
      const draft = await draftFromConversation(events, taskIdFor(wanted ?? id, taken), desk, drafter);
      drafted.push({ ...draft, recording });
      onProgress?.(drafted.length, recordings.length, 'drafted');
    }
  } finally {
    await stage.close();
  }
  const drafts = await compared(loaded, drafted, signal);
  const personas = new Map(drafts.flatMap(({ persona }) => (persona ? [[persona.id, persona] as const] : [])));
  const earlier = loaded.parts.personas.filter(isDraft).map(({ value }) => value.id);
  const needed = new Set(drafts.map(({ task }) => task.persona));
  return {
    drafts,
    files: filesOf(loaded, name, drafts, [...personas.values()]),
    ids: [...drafts.map(({ task }) => task.id), ...[...earlier, ...personas.keys()].filter((each) => needed.has(each))],
  };
}

const rolloutsAtOnce = 16;

/** The same drafts; what a rollout of one does otherwise than its conversation is left to do. */
async function compared(
  loaded: LoadedDomain,
  drafts: readonly RecordedDraft[],
  signal: AbortSignal,
): Promise<readonly RecordedDraft[]> {
  const read = drafts.map((draft) => ({ draft, task: taskSchema.safeParse(draft.task).data }));
  const tasks = read.flatMap(({ task }) => task ?? []);
  const personas = [...personasOf(loaded), ...drafts.flatMap(({ persona }) => persona ?? [])];
  const stage = await openStage({ ...loaded, domain: { ...loaded.domain, personas } }, signal, tasks);
  const todosOf = new Map<RecordedDraft, readonly string[]>();
  const compare = async ({ draft, task }: (typeof read)[number]): Promise<void> => {
    if (!task || draft.todos.length > 0) return;
    const closed = await stage.play({ task, agent: 'gold' });
    if (undecided(closed) !== null) return;
    const { events } = conversationAt(draft.recording, loaded);
    const played = closed.arrived.map(({ event }) => event);
    todosOf.set(draft, differencesFrom(events, played));
  };
  try {
    await forEach(read, rolloutsAtOnce, compare, signal);
  } finally {
    await stage.close();
  }
  return drafts.map((draft) => {
    const todos = todosOf.get(draft) ?? [];
    if (todos.length === 0) return draft;
    const description = [draft.task.description, ...todos.map((todo) => `TODO: ${todo}.`)].join(' ');
    return { ...draft, task: { ...draft.task, description }, todos };
  });
}

/** The events of a recording of this domain, and what a task of it may be called. */
function conversationAt(recording: string, loaded: LoadedDomain) {
  const { started, events } = eventsOfDomain(recording, loaded);
  return { events, id: started.imported ? started.task.id : `${started.task.id}-drafted` };
}

/** The personas of a domain, with those that were drafted before. */
const personasOf = (loaded: LoadedDomain): readonly Persona[] => withDrafts(loaded, []).domain.personas;

function folderOf({ folder, file }: LoadedDomain, key: 'tasks' | 'personas'): string {
  const found = inside(folder, file[key]);
  if (found !== null) return found;
  const message = `the folder of ${key}, ${file[key]}, is outside of the domain`;
  throw new Fault({ who: 'environment', code: 'draft/outside', message });
}

const personaFile = (loaded: LoadedDomain, id: string) => join(folderOf(loaded, 'personas'), `${id}.persona.yaml`);

function filesOf(
  loaded: LoadedDomain,
  name: string,
  drafts: ChatDrafts['drafts'],
  personas: readonly Persona[],
): ReadonlyMap<string, string> {
  const note = ['Drafted from real conversations: read each, correct it, and accept it.'];
  const tasks = draftText(
    drafts.map(({ task }) => task),
    note,
  );
  return new Map([
    ...(drafts.length > 0 ? [[join(folderOf(loaded, 'tasks'), `${name}.task.yaml`), tasks] as const] : []),
    ...personas.map((each) => [personaFile(loaded, each.id), draftText([writtenPersona(each)], note)] as const),
  ]);
}
