import type { Domain } from '../../engine/core/domain/domain.ts';
import { wordsOf } from '../../engine/core/text/text.ts';
import type { Span } from '../masking/text/valueIndex.ts';
import { stemOf, vocabularyOf } from './vocabulary.ts';

/** A user's request, in words. */
export type Request = {
  readonly name: string;
  readonly text: string;
  /** The tool that the agent finally proposed or called; null if it is not known. */
  readonly served: string | null;
};

/** A task as far as requests are compared with it. */
export type Served = { readonly id: string; readonly text: string; readonly tools: readonly string[] };

/** An intent that requests of real users share, and the tasks that cover it. */
export type Intent = {
  /** The words that tell it from others, or what the tool is called that serves it. */
  readonly label: string;
  /** The tool of the domain whose words they use; null if they use no tool's words. */
  readonly tool: string | null;
  readonly requests: readonly string[];
  /** The request that is most like the others. */
  readonly example: Request;
  /** Ids of the tasks that cover it. */
  readonly tasks: readonly string[];
};

/** The cosine at or above which two requests, or a task and a request, are similar. */
const alike = 0.25;
const covered = 0.3;

/**
 * Groups requests by what they ask for: by the tool that served them or whose words they use, else by the cosine of their
 * words, weighted by how rare these are (TF-IDF). No model is asked, and the same requests give the same intents.
 */
export function intentsOf(
  requests: readonly Request[],
  tasks: readonly Served[],
  domain: Domain,
  values: (text: string) => readonly Span[] = () => [],
): readonly Intent[] {
  const wordsIn = (text: string) => withoutSpans(text, values(text));
  const vectorOf = weighing([...requests, ...tasks].map(({ text }) => wordsIn(text)));
  const nameOf = spellings([...requests, ...tasks].map(({ text }) => text));
  const placed = requests.map((request) => ({
    request,
    vector: vectorOf(wordsIn(request.text)),
    tool: request.served ?? toolOf(wordsIn(request.text), domain),
  }));
  const groups: Group[] = [];
  for (const each of placed) {
    const group = groupFor(each, groups) ?? { tool: each.tool, members: [], sum: new Map<string, number>() };
    if (group.members.length === 0) groups.push(group);
    group.members.push(each);
    for (const [term, weight] of each.vector) group.sum.set(term, (group.sum.get(term) ?? 0) + weight);
  }
  const served = tasks.map((task) => ({ ...task, vector: vectorOf(wordsIn(task.text)) }));
  const intents = groups.map((group): Intent => {
    const { sum: middle } = group;
    const example = group.members.toSorted(
      (one, other) => cosine(other.vector, middle) - cosine(one.vector, middle),
    )[0];
    const own = served.filter(({ tools, vector }) =>
      group.tool === null ? cosine(vector, middle) >= covered : tools.includes(group.tool),
    );
    return {
      label: group.tool === null ? termsOf(middle, nameOf) : group.tool.replaceAll('_', ' '),
      tool: group.tool,
      requests: group.members.map(({ request }) => request.name),
      example: example?.request ?? { name: '', text: '', served: null },
      tasks: own.map(({ id }) => id),
    };
  });
  return intents.toSorted(
    (one, other) => other.requests.length - one.requests.length || (one.label < other.label ? -1 : 1),
  );
}

type Placed = { readonly request: Request; readonly vector: Vector; readonly tool: string | null };
type Group = { readonly tool: string | null; readonly members: Placed[]; readonly sum: Map<string, number> };

function groupFor({ vector, tool }: Placed, groups: readonly Group[]): Group | undefined {
  if (tool !== null) return groups.find((group) => group.tool === tool);
  const near = groups
    .filter((group) => group.tool === null)
    .map((group) => ({ group, cosine: cosine(vector, group.sum) }))
    .sort((one, other) => other.cosine - one.cosine);
  return near[0] && near[0].cosine >= alike ? near[0].group : undefined;
}

const stopWords = new Set(
  `i you he she it we they me him her us them my your his its our their this that these those there here the a an and or but so
  if because when where what which who how why not no yes is are was were be been am do does did done have has had will would
  can could should shall may might must to of in on at for with from by about into out up down over after before until than
  then as very too just only also still already again now today tomorrow yesterday please thank hello hi hey good morning day
  evening sorry want like need get got know some any all other another one im ive id dont cant wont isnt name email address
  number order there anything something instead make made take new`.split(/\s+/),
);

/** The words of a request that say what it is about: no names, no numbers, in one form. */
function termsIn(text: string): readonly string[] {
  const bare = text.replace(/\S+@\S+/g, ' ').replace(/\b[\p{L}]*\d[\p{L}\d-]*\b/gu, ' ');
  return wordsOf(bare)
    .filter((word) => word.length > 2 && !stopWords.has(word))
    .map(stem);
}

const stem = (word: string) => stemOf(word, 7);

/** A text without values of the database, and without words that are written large within a sentence: names, mostly. */
function withoutSpans(text: string, spans: readonly Span[]): string {
  const bare = spans.reduceRight((rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`, text);
  return bare.replace(/(?<=[\p{L},] )(?!I\b)\p{Lu}[\p{L}'’-]+/gu, ' ');
}

/** Returns how a term is written in full, the most frequent way. */
function spellings(texts: readonly string[]): (term: string) => string {
  const counts = new Map<string, Map<string, number>>();
  for (const text of texts)
    for (const word of wordsOf(text)) {
      const own = counts.get(stem(word)) ?? new Map<string, number>();
      counts.set(stem(word), own.set(word, (own.get(word) ?? 0) + 1));
    }
  return (term) => [...(counts.get(term) ?? [])].sort(([, a], [, b]) => b - a)[0]?.[0] ?? term;
}

type Vector = ReadonlyMap<string, number>;

/** Weighs the words of texts by how rare they are among these texts. */
function weighing(texts: readonly string[]): (text: string) => Vector {
  const counts = new Map<string, number>();
  for (const text of texts) for (const term of new Set(termsIn(text))) counts.set(term, (counts.get(term) ?? 0) + 1);
  return (text) => {
    const vector = new Map<string, number>();
    for (const term of termsIn(text)) {
      const rarity = Math.log((1 + texts.length) / (1 + (counts.get(term) ?? 0))) + 1;
      vector.set(term, (vector.get(term) ?? 0) + rarity);
    }
    return vector;
  };
}

function cosine(one: Vector, other: Vector): number {
  let product = 0;
  for (const [term, weight] of one) product += weight * (other.get(term) ?? 0);
  return product === 0 ? 0 : product / (lengthOf(one) * lengthOf(other));
}

function lengthOf(vector: Vector): number {
  return Math.sqrt([...vector.values()].reduce((sum, weight) => sum + weight * weight, 0));
}

function termsOf(vector: Vector, nameOf: (term: string) => string): string {
  const terms = [...vector].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1)).slice(0, 3);
  return terms.map(([term]) => nameOf(term)).join(', ') || 'nothing that tells';
}

/** The words of each tool that changes something, with those of the domain's sentences about it. */
const describedWords = vocabularyOf(({ name, description }, { lexicon }) => {
  const { propose = [], done = [], synonyms = [] } = lexicon.tools[name] ?? {};
  const spoken = [...propose, ...done, ...synonyms].join(' ').replace(/\{\w+\}/g, ' ');
  return termsIn(`${name.replaceAll('_', ' ')} ${description} ${spoken}`);
});

/** Returns the tool whose words a request uses most; null if no tool is ahead of the others. */
export function toolOf(text: string, domain: Domain): string | null {
  const said = new Set(termsIn(text));
  const ranked = [...describedWords(domain)].map(([name, words]) => {
    const verb = stem(wordsOf(name.replaceAll('_', ' '))[0] ?? '');
    const score = [...words].reduce((sum, [word, weight]) => sum + (said.has(word) ? weight : 0), 0);
    return { name, score: score + (said.has(verb) ? 1 : 0) };
  });
  const [first, second] = ranked.sort((one, other) => other.score - one.score);
  return first && first.score >= 1 && first.score > (second?.score ?? 0) ? first.name : null;
}
