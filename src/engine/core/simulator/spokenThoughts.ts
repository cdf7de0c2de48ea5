import { plain } from '../dialogue/text.ts';

/**
 * How a model plans its answer aloud. A person speaks to the agent and says "you"; a plan speaks about the agent, about
 * the customer that it plays, or about what its instructions want. Each pattern is read in a text without case.
 */
const plans: readonly RegExp[] = [
  /^\W*(?:thinking|thought|thoughts|reasoning|analysis|internal monologue)(?: process)?\W*:/,
  /\b(?:respond|reply|answer|write|speak|act|continue)(?:ing)? (?:only |just )?(?:as|like) (?:the|a|this) (?:customer|user|client)\b/,
  /\b(?:stay|remain|staying|keep|keeping) in (?:character|role)\b/,
  /^(?:okay|ok|alright|so|hmm|well|now|first)?[,.! ]*the (?:customer|user) (?:i am|i'm|is supposed|should|wants me|needs to respond)\b/,
  /^(?:okay|ok|alright|so|hmm|well|now|first)?[,.! ]*the (?:agent|assistant) (?:is asking|is waiting|just asked|has asked|asks|wants|needs me)\b/,
  /^(?:okay|ok|alright|so|hmm|well|now|first)?[,.! ]*(?:i|we) (?:need to|should|must|have to) (?:now )?(?:respond|reply|answer|act|role-?play|play|output) (?:as|like|in|with|to the (?:agent|assistant))\b/,
  /\b(?:my|the) (?:instructions|prompt|system prompt|scenario) (?:say|says|tell|tells|state|states|require|requires|mention|mentions|forbid|forbids)\b/,
  /\b(?:according to|based on) my (?:instructions|prompt|scenario|persona|role)\b/,
  /\b(?:stop|give-?up|out-of-scope) (?:word|token|marker|keyword|tag|signal)\b/,
  /\b(?:answer|reply|respond|end|finish) (?:the (?:conversation|chat) )?with (?:just |only )?(?:the )?(?:stop\b|alone\b)/,
  /\b(?:end|stop|finish) (?:the|this) (?:role-?play|simulation)\b/,
];

/** A stop word as models write it without its marks, where it is spoken about. */
const namedStop =
  /\b(?:say|saying|answer|reply|respond|output|write|use|send|with)\s+["'“*`]*(?:STOP|TRANSFER|GIVE-UP|OUT-OF-SCOPE)\b/;

/** Returns the words by which a text plans what the user says instead of saying it; null where it does not. */
export function spokenThoughts(content: string): string | null {
  const text = plain(content);
  for (const pattern of plans) {
    const found = pattern.exec(text);
    if (found) return found[0].trim();
  }
  return namedStop.exec(content)?.[0] ?? null;
}
