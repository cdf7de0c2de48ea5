/**
 * The same function, which remembers its latest results. For pure functions of a text that a conversation asks
 * again and again; forgetting all at once keeps the memory bounded.
 */
export function memo<Result>(work: (text: string) => Result, limit = 1000): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const made = work(text);
    if (results.size >= limit) results.clear();
    results.set(text, made);
    return made;
  };
}
