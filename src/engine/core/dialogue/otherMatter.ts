import { clausesOf, plain, type Sentence, sentencesOf } from '../text/text.ts';
import { marksChange } from './change.ts';
import { patterns } from './patterns.ts';

const { otherThing, beside, nextMatter } = patterns.otherMatter;

/** Matches a name with letters and digits, such as the number of an order: "w1163". */
const code = /\b(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{4,}\b/g;
/** Matches an idiom that must not count as a change. */
const idioms = /\bwhile (?:you are|we are) at it\b/g;

/**
 * Returns an answer without the parts that follow its start and are about another thing than the proposal: "Yes. And
 * please take back the stove of W1163 as well." An answer that names another thing instead is kept: "No, W1163."
 */
export function withoutOtherMatters(proposal: string, answer: string): string {
  const known = new Set(plain(proposal).match(code));
  const isOther = (text: string) => {
    const named = text.match(code) ?? [];
    return named.length > 0 ? named.every((each) => !known.has(each)) : otherThing.test(text);
  };
  const isBeside = ({ text, question }: Sentence) =>
    isOther(text) && (question || beside.test(text)) && !marksChange(text.replace(idioms, ''), false);
  const sentences = sentencesOf(plain(answer));
  if (!sentences.some(({ text }, at) => isOther(text) || (at > 0 && nextMatter.test(text)))) return answer;
  const kept = sentences.map((sentence, at) => {
    if (at > 0 && (isBeside(sentence) || nextMatter.test(sentence.text))) return '';
    const clauses = clausesOf(sentence.text);
    const own = clauses.filter((text, index) => index === 0 || !isBeside({ text, question: false }));
    const text = own.length === clauses.length ? sentence.text : own.join(', ');
    return `${text}${sentence.question ? '?' : '.'}`;
  });
  return kept.filter((text) => text !== '').join(' ');
}
