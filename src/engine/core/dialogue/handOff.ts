/** Words for the person who takes over: "a colleague", "the billing team". */
const person =
  '(?:human|human being|person|real person|agent|colleague|co-?worker|specialist|representative|rep|supervisor|manager|advis[eo]r|expert|operator|staff member|team member|member of (?:our|the|my) (?:\\w+ )?(?:team|staff)|team|department|desk|someone|somebody)s?';
const whose = '(?:(?:a|an|one of (?:our|my|the)|our|my|the|another|some) )?';
/** Words for what is handed over: "you", "your case". */
const you =
  '(?:you|this|your (?:call|case|chat|request|conversation|claim|issue|file|matter|enquiry|inquiry)|the (?:case|chat|matter|conversation|claim|issue))';

/** Wordings of a handover: "I'll transfer you to a colleague", "A specialist will contact you". */
const handing: readonly RegExp[] = [
  new RegExp(
    `\\b(?:transferr?|redirect|rout|reroute?|refer|forward|connect|escalat|switch)(?:e|ing|ed|r?ing|r?ed)? ${you}(?: over| on| through| up| directly| straight| now| along| across)*(?: to| with|$| now| right)`,
  ),
  /\b(?:transferr?ing|connecting|escalat(?:e|ing|ed)|transferred)\b(?= (?:you|it|this|now|to|with|your|the (?:case|chat|call|matter))|$)/,
  /\b(?:you|your (?:call|case|chat|request|conversation|claim)) (?:are|is|will be|have been|has been|get)(?: now| being| also)* (?:transferred|handed|passed|connected|escalated|forwarded|routed|referred)/,
  new RegExp(
    `\\b(?:hand|handing|handed|pass|passing|passed|put|putting|turn|turning|send|sending)(?: \\w+)? (?:${you}|it)(?: \\w+)? (?:over|on|through|along|across|up)\\b`,
  ),
  /\bput(?:ting)? you in (?:touch|contact) with\b/,
  new RegExp(
    `\\b(?:be|being|been|get|getting|is|are) (?:now |also )?(?:put through|handed|passed|taken over|taken care of|connected|contacted|called(?: back)?|looked after|handled|dealt with|helped|assisted)(?: over| on| from here| now| shortly| soon)* (?:to|by|with) ${whose}(?:[\\w-]+ ){0,2}?${person}\\b`,
  ),
  new RegExp(
    `\\b${whose}(?:[\\w-]+ ){0,2}?${person}(?: [\\w-]+){0,6}? (?:will|can|is going to|shall|is about to)(?: now| then| soon| shortly| also| be able to)* (?:take|help|assist|contact|call|get|reach|join|handle|continue|look|email|follow|pick|deal|attend|be (?:with|in)|carry|respond|come)\\b`,
  ),
  /\b(?:she|he|they|someone|somebody) will (?:take (?:over|it from|this from)|be with you|get back to you|join (?:this|the|us)|contact you|call you)/,
  /\btak(?:e|es|ing) (?:this |it |things )?over(?: from (?:here|me))?\b|\btak(?:e|es|ing) (?:it|this|things) from here\b/,
  /\b(?:get|getting|call|calling|fetch|fetching|bring|bringing|loop|looping|pull|pulling|involv(?:e|ing))(?: in)? (?:you )?(?:a|an|my|our|the|another|one of \w+) (?:[\w-]+ )?(?:human|colleagues?|specialists?|representative|supervisor|manager|real person|person|advis[eo]r|expert)\b/,
  new RegExp(
    `\\byou (?:will|are going to|can now|are about to) (?:now |shortly |soon )*(?:be )?(?:speak|speaking|talk|talking|chat|chatting) (?:to|with) ${whose}(?:[\\w-]+ )?${person}`,
  ),
];
/** Matches a sentence that denies a handover: "I cannot transfer you". */
const denied =
  /\b(?:cannot|not able to|unable to|will not|no need to|not necessary to|without|not allowed to|do not need to)\b[^,;]*\b(?:transfer|escalat|hand|connect|forward|pass|put|refer|rout|get|bring)/;
/** Matches a sentence that only offers a handover: "I can connect you to a colleague if you like". */
const offered =
  /\b(?:if you (?:like|want|prefer|wish|would)|(?:can|could|may|might) (?:also |always |then )*(?:transfer|connect|hand|pass|put|escalate|forward|refer) )/;
/** Matches a sentence that transfers something other than the conversation: "The refund was transferred". */
const otherThings =
  /\b(?:money|refund|amount|funds|payment|parcel|package)\b[^,;]*\b(?:transferred|forwarded|handed|passed|redirected|routed)\b/;

/** Reports whether a sentence says that a person takes over, or is about to: "I'll transfer you to a colleague." */
export function handsOver(text: string): boolean {
  return (
    handing.some((pattern) => pattern.test(text)) &&
    !denied.test(text) &&
    !offered.test(text) &&
    !otherThings.test(text)
  );
}
