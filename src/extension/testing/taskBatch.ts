/** A task that was chosen to run. */
export type ChosenTask = { readonly folder: string; readonly task: string };

/** The tasks of one domain that one run plays. */
export type TaskBatch = { readonly folder: string; readonly tasks: readonly string[] };

/** One run for each domain, in the order in which they were chosen. */
export function batchesOf(chosen: readonly ChosenTask[]): readonly TaskBatch[] {
  const groups = Map.groupBy(chosen, ({ folder }) => folder);
  return [...groups].map(([folder, members]) => ({ folder, tasks: [...new Set(members.map(({ task }) => task))] }));
}

/** Characters of one list of tasks: command lines have limits, of which that of Windows is 32,767. */
const longestList = 16_000;

/**
 * The command lines that run a batch into one folder, one after the other: a run takes more tasks on, so a list that
 * is too long for a command line is cut in pieces.
 */
export function evalArguments(
  { folder, tasks }: TaskBatch,
  { trials, out }: { readonly trials: number; readonly out: string },
): readonly (readonly string[])[] {
  return pieces(tasks).map((list) => [
    'eval',
    folder,
    '--tasks',
    list.join(','),
    '--trials',
    String(trials),
    '--task-agents',
    '--out',
    out,
    '--json',
    '--stream',
  ]);
}

function pieces(tasks: readonly string[]): readonly (readonly string[])[] {
  const lists: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const task of tasks) {
    if (length + task.length + 1 > longestList) {
      lists.push([]);
      length = 0;
    }
    lists.at(-1)?.push(task);
    length += task.length + 1;
  }
  return lists;
}
