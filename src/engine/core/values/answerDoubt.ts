import { type JsonObject, jsonOf } from './json.ts';
import { objectSpans, type Span } from './jsonInText.ts';

/** The most characters and words of a remark after an answer, such as "Let me know if you need more.". */
const longestRemark = 300;
const mostWords = 12;
/** The characters before an answer in which the sentence that introduces it is looked for. */
const longestLead = 400;

/** Replaces an object in the words before an answer. */
const objectMark = '\ufffc';

/** The beginning of an object, also in the notation of JavaScript or Python. */
const opening = /\{\s*(?:["'`\u201c\u2018]|[\w$-]+\s*[:=])/y;

/** Characters around an answer that do not change it: fences, tags, brackets, quotes and marks of emphasis. */
const around = String.raw`\s"'\u201c\u201d\u2018\u2019*_()[\]`;
const beforeAnswer = new RegExp(String.raw`(?:\`\`\`\w*|<[\w|]+>|[${around}\`])+$`);
const afterAnswer = new RegExp(String.raw`^(?:</?[\w|]+>|[${around}\`}.!])+`);

/** The end of a sentence, and of words after which an answer comes. */
const sentenceEnd = /(?<!\be\.g)[.!?]$/i;
const colon = /[:>=|\u2192\u2013\u2014-]$/;
const introduction = /\b(?:is|answer|judge?ment|verdict|decision|response|output|json|result|conclusion)$/i;
const negation = /\b(?:no|not|never|cannot|without)\b|n['\u2019]t\b/i;
/** Words that deny or imagine the answer that they introduce. */
const denial =
  /(?:\b(?:not|never|cannot)\b|n['\u2019]t\b)[^,;]*\b(?:think|believe|say|answer|claim|conclude|judge|agree|accept|be|correct|right|true)\b|\b(?:not|never)\W*$|^\W*(?:if|unless|suppose|assuming|had)\b|\b(?:wrong|incorrect|mistaken|example|instead of|rather than|considered|tempted)\b|\be\.g\b/i;

/** Words, in the languages of Europe that models use most, with which a remark may take an answer back. */
const retraction =
  /\b(?:no|not|never|cannot|none|nothing|wait|actually|wrong|incorrect|mistaken?|false|true|yes|held|violated|but|however|although|though|instead|rather|correct(?:ion|ed)?|opposite|contrary|retract|reconsider\w*|reflection|again|thought|ignore|disregard|would|unclear|unsure|sorry|oops|nein|nicht|kein\w*|nie|niemals|falsch|doch|aber|ja|stimmt|non|pas|faux|mais|oui|nunca|pero|falso|errado|mas|sim|niet|geen|maar)\b|n['\u2019]t\b|\bholds?\W*[:=]/i;
const otherScript = /[^\P{L}\p{Script=Latin}]/u;

/**
 * Returns why an object in a model's text may not be its answer, in words that follow "it"; null where it is certain.
 * Words may come before it, and a short remark after it.
 * @param span where the object is: the last one that can be the answer
 * @param keys the fields of answers, by which one that cannot be read is known
 */
export function doubtAbout(text: string, span: Span, keys: readonly string[]): string | null {
  const [from, end] = span;
  const own = text.slice(from, end);
  const spans = objectSpans(text);
  const before = marked(text.slice(0, from), spans);
  const behind = spans.filter(([start]) => start >= end);
  const after = marked(
    text.slice(end),
    behind.map(([start, last]) => [start - end, last - end]),
  );
  if (repeatsKey(own)) return 'has an object with a field twice';
  // A part of a stream that comes twice.
  if ((before === '' && own.endsWith(after.trim())) || (after === '' && own.startsWith(before.trim()))) return null;
  if (isInObject(before) || (before.includes('{') && hasKey(before.slice(before.indexOf('{')), keys)))
    return 'has an object that cannot be read';
  if (hasOpening(after)) return 'has an object that cannot be read';
  if (after.includes(objectMark)) return 'has another object after its answer';
  if (isDenied(before)) return 'has its object in a sentence that may deny it';
  return isTakenBack(after) ? 'says more after its object, which may take it back' : null;
}

/** Whether a text has a field of an answer that decides something. Values such as "true or false" only describe one. */
export function hasKey(text: string, keys: readonly string[]): boolean {
  const names = keys.join('|');
  const field = new RegExp(
    String.raw`(?:["'\u201c\u2018\`](?:${names})\\*["'\u201d\u2019\`]|[{,]\s*(?:${names}))\s*[:=](?!\s*(?:true\s*(?:or|/|\|)\s*false|bool|\.{3}|\u2026|<))`,
    'i',
  );
  return field.test(text);
}

/** A text in which each of the objects is replaced by a mark. */
function marked(text: string, spans: readonly Span[]): string {
  const own = spans.filter(([, end]) => end <= text.length);
  const ends = [0, ...own.map(([, end]) => end)];
  return ends.map((end, at) => text.slice(end, own[at]?.[0])).join(objectMark);
}

const hasOpening = (text: string) => [...text.matchAll(/\{/g)].some(({ index }) => isOpening(text, index));

function isOpening(text: string, at: number): boolean {
  opening.lastIndex = at;
  return opening.test(text);
}

/** Whether a text ends within an object. */
function isInObject(text: string): boolean {
  const open: number[] = [];
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) brace === '{' ? open.push(index) : open.pop();
  return open.some((index) => isOpening(text, index));
}

/** Whether an object has a field more than once: `JSON.parse` takes the last one. */
function repeatsKey(written: string): boolean {
  const fields = (text: string) => text.match(/"\s*:/g)?.length ?? 0;
  return fields(written) > fields(JSON.stringify(jsonOf(written) as JsonObject));
}

function isDenied(before: string): boolean {
  const words = before.slice(-longestLead).replace(beforeAnswer, '');
  const clause = words.split(/(?<=[.!?])\s+|\n/).at(-1) ?? '';
  if (clause === '' || clause.endsWith(objectMark) || sentenceEnd.test(clause)) return false;
  if (denial.test(clause)) return true;
  const isOnOwnLine = /\n/.test(before.slice(before.lastIndexOf(clause) + clause.length));
  if (isOnOwnLine || colon.test(clause)) return false;
  return !introduction.test(clause) || negation.test(clause);
}

function isTakenBack(after: string): boolean {
  const words = after.trim();
  if (words.length > longestRemark) return true;
  const [closing = ''] = afterAnswer.exec(after) ?? [];
  const remark = after.slice(closing.length).trim();
  if (remark === '') return false;
  const isSameSentence = !/[.!\n>`]/.test(closing) && /^\p{Ll}/u.test(remark);
  if (isSameSentence || /^[,;:?=\u2026]/.test(remark)) return true;
  return remark.split(/\s+/).length > mostWords || otherScript.test(remark) || retraction.test(remark);
}
