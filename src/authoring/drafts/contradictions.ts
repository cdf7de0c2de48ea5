import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import { factOf, type Task, taskSchema } from '../../engine/core/domain/task.ts';
import { clockTimesIn, isClockTime } from '../../engine/core/text/clockTime.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { canonicalJson, type Json } from '../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { type Row, rowsNamed, type Table, tablesOf, valuesOf } from './rowsNamed.ts';
import type { Sifted } from './soundDrafts.ts';
import type { TaskData } from './variants.ts';

/** The variants of a task whose words fit their gold actions, and the others with the reason. */
export function siftByWords(loaded: LoadedDomain, original: Task, variants: readonly TaskData[]): Sifted<TaskData> {
  const judged = variants.map((candidate) => {
    const { data } = taskSchema.safeParse(candidate);
    return { candidate, why: data ? contradictionIn(data, original, loaded) : null };
  });
  return {
    sound: judged.flatMap(({ candidate, why }) => (why === null ? [candidate] : [])),
    refused: judged.flatMap(({ candidate, why }) => (why === null ? [] : [{ candidate, why }])),
  };
}

/**
 * Returns how the user's words of a variant contradict its gold actions, in a sentence; null where they do not: the user
 * still describes a row of the original that the variant is not about, or says all the same for other gold actions.
 */
function contradictionIn(variant: Task, original: Task, { world }: LoadedDomain): string | null {
  const tables = tablesOf(world);
  const [before, after] = [original, variant].map((task) => rowsNamed(tables, valuesOf(task)));
  for (const row of before ?? []) {
    const others = (after ?? []).filter(({ table }) => table === row.table);
    if (others.some(({ key }) => key === row.key)) continue;
    const [field, value] = describedBy(row, others, [original, variant].map(wordsOf)) ?? [];
    if (field === undefined) continue;
    const now = others.map(({ table, key }) => `${key}, whose ${field} is ${shown(table, key, field)}`);
    return `the user's words still name the ${field} ${excerpt(String(value))} of ${row.key} in ${row.table.name}${now.length > 0 ? `, but the gold actions are about ${now.join(', and ')}` : ''}`;
  }
  const isSameRequest = requestOf(variant) === requestOf(original);
  if (!isSameRequest || canonicalJson(variant.actions as Json) === canonicalJson(original.actions as Json)) return null;
  return `its user says the same as the user of ${original.id}, but its gold actions are different, so nothing tells which are right`;
}

/** A field of a row that both texts describe it by, and that no other row of the variant has the same value in. */
function describedBy({ table, key }: Row, others: readonly Row[], texts: readonly string[]) {
  return Object.entries(table.rows[key] ?? {}).find(
    ([field, value]) =>
      (typeof value === 'string' || typeof value === 'number') &&
      others.every((other) => table.rows[other.key]?.[field] !== value) &&
      texts.every((text) => describes(text, value)),
  );
}

/** Whether a text names a text of a row, or its time of day: "at 9" also means 09:00. A number can count anything else. */
function describes(text: string, value: string | number): boolean {
  const hours = [...text.matchAll(/\bat (\d{1,2})\b(?![:.]\d)/gi)].map(([, hour]) => Number(hour));
  if (typeof value === 'number') return hours.includes(value);
  if (value.length > 2 && namesValue(text, value)) return true;
  const [time] = isClockTime(value) ? clockTimesIn(value) : [];
  return (
    time !== undefined && hours.some((hour) => hour % 12 === Number(time.slice(0, 2)) % 12 && time.endsWith(':00'))
  );
}

const shown = ({ rows }: Table, key: string, field: string) => excerpt(String(rows[key]?.[field]));

/** Returns everything that the user of a task says or may say. */
function wordsOf({ user: { goal, opening, change, insist, known } }: Task): string {
  const facts = Object.values({ ...known, ...change?.known }).map((fact) => String(factOf(fact).say));
  return [goal, opening, change?.say, insist?.say, ...facts].filter(Boolean).join('\n');
}

/** Returns a task without its name and what it demands. */
function requestOf(task: Task): string {
  const { user, persona, under, state, now, setUp, faults, tools, laterTools } = task;
  return canonicalJson({ user, persona, under, state, now, setUp, faults, tools, laterTools } as unknown as Json);
}
