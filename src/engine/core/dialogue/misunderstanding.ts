import { patterns } from './patterns.ts';

const { misunderstandings } = patterns.misunderstanding;

/** Reports whether a sentence says that its speaker did not understand: "Could you rephrase that?" */
export function isMisunderstanding(text: string): boolean {
  return misunderstandings.test(text);
}
