import { isConfirmation, type Recogniser } from '../../engine/core/dialogue/dialogue.ts';
import { slotsIn } from '../../engine/core/dialogue/phrase.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import type { Tool } from '../../engine/core/domain/tool.ts';
import type { Utterance } from '../../engine/core/events/message.ts';
import { sentencesOf } from '../../engine/core/text/text.ts';
import { toolOf } from './intents.ts';
import { type KnownValues, type Parameter, parametersOf, repeatedRun } from './values.ts';
import { agentWritesOf, stemsOf, vocabularyOf } from './vocabulary.ts';

/** A call that the agent mentions, as far as its words show. */
export type Deed = {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, string>>;
  /** Required arguments that the conversation does not mention. */
  readonly missing: readonly string[];
  /** Place of the utterance that proposes or reports it. */
  readonly at: number;
};

/** A proposal and its outcome: the deed was done, the user wanted another, or nothing followed. */
export type Proposed = Deed & {
  readonly outcome: 'done' | 'changed' | 'left';
  /** Whether it was reported without a proposal, so that the next report is about another deed. */
  readonly isReported?: true;
};

/** Returns what the agent proposed and did in a conversation of words alone, in order. */
export function proposedIn(
  spoken: readonly Utterance[],
  domain: Domain,
  recogniser: Recogniser,
  values: KnownValues,
): readonly Proposed[] {
  const found: Proposed[] = [];
  for (const [at, utterance] of spoken.entries()) {
    const { role, content } = utterance;
    if (role !== 'agent') continue;
    const acts = recogniser.agent(content);
    const answer = spoken[at + 1]?.content ?? '';
    if (acts.proposes) {
      const proposal = withoutReports(content, recogniser);
      const deed = deedIn(spoken.with(at, { ...utterance, content: proposal }), at, domain, values);
      if (!deed) continue;
      const isAgreed = answer !== '' && isConfirmation(answer, content);
      const isRefused = spoken[at + 2] ? recogniser.agent(spoken[at + 2]?.content ?? '').refuses : false;
      const isChanged = !isAgreed && isOtherwise(deed, spoken, at + 1, values);
      found.push({ ...deed, outcome: isAgreed && !isRefused ? 'done' : isChanged ? 'changed' : 'left' });
    } else if (acts.reportsDone) {
      const deed = deedIn(spoken, at, domain, values);
      if (!deed) continue;
      // What the words do not tell, the look-ups may bring, if the user asked for just this.
      const asked = spoken[at - 1]?.role === 'user' ? toolOf(spoken[at - 1]?.content ?? '', domain) : null;
      if (deed.missing.length > 0 && asked !== deed.tool.name) continue;
      const last = found.at(-1);
      const isTold = last?.outcome === 'done' && last.at >= at - 2 && !last.isReported;
      if (!isTold && !found.some((each) => isSame(each, deed) && each.outcome === 'done'))
        found.push({ ...deed, outcome: 'done', isReported: true });
    }
  }
  return found;
}

/** Returns a proposal without the sentences before it that report something else: "X is cancelled. Shall I reserve Y?" */
function withoutReports(text: string, recogniser: Recogniser): string {
  const sentences = sentencesOf(text).map((sentence) => sentence.text);
  const left = sentences.filter((sentence) => {
    const { proposes, reportsDone } = recogniser.agent(sentence);
    return proposes || !reportsDone;
  });
  return left.length < sentences.length ? left.join(' ') : text;
}

function isSame(one: Deed, other: Deed): boolean {
  return one.tool === other.tool && JSON.stringify(one.arguments) === JSON.stringify(other.arguments);
}

/** Whether an answer names another value for something that was proposed. */
function isOtherwise(
  { tool, arguments: given }: Deed,
  spoken: readonly Utterance[],
  at: number,
  values: KnownValues,
): boolean {
  const answer = spoken[at]?.content ?? '';
  return parametersOf(tool).some((parameter) => {
    const said = values.named(parameter, answer);
    return said.length > 0 && !said.includes(given[parameter.name] ?? '');
  });
}

const common = new Set(
  'shall i you the to in on is it that this with for from and of a an can do will be your want would like me should done right not go ahead reason'.split(
    ' ',
  ),
);

type Read = { readonly deed: Deed; readonly score: number };

/** Returns the write call that an utterance mentions: by the domain's own sentences, by the tool's words, by the values named. */
function deedIn(spoken: readonly Utterance[], at: number, domain: Domain, values: KnownValues): Deed | null {
  const read = agentWritesOf(domain)
    .map((tool) => readAs(tool, spoken, at, domain, values))
    .filter(({ score }) => score > 0);
  const [best, second] = read.sort((one, other) => other.score - one.score);
  return best && best.score > (second?.score ?? 0) ? best.deed : null;
}

function readAs(tool: Tool, spoken: readonly Utterance[], at: number, domain: Domain, values: KnownValues): Read {
  const text = spoken[at]?.content ?? '';
  const { propose = [], done = [] } = domain.lexicon.tools[tool.name] ?? {};
  const slots = [...propose, ...done].map((template) => slotsIn(template, text)).find((each) => each !== null) ?? null;
  const parameters = parametersOf(tool);
  const found: Record<string, string> = {};
  const missing: string[] = [];
  let namedHere = 0;
  const known = parameters.flatMap((parameter) => values.named(parameter, text));
  for (const parameter of parameters) {
    const value = valueIn(parameter, slots, spoken, at, values, known);
    if (value === null) {
      if (parameter.isRequired) missing.push(parameter.name);
      continue;
    }
    if (!parameter.isRequired && !text.toLowerCase().includes(value.toLowerCase())) continue;
    if (text.toLowerCase().includes(value.toLowerCase())) namedHere += 1;
    found[parameter.name] = value;
  }
  const said = new Set(stemsOf(text));
  const [verb = ''] = stemsOf(tool.name.replaceAll('_', ' '));
  const isVerb = said.has(verb);
  const own = spokenWords(domain).get(tool.name) ?? new Map<string, number>();
  const words = [...own].reduce((sum, [word, weight]) => sum + (said.has(word) ? weight : 0), 0);
  const fit = parameters.length === 0 ? 0 : namedHere / parameters.length;
  const speaks = slots !== null || isVerb || words > 0;
  const score = speaks ? (slots ? 10 : 0) + (isVerb ? 3 : 0) + words + fit * 2 - missing.length : 0;
  return { deed: { tool, arguments: found, missing, at }, score };
}

/** The words of the name and the description of each tool that changes something. */
const spokenWords = vocabularyOf(({ name, description }) =>
  stemsOf(`${name.replaceAll('_', ' ')} ${description}`, (word) => !common.has(word)),
);

function valueIn(
  parameter: Parameter,
  slots: Readonly<Record<string, string>> | null,
  spoken: readonly Utterance[],
  at: number,
  values: KnownValues,
  named: readonly string[],
): string | null {
  const text = spoken[at]?.content ?? '';
  const slot = slots?.[parameter.name];
  if (slot !== undefined) return values.named(parameter, slot)[0] ?? slot;
  const here = values.named(parameter, text);
  if (here.length > 0) return here.at(-1) ?? null;
  const before = spoken.slice(0, at).reverse();
  for (const { role, content } of before) {
    const named = role === 'user' ? values.named(parameter, content) : [];
    if (named.length > 0) return named.at(-1) ?? null;
  }
  if (parameter.choices || parameter.type !== 'string' || !values.isFree(parameter)) return null;
  // What the database does not know is what the agent says again of the user's words, beside what it names otherwise.
  const rest = named.reduce((left, value) => left.replaceAll(value, '|'), text);
  const pieces = rest.split('|');
  const runs = before.flatMap(({ role, content }) =>
    role === 'user' ? pieces.flatMap((piece) => repeatedRun(content, piece) ?? []) : [],
  );
  return runs.filter((run) => /\d/.test(run)).sort((one, other) => other.length - one.length)[0] ?? null;
}
