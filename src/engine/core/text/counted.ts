/** A number of things as people read it: `1 task`, `2 tasks`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Returns how often something was: `once`, `2 times`. */
export const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Names that a message shows of a list. */
const shownNames = 3;

/** Returns the first names of a list, and how many others it has: `a, b, c and 297 more`. */
export function firstNames(names: readonly string[]): string {
  const more = names.length - shownNames;
  return more > 0 ? `${names.slice(0, shownNames).join(', ')} and ${more} more` : names.join(', ');
}

/** Returns the numbers of trials as people read them: `trial 1`, `trials 1 and 2`, `trials 0, 1 and 2`. */
export function trialsText(trials: readonly number[]): string {
  const last = trials.at(-1) ?? 0;
  return trials.length < 2 ? `trial ${last}` : `trials ${trials.slice(0, -1).join(', ')} and ${last}`;
}
