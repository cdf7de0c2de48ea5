import { lists, patterns } from './patterns.ts';

const { noStart, ignorance } = patterns.refusal;
const { denials } = lists.refusal;

/** Reports whether a clause of a user says no: "no thanks", "leave it as it is". */
export function isDenial(clause: string): boolean {
  if (ignorance.test(clause) && !/^no[,.!]/.test(clause)) return false;
  return noStart.test(clause) || denials.some((pattern) => pattern.test(clause));
}

/** Reports whether a text opens with a no: "No, the blue one." Beside a request for a change, only such a no counts. */
export function opensWithNo(text: string): boolean {
  return !ignorance.test(text.slice(0, 24)) && noStart.test(text);
}

/** Returns a text without its opening no: "the blue one" for "no, the blue one". */
export function afterNo(text: string): string {
  return text.replace(noStart, '').replace(/^[ ,.!-]+/, '');
}
