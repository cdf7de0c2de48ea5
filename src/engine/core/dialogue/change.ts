import { afterNo, opensWithNo } from './refusal.ts';

/** Wordings that ask for something other than the proposal: "oak instead", "I meant the blue one", "make it two". */
const markers: readonly RegExp[] = [
  /\b(?:instead|rather than|in place of|in lieu of|as opposed to|in preference to)\b(?! of (?:waiting|arguing))/,
  /\b(?:on second thoughts?|(?<!\b(?:can|could|may|might|if|should|when|once) i (?:still |ever |later )?)(?:have )?changed? my mind|scratch that|correction|change of plans?|i take (?:it|that) back)\b/,
  /(?<!what |which |as |how )\bi (?:meant|mean)\b(?! (?:it|that|this|yes|no|well|what)\b)/,
  /\bi (?:would )?prefer\b(?! (?:not|that you|you|if|to (?:wait|keep))\b)|\bi would rather (?!not|you|wait|think|keep)/,
  /\bmake (?:it|that|them) (?!so\b|quick|fast|happen|right|clear)/,
  /\b(?:change|switch|swap|move) (?:it|that|this|them) (?:to|for|over)\b|\bswitch (?:to|over)\b/,
  /\blet us (?:make|change|switch|go with|go for|use|take|do|have|try|say) (?!it\b|that\b|this\b)/,
  /\brather (?:have|use|do|go|get|take)\b|\bdifferent (?:one|colou?r|size|day|date|address|item|card)\b.*\bplease|^(?:\w+ ){0,3}another one\b|\b(?:want|like|need|take|give|send|prefer|have|rather)\b[\w ]{0,20} another one\b/,
  /\b(?:but )?not (?:the |a |on |in |at |to |for )*[\w-]+(?: \w+)?,? but\b/,
  /\bcan (?:we|you|i) (?:make|change|switch) (?:it|that|this)\b|\bhow about\b|\bwhat about (?:the \w+ one|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow)/,
  /\b(?:it|that|this|the \w+) (?:should|must|has to|needs to|ought to) (?:be|go|come|say|read)\b[^.?!]*[, ](?:and )?not\b/,
  /\b(?:better|rather) (?:on|at|to|in|with|the|make|use|take|send)\b/,
];
/** Matches a text that starts with a yes or an approval: "Yes, but …", "Looks good, only …". */
const yesStart =
  /^(?:(?:oh|well|thanks|thank you|hm+)[ ,.!]*)*(?:yes+|yeah|yep|yup|sure|ok(?:ay)?|right|correct|fine|great|perfect|good|alright|all right|sounds good|almost|nearly|looks good|go ahead|absolutely|definitely|that is (?:fine|right|correct|ok|okay|good))\b/;
/** Matches a "but" that a change follows: "but please use my other card". */
const butDeed =
  /\b(?:but|however|except|only|just)\b.*\b(?:change|use|make|want|need|with|to|instead|different|other|can you|could you|please|send|should|add|remove|keep|it is|not|put|leave|bring|deliver|take|in|on|for|at|ship|exclude|include|without|needs|must)\b/;
/** Words between a "but" and its verb that make it a thought and not a change: "but I hope it comes on Monday". */
const notReally =
  /\b(?:think|thought|check|ask|sleep on|look at|see|know|wonder|question|worried|hope|sure|wait|remember|quick|fast|soon|last time|let me|talk|speak|wondering|nervous|understand)\b/;
/** Matches a word of correction that an order follows: "actually, send it to Bonn", "wait, use the blue one". */
const actuallyDeed =
  /(?:\b(?:actually|wait|hold on|never ?mind|sorry|oh)\b[ ,.!-]+|\bno ?[,.!-]+ ?|^no )(?:no[ ,.]+)?(?:i (?:want|need|would like|would|meant)|can|could|make|change|use|send|bring|take|put|deliver|cancel|return|add|let us|please (?!wait|do not|stop|leave|hold|continue|go)|the|my|it (?:is|should)|do (?!not|it|that|this|so|you|we|i)\w)\b/;
/** Matches what follows a no and names something else: "(no,) the blue one", "(no,) use my card". */
const afterNoDeed =
  /^(?!\w+ nothing\b)(?:i (?:want|need|would like|said|asked|mean|meant)\b(?! (?:to )?(?:keep|stay|leave|wait|think|no|that|not|it to stay))|it (?:is|should|has|needs)|that (?:should|has to)|use|the\b|my\b|please (?!do not|stop|leave|keep|wait|hold)|send|to\b|take|only\b|just (?!leave|keep|stop|forget)|bring|deliver|put|change|cancel|return|exchange|ship|on\b|in\b|at\b|for\b|both\b|all\b|give)/;
/** Matches an order that keeps one thing and changes another: "keep the lamp and return the chair". */
const keptX = /\b(?:keep|leave) [\w ]+ and (?:cancel|return|send|change|exchange|use|remove)\b/;
/** Matches an order with a contrast at its end: "send the lamp, not the chair". */
const contrast =
  /^(?:please |just |actually )*(?:i (?:want|need|would like)|use|send|bring|take|put|deliver|make|ship|book|cancel|return|exchange|refund|give|change)\b[^,]*, (?:and )?not (?:the|my|to|on|in|at|just|for|with|a|[a-z]+(?: [a-z]+)?$)/;
/** Matches words of a condition. A conditional order is not a change: "but send it only if it is free". */
const condition = /\b(?:if|unless|as long as|provided|assuming|once|until)\b/;

/** Matches the order after a yes that repeats the proposal and changes nothing: "Yes, please move it to Tuesday." */
const echo =
  /((?:^|[.!] )(?:oh |ok |okay |perfect |great |thanks |thank you )*(?:yes+|yeah|yep|yup|sure|absolutely|definitely|correct|go ahead|of course)[ ,.!-]+(?:(?:please|you can|go ahead and|just|thanks|thank you|do)[ ,.!]+)*)(?:change|switch|swap|move) (?:it|that|this|them) (?=to|for|over)/g;

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
