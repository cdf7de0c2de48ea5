const confirmVerb = /\b(?:confirm|verify)\b/;
/** Matches a request to confirm: "Please confirm", "Could you verify". */
const confirmSubject =
  /(?:^|[,:-] ?|\b(?:please|kindly|just|you|to|and|then|also|should|would|could|can|do|if|once|when|after|unless|until)\b )(?:please |kindly |just |also |first |now )*(?:confirm|verify)\b/;
/** Matches a sentence in which the agent itself confirms: "I can confirm that it was sent". */
const confirmStatement =
  /\b(?:i|we) (?:can |hereby |will |would like to |want to |have to |must |need to |could |did |do )?(?:also |now |first |just )?(?:confirm|verify)\b/;
/** Matches a request to confirm something that the agent will do: "Confirm your cancellation". */
const confirmDeeds =
  /\b(?:confirm|verify) your (?:[\w-]+ )?(?:request|cancellation|changes?|choice|wish|decision|intention|return|refund|exchange|booking|selection|agreement|consent|approval|purchase|update|redirection|redirect|order to|order:)\b/;

/**
 * Reports whether a sentence asks the user to confirm what the agent is about to do: "Please confirm." It does not if
 * it asks for a fact without naming its value: "Please confirm your postcode."
 */
export function isConfirmRequest(whole: string, question: boolean): boolean {
  const text = whole
    .replace(/^(?:.*\b)?to (?:confirm|verify) (?:your|who) [^,:]*, ?/, '')
    .replace(
      /\b(?:so|so that|before|once|and|then) (?:i|we) (?:can|could|will|may|am able to|are able to)?(?: then| also)? ?(?:confirm|verify)\b.*$/,
      '',
    );
  if (!confirmVerb.test(text)) return false;
  if (confirmStatement.test(text) && !/\byou\b.*\b(?:confirm|verify)\b/.test(text))
    return /^(?:\w+ )?(?:just )?(?:i )?.*\b(?:confirm|verify)[,:]/.test(text) && question;
  if (!confirmSubject.test(text)) return false;
  if (
    /\bto (?:confirm|verify)\b[,:]?/.test(text) &&
    !/\b(?:you|your|please|need)\b.*\bto (?:confirm|verify)\b|\b(?:yes|reply|respond|say|answer)\b/.test(text)
  )
    return question;
  if (confirmDeeds.test(text)) return true;
  const object = text.replace(/^.*\b(?:confirm|verify)\b/, '');
  if (
    /^ (?:me |us )?(?:with (?:me|us) )?(?:your|the (?!following|change|details|above|cancel|order (?:to|is)|return|exchange|refund|request|new|update|redirect)|what|which|who|where|when)/.test(
      object,
    )
  )
    return /[:"]|\bis\b .*\w|\d/.test(object) && /\b(?:is|are|as)\b|:/.test(object);
  return true;
}
