/** The most names, and the most characters of one, of which something is kept: data repeats few short names often. */
const [mostNames, longestName] = [10_000, 100];

/** Returns the same function of the name of a field, which keeps what it returned for names that came before. */
export function rememberedByName<Fact>(factOf: (name: string) => Fact): (name: string) => Fact {
  const known = new Map<string, Fact>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const fact = factOf(name);
    if (known.size >= mostNames) known.clear();
    if (name.length <= longestName) known.set(name, fact);
    return fact;
  };
}
