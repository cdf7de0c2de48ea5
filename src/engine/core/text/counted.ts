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
