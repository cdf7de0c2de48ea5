import type { Recogniser } from '../../engine/core/dialogue/dialogue.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import type { Utterance } from '../../engine/core/events/message.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { toolOf } from './intents.ts';

/** A write, or a hand-over, of a draft, at the step of the conversation where it was proposed or made. */
export type PlacedDeed = { readonly tool: string; readonly step: number };

const takesBack =
  /\b(?:forget (?:it|that|about|the)|never ?mind|scrap that|undo|take (?:it|that) back|leave (?:it|that) (?:be|as it is)|(?:cancel|stop) (?:it|that|this|again)|don['’]?t (?:want|need) (?:it|that|the \w+) any ?more|no longer (?:want|need)|changed my mind)\b/i;
const asksMore = /\b(?:also|as well|too|another|besides|in addition|one more thing|while (?:you are|we are) at it)\b/i;
const asks =
  /\b(?:please|(?:can|could|would|will) (?:you|we|i)|may i|i(?:['’]d| would) like|i (?:want|need)|let['’]?s|how about)\b/i;

/**
 * Returns the requests after the first one, and the words that take one back, that no deed of a draft follows, each in a
 * sentence. Such a draft is about another conversation.
 * @param kept what the draft has of the user's words beside the first request
 */
export function lostRequests(
  spoken: readonly Utterance[],
  deeds: readonly PlacedDeed[],
  kept: { readonly change: string | null; readonly insist: string | null },
  { domain, recogniser }: { readonly domain: Domain; readonly recogniser: Recogniser },
): readonly string[] {
  const first = spoken.findIndex(({ role }) => role === 'user');
  return spoken.flatMap((said, at) => {
    const { role, step, content } = said;
    if (role !== 'user' || at <= first || content === kept.change || content === kept.insist) return [];
    const before = spoken[at - 1];
    const acts = before?.role === 'agent' ? recogniser.agent(before.content) : null;
    // A user who insists may use other words each time.
    if (acts?.refuses && kept.insist !== null) return [];
    const later = deeds.filter((deed) => deed.step > step);
    const isDone = later.length < deeds.length;
    if (isDone && takesBack.test(content) && !acts?.refuses && !acts?.proposes)
      return later.length > 0
        ? []
        : [`nothing in the actions takes back what the user no longer wants: "${excerpt(content)}"`];
    const { closes, confirms } = recogniser.user(content);
    const isAnswer = closes || confirms || (acts !== null && (acts.asks.length > 0 || acts.proposes || acts.asksOther));
    if (!(asksMore.test(content) || (asks.test(content) && !isAnswer))) return [];
    const tool = toolOf(content, domain);
    const isLost = tool !== null && (isDone || acts?.refuses) && !later.some((deed) => deed.tool === tool);
    return isLost ? [`nothing in the actions answers what the user asks for later: "${excerpt(content)}"`] : [];
  });
}
