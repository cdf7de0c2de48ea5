/** A word as a person types it in a shell: in single quotes where it has more than letters, digits and signs of paths. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
