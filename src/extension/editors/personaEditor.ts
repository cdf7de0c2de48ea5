import { userSeatFor } from '../../engine/core/domain/domain.ts';
import { type Persona, personaSchema } from '../../engine/core/domain/persona.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { simulatorPrompt } from '../../engine/core/simulator/prompt.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { startOf } from '../../engine/shell/start.ts';
import { lastResults } from '../language/lastResult.ts';
import { runPlacesOf } from '../runs/runPlaces.ts';
import { chosenIn } from './documentItems.ts';
import type { Content, FileScene, Outcome, Running, VisualEditor } from './editorSession.ts';
import { answered } from './running.ts';
import { takenIdErrors, withTakenId } from './takenId.ts';

const kind = { kind: 'persona', schema: 'persona', item: personaSchema } as const;

export const personaEditor: VisualEditor = {
  view: 'personaEditor',
  title: 'Persona',
  contentOf: async (scene) => shownOf(scene),
  run: (message, scene) => (message.type === 'preview' ? previewOf(scene, message.withModel) : undefined),
};

function shownOf(scene: FileScene): Content {
  const { item, ...list } = chosenIn<Persona>(scene, kind, 'id');
  if (!item) return { ...list, content: null };
  const { domain, choices } = scene;
  const { path: base, value: persona } = item;
  const tasks = domain ? tasksFor(domain, persona.id) : { ids: [], own: 0 };
  const task = choices.task !== null && tasks.ids.includes(choices.task) ? choices.task : (tasks.ids[0] ?? null);
  const found = domain?.tasks.find(({ id }) => id === task);
  const taken = takenIdErrors('persona', item, scene.document.uri.fsPath, domain?.parts.personas ?? []);
  return {
    ...list,
    errors: withTakenId(list.errors, taken),
    content: {
      editor: 'persona',
      base,
      persona,
      prompt: domain && found ? openingPrompt(domain, persona, found) : null,
      tasks: tasks.ids,
      own: tasks.own,
      task,
      model: domain ? modelOf(domain) : null,
    },
  };
}

/** The tasks of a domain, those of the persona first. */
function tasksFor({ tasks }: LoadedDomain, persona: string): { readonly ids: string[]; readonly own: number } {
  const own = tasks.filter((task) => task.persona === persona);
  const others = tasks.filter((task) => task.persona !== persona);
  return { ids: [...own, ...others].map(({ id }) => id), own: own.length };
}

/** The model that the domain has for the user's seat. */
function modelOf({ file }: LoadedDomain): string | null {
  const seat = userSeatFor(file, 'evaluate');
  return seat.startsWith('openai:') ? seat.slice('openai:'.length) : null;
}

/**
 * Returns what a model learns that plays the persona in a task, before its first message. Nothing of the domain runs.
 */
function openingPrompt({ domain, parts }: LoadedDomain, persona: Persona, task: Task): string {
  const seats = { agent: { type: 'gold' }, user: { type: 'agenda' } } as const;
  const started = startOf(domain, '', task, { seed: '1', trial: 0, basis: 'evaluate', ...seats });
  const hasUserTools = [...parts.scan.declared.values()].some(({ owner }) => owner === 'user');
  return simulatorPrompt({
    domain,
    task,
    persona,
    started: { ...started, ...(hasUserTools ? { userTools: [] } : {}) },
    messages: [],
  });
}

/** The persona's first messages, with what the agent said when the task was played last, else with the gold seat. */
function previewOf(scene: FileScene, withModel: boolean): ((running: Running) => Promise<Outcome>) | undefined {
  const { content } = shownOf(scene);
  if (content?.editor !== 'persona' || content.task === null) return undefined;
  const { persona, task } = content;
  return async (running) => {
    const results = await (await lastResults()).ofTasks(running.folder, runPlacesOf(running.folder));
    const recording = results.get(task)?.recording;
    const agent = recording === undefined ? [] : ['--recording', recording];
    const args = [
      'preview',
      running.folder,
      persona.id,
      '--task',
      task,
      ...agent,
      ...(withModel ? ['--own-user'] : []),
    ];
    const answer = (await answered(running, args)) as Omit<Extract<Outcome, { type: 'previewed' }>, 'type'>;
    return { ...answer, type: 'previewed' };
  };
}
