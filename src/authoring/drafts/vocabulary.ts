import type { Domain } from '../../engine/core/domain/domain.ts';
import { isWrite, type Tool } from '../../engine/core/domain/tool.ts';
import { wordsOf } from '../../engine/core/text/text.ts';

/** Returns the first letters of a word, which its forms share: cancel, cancelled, cancelling. */
export function stemOf(word: string, most = 6): string {
  const bare = word.replace(/(?:ing|ed|ation|ment)$/, '');
  return bare.length >= 4 ? bare.slice(0, most).replace(/(.)\1$/, '$1') : word;
}

/** Returns the stems of the words of a text that count. */
export const stemsOf = (text: string, counts: (word: string) => boolean = () => true): readonly string[] =>
  wordsOf(text)
    .filter(counts)
    .map((word) => stemOf(word));

type Vocabularies = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Returns the tools with which the agent changes something, without generic ones. */
export const agentWritesOf = ({ tools }: Domain): readonly Tool[] =>
  tools.filter((tool) => isWrite(tool) && tool.owner === 'agent' && !tool.generic);

/** Returns the weighed words of an agent's writes, which are computed once for a domain. */
export function vocabularyOf(
  wordsOf: (tool: Tool, domain: Domain) => readonly string[],
): (domain: Domain) => Vocabularies {
  const vocabularies = new WeakMap<Domain, Vocabularies>();
  return (domain) => {
    const known = vocabularies.get(domain);
    if (known) return known;
    const made = weighed(agentWritesOf(domain).map((tool) => [tool.name, new Set(wordsOf(tool, domain))]));
    vocabularies.set(domain, made);
    return made;
  };
}

/** Returns the words of tools with their weights: the more tools have a word, the less it says. */
function weighed(tools: readonly (readonly [name: string, words: ReadonlySet<string>])[]): Vocabularies {
  const weightOf = (word: string) => 1 / tools.filter(([, words]) => words.has(word)).length;
  return new Map(tools.map(([name, words]) => [name, new Map([...words].map((word) => [word, weightOf(word)]))]));
}
