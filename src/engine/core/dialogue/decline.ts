import { lists, patterns } from './patterns.ts';

const { notRefusals, harmless } = patterns.decline;
const { refusals } = lists.decline;

/** Reports whether a sentence of an agent says that something will not be done or given: "I can't refund that." */
export function isDeclined(text: string): boolean {
  const rest = text.replace(harmless, ' ');
  return refusals.some((pattern) => pattern.test(rest)) && !notRefusals.test(rest);
}
