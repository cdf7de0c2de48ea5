import * as z from 'zod';
import { type Task, taskSchema } from '../../engine/core/domain/task.ts';
import { issueText } from '../../engine/core/text/issueText.ts';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { askForData, type Drafter } from './askedModel.ts';
import { siftByWords } from './contradictions.ts';
import { freeId } from './draftTask.ts';
import { rowsNamed, tablesOf, valuesOf } from './rowsNamed.ts';
import { type Sifted, sift } from './soundDrafts.ts';
import type { TaskData } from './variants.ts';

/** Rows of each table that a model is shown. */
const rowsShown = 12;

const answerSchema = z.object({ variants: z.array(z.record(z.string(), z.json())).min(1) });

/**
 * Variants of a task that a model writes: other rows, other words, another persona. What it gets wrong, by the schema or
 * by the audit, it receives that. Gives what is sound in the end, which may be fewer than were asked for.
 */
export async function modelVariants(
  loaded: LoadedDomain,
  task: Task,
  data: JsonObject,
  count: number,
  drafter: Drafter,
): Promise<Sifted<TaskData>> {
  const sound: TaskData[] = [];
  let refused: Sifted<TaskData>['refused'] = [];
  const ids: string[] = [];
  await askForData(drafter, instructions, requestFor(loaded, task, data, count), answerSchema, async ({ variants }) => {
    const drafts = variants.slice(0, count).map((variant): TaskData => {
      const { id: _, draft: __, split: ___, origin: ____, ...rest } = variant as JsonObject;
      const id = freeId(loaded, `${task.id}-variant`, ids);
      ids.push(id);
      return { id, draft: true, split: task.split, ...rest };
    });
    const misfits = drafts.flatMap((draft) => {
      const parsed = taskSchema.safeParse(draft);
      return parsed.error ? [{ candidate: draft, why: issueText(parsed.error, 'the task') }] : [];
    });
    const fitting = drafts.filter((draft) => misfits.every(({ candidate }) => candidate !== draft));
    const said = siftByWords(loaded, task, fitting);
    const sifted = await sift(loaded, 'task', [...sound, ...said.sound], drafter.signal);
    sound.splice(0, sound.length, ...sifted.sound.slice(0, count));
    refused = [...misfits, ...said.refused, ...sifted.refused];
    if (sound.length >= count || drafter.signal.aborted) return null;
    const reasons = refused.slice(0, 4).map(({ why }) => why);
    return `${count - sound.length} more are needed, since of these ${drafts.length} not all are sound (${reasons.join('; ') || 'too few were given'})`;
  }).catch((error: unknown) => {
    // Some are better than none.
    if (sound.length === 0) throw error;
  });
  return { sound, refused };
}

const instructions = `You write variants of a task in which a simulated user talks to an agent that works with tools. Answer with one JSON object {"variants": [...]} and nothing else.
Each variant has the form of the given task, with every key that it has and no others. Keep what the task tries; change whom and what it is about, and the user's words.
Use only rows of the database that you are shown. "actions" are the calls of a right rollout, in order, that follow the policy; the user must know, in "user.known", every value that the calls need and that no earlier call returns. "user.goal" speaks to the user in the second person; "user.opening" is what they say first. No two variants may say the same.`;

function requestFor(loaded: LoadedDomain, task: Task, data: JsonObject, count: number): string {
  const { domain } = loaded;
  const tables = tablesOf(loaded.world);
  const named = rowsNamed(tables, valuesOf(task));
  const rows = tables.map(({ side, name, rows: all }): [string, Json] => {
    const own = named.filter(({ table }) => table.name === name && table.side === side).map(({ key }) => key);
    const keys = [...own, ...Object.keys(all).filter((key) => !own.includes(key))].slice(0, rowsShown);
    return [`${side}.${name}`, Object.fromEntries(keys.map((key) => [key, all[key] as Json]))];
  });
  return JSON.stringify(
    {
      variants: count,
      task: data,
      policy: domain.policy.text,
      tools: domain.tools.map(({ name, description, parameters, effect, owner }) => ({
        name,
        description,
        parameters,
        effect,
        owner,
      })),
      personas: domain.personas.map(({ id, description }) => ({ id, description })),
      database: Object.fromEntries(rows),
    },
    null,
    1,
  );
}
