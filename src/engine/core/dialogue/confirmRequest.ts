import { patterns } from './patterns.ts';

const { confirmSubject, confirmStatement, confirmDeeds, ownConfirmation, userConfirms, factToConfirm } =
  patterns.confirmRequest;

const confirmVerb = /\b(?:confirm|verify)\b/;
/**
 * Reports whether a sentence asks the user to confirm what the agent is about to do: "Please confirm." It does not if
 * it asks for a fact without naming its value: "Please confirm your postcode."
 */
export function isConfirmRequest(whole: string, question: boolean): boolean {
  const text = whole.replace(/^(?:.*\b)?to (?:confirm|verify) (?:your|who) [^,:]*, ?/, '').replace(ownConfirmation, '');
  if (!confirmVerb.test(text)) return false;
  if (confirmStatement.test(text) && !/\byou\b.*\b(?:confirm|verify)\b/.test(text))
    return /^(?:\w+ )?(?:just )?(?:i )?.*\b(?:confirm|verify)[,:]/.test(text) && question;
  if (!confirmSubject.test(text)) return false;
  if (/\bto (?:confirm|verify)\b[,:]?/.test(text) && !userConfirms.test(text)) return question;
  if (confirmDeeds.test(text)) return true;
  const object = text.replace(/^.*\b(?:confirm|verify)\b/, '');
  if (factToConfirm.test(object)) return /[:"]|\bis\b .*\w|\d/.test(object) && /\b(?:is|are|as)\b|:/.test(object);
  return true;
}
