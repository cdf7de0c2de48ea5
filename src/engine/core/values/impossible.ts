/** Throws for a value that its type rules out. */
export function impossible(what: string, value: never): never {
  throw new Error(`unknown ${what} ${JSON.stringify(value)}`);
}
