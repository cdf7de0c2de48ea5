import type { Lexicon } from '../dialogue/lexicon.ts';
import { requiredIn, type Tool } from '../domain/tool.ts';
import { literal } from '../text/literal.ts';
import { saysInOrder } from '../text/phrase.ts';
import { clausesOf, plain, sentencesOf, wordsOf } from '../text/text.ts';
import { containsWords, namesValue } from '../text/value.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { memo } from '../values/memo.ts';

/** A call of one of the user's tools that the agent asks for. */
export type Instruction = { readonly tool: string; readonly arguments: JsonObject };

type Parameter = { readonly type?: string; readonly enum?: readonly Json[] };

/** Clauses about what the agent does itself, of what was done, of what is not to be done, or of a condition. */
const noInstruction =
  /^(?:(?:so|then|now|next|first|ok|okay|and|great|thanks?|thank you|good|perfect|alright|also|just|but)\b,? )*(?:i|we|shall|should|may|might|can i|could i|let me|did you|have you|had you|would you (?:like|want|prefer|mind if)|do you (?:want|wish|need|prefer)|want me|is it (?:ok|okay|fine)|do not|never|no need|there is no need|if (?!you (?:could|would|can|will)\b)|you (?:have|did|do not|need not|should not|must not|already))\b/;

const recognisers = new WeakMap<readonly Tool[], (text: string) => readonly Instruction[]>();

/**
 * Returns what an utterance of the agent asks the user to do with the user's own tools, in the order of the text. By
 * the sentences of the lexicon, its synonyms, and the words of the tools' names; a tool whose arguments the text does
 * not name is not asked for.
 */
export function instructionsIn(
  text: string,
  { tools, lexicon }: { readonly tools: readonly Tool[]; readonly lexicon: Lexicon },
): readonly Instruction[] {
  const known = recognisers.get(tools) ?? memo((said: string) => recognise(said, tools, lexicon), 200);
  recognisers.set(tools, known);
  return known(text);
}

function recognise(text: string, tools: readonly Tool[], lexicon: Lexicon): readonly Instruction[] {
  const own = tools.filter(({ owner }) => owner === 'user');
  if (own.length === 0) return [];
  const whole = own.flatMap((tool) => byTemplate(text, tool, lexicon));
  if (whole.length > 0) return whole.toSorted((one, other) => one.at - other.at).map(({ at: _, ...rest }) => rest);
  const found = sentencesOf(plain(text)).flatMap(({ text: sentence }) =>
    noInstruction.test(sentence) ? [] : inSentence(sentence, own, lexicon),
  );
  return found.filter(({ tool }, at) => found.findIndex((each) => each.tool === tool) === at);
}

/** A sentence of the lexicon is in the text as it is, with values in its slots. */
function byTemplate(text: string, tool: Tool, lexicon: Lexicon): readonly (Instruction & { readonly at: number })[] {
  for (const template of lexicon.tools[tool.name]?.instruct ?? []) {
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const pattern = template
      .split(/\{\w+\}/)
      .map(literal)
      .join('(.+?)');
    const match = new RegExp(`${pattern}(?=\\s|$)`, 'i').exec(text);
    if (!match) continue;
    const values = names.map((name, at) => [name, valueIn(match[at + 1] ?? '', parametersOf(tool)[name] ?? {})]);
    if (values.some(([, value]) => value === undefined)) continue;
    return [{ tool: tool.name, arguments: Object.fromEntries(values) as JsonObject, at: match.index }];
  }
  return [];
}

/** The tools that a sentence asks for; of two that mean the same words, the one with more of them. */
function inSentence(sentence: string, own: readonly Tool[], lexicon: Lexicon): readonly Instruction[] {
  const clauses = clausesOf(sentence).filter((clause) => !noInstruction.test(clause));
  const text = clauses.join(', ');
  const ranked = own
    .map((tool) => ({ tool, length: longestPhrase(text, tool, lexicon) }))
    .filter(({ length }) => length > 0)
    .toSorted((one, other) => other.length - one.length);
  return ranked
    .filter(({ length }) => length === ranked[0]?.length)
    .flatMap(({ tool }) => {
      const values = argumentsIn(text, tool);
      return values ? [{ tool: tool.name, arguments: values }] : [];
    });
}

/** Words of the longest phrase for a tool that the text has; 0 for none. */
function longestPhrase(text: string, { name }: Tool, lexicon: Lexicon): number {
  const phrases = [name.replaceAll('_', ' '), ...(lexicon.tools[name]?.synonyms ?? [])];
  const said = wordsOf(text);
  return Math.max(
    0,
    ...phrases
      .filter((phrase) => containsWords(said, wordsOf(phrase)) || saysInOrder(text, phrase))
      .map((phrase) => wordsOf(phrase).length),
  );
}

/** The arguments that a text names, or null when it leaves out one that is required. */
function argumentsIn(text: string, tool: Tool): JsonObject | null {
  const required = requiredIn(tool.parameters);
  const found = Object.entries(parametersOf(tool)).map(([name, schema]) => [name, valueIn(text, schema)] as const);
  if (found.some(([name, value]) => value === undefined && required.includes(name))) return null;
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as JsonObject;
}

/** The value of a parameter that a text names. A text itself has to be in quotes. */
function valueIn(text: string, { type, enum: options }: Parameter): Json | undefined {
  if (options) {
    const named = options.filter((option) => namesValue(text, String(option)));
    return named.toSorted((one, other) => String(other).length - String(one).length)[0];
  }
  if (type === 'boolean') {
    if (/\b(?:off|disable[d]?|no|false)\b/i.test(text)) return false;
    return /\b(?:on|enable[d]?|yes|true)\b/i.test(text) ? true : undefined;
  }
  if (type === 'number' || type === 'integer') {
    const [number] = /-?\d+(?:\.\d+)?/.exec(text) ?? [];
    return number === undefined ? undefined : Number(number);
  }
  if (type !== 'string') return undefined;
  const [, quoted] = /["\u201c]([^"\u201d]+)["\u201d]/.exec(text) ?? [];
  return quoted ?? (/^\S+$/.test(text) ? text : undefined);
}

function parametersOf({ parameters }: Tool): Readonly<Record<string, Parameter>> {
  return (parameters['properties'] ?? {}) as Readonly<Record<string, Parameter>>;
}
