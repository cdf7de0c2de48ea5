import { lists, patterns } from './patterns.ts';

const { denied, offered, otherThings } = patterns.handOff;
const { handing } = lists.handOff;

/** Reports whether a sentence says that a person takes over, or is about to: "I'll transfer you to a colleague." */
export function handsOver(text: string): boolean {
  return (
    handing.some((pattern) => pattern.test(text)) &&
    !denied.test(text) &&
    !offered.test(text) &&
    !otherThings.test(text)
  );
}
