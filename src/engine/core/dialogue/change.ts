import { lists, patterns } from './patterns.ts';
import { afterNo, opensWithNo } from './refusal.ts';

const { yesStart, butDeed, notReally, actuallyDeed, afterNoDeed, keptX, contrast, echo } = patterns.change;
const { markers } = lists.change;

/** Matches words of a condition. A conditional order is not a change: "but send it only if it is free". */
const condition = /\b(?:if|unless|as long as|provided|assuming|once|until)\b/;

/**
 * Reports whether a text asks for something other than the proposal: "Yes, but use my other card."
 * @param isDenied whether the text also says no
 */
export function isChange(text: string, isDenied: boolean): boolean {
  const but = butDeed.exec(text);
  const isBut = yesStart.test(text) && but && !notReally.test(but[0]) && !condition.test(but[0]) && !/\?/.test(text);
  return marksChange(text, isDenied) || (isBut && !isWaived(text)) || false;
}

/** Reports the same as `isChange`, but ignores a "but" after a yes. */
export function marksChange(text: string, isDenied: boolean): boolean {
  if (isWaived(text)) return false;
  const unechoed = text.replace(echo, '$1');
  if (markers.some((pattern) => pattern.test(unechoed))) return true;
  if (contrast.test(text) || keptX.test(text)) return true;
  if (actuallyDeed.test(text) && !condition.test(text) && !opensWithNo(text)) return true;
  return isDenied && opensWithNo(text) && afterNoDeed.test(afterNo(text));
}

/** Reports whether a text declines a replacement: "I don't want another one instead." */
const isWaived = (text: string) =>
  /\bi (?:do not|would not) (?:want|need) .*\binstead\b/.test(text) && !/[,.] /.test(text);
