/** Returns the first letters of a word, which its forms share: cancel, cancelled, cancelling. */
export function stemOf(word: string, most: number): string {
  const bare = word.replace(/(?:ing|ed|ation|ment)$/, '');
  return bare.length >= 4 ? bare.slice(0, most).replace(/(.)\1$/, '$1') : word;
}

type Vocabularies = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Returns the words of tools with their weights: the more tools have a word, the less it says. */
export function weighed(tools: readonly (readonly [name: string, words: ReadonlySet<string>])[]): Vocabularies {
  const weightOf = (word: string) => 1 / tools.filter(([, words]) => words.has(word)).length;
  return new Map(tools.map(([name, words]) => [name, new Map([...words].map((word) => [word, weightOf(word)]))]));
}
