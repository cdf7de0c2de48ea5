import type { Recogniser } from '../../engine/core/dialogue/dialogue.ts';
import { asks, asksMore, leavesThing, takesBack } from '../../engine/core/dialogue/withdrawal.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import type { Utterance } from '../../engine/core/events/message.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { toolOf } from './intents.ts';
import { stemsOf } from './vocabulary.ts';
import { partsOf } from './withdrawal.ts';

/** A write, or a hand-over, of a draft, at the step of the conversation where it was proposed or made. */
export type PlacedDeed = { readonly tool: string; readonly step: number };

/**
 * Returns the requests, and the words that take one back, that no deed of a draft follows, each in a sentence. Such a
 * draft is about another conversation.
 * @param kept what the draft has of the user's words beside the first request
 */
export function lostRequests(
  spoken: readonly Utterance[],
  deeds: readonly PlacedDeed[],
  kept: { readonly change: string | null; readonly insist: string | null },
  { domain, recogniser }: { readonly domain: Domain; readonly recogniser: Recogniser },
): readonly string[] {
  const first = spoken.findIndex(({ role }) => role === 'user');
  const later = spoken.flatMap((said, at) => {
    const { role, step, content } = said;
    if (role !== 'user' || at <= first || content === kept.change || content === kept.insist) return [];
    const before = spoken[at - 1];
    const acts = before?.role === 'agent' ? recogniser.agent(before.content) : null;
    // A user who insists may use other words each time.
    if (acts?.refuses && kept.insist !== null) return [];
    const later = deeds.filter((deed) => deed.step > step);
    const done = deeds.filter((deed) => !later.includes(deed));
    const isDone = done.length > 0;
    // A yes to a proposal can also take back what was done before it.
    const agreed = acts?.proposes ? later[0] : undefined;
    const isTakenBack = acts?.proposes
      ? agreed !== undefined &&
        leavesDeed(
          content,
          done.filter(({ tool }) => tool !== agreed.tool),
        )
      : takesBack.test(content) || leavesDeed(content, deeds);
    if (isDone && isTakenBack && !acts?.refuses)
      return later.some((deed) => deed !== agreed)
        ? []
        : [`nothing in the actions takes back what the user no longer wants: "${excerpt(content)}"`];
    const { closes, confirms } = recogniser.user(content);
    const isAnswer = closes || confirms || (acts !== null && (acts.asks.length > 0 || acts.proposes || acts.asksOther));
    if (!(asksMore.test(content) || (asks.test(content) && !isAnswer))) return [];
    const tool = toolOf(content, domain);
    const isLost = tool !== null && (isDone || acts?.refuses) && !later.some((deed) => deed.tool === tool);
    return isLost ? [`nothing in the actions answers what the user asks for later: "${excerpt(content)}"`] : [];
  });
  const isRefused = spoken.some(({ role, content }) => {
    if (role !== 'agent') return false;
    const { refuses, handsOff } = recogniser.agent(content);
    return refuses || handsOff;
  });
  const isExplained = isRefused || deeds.length === 0 || kept.change !== null || kept.insist !== null;
  const unanswered = isExplained ? [] : unansweredIn(spoken[first]?.content ?? '', deeds, domain);
  return [
    ...unanswered.map((text) => `nothing in the actions answers what the user asks for: "${excerpt(text)}"`),
    ...later,
  ];
}

/** Whether a part of a message says to leave what a deed was about, by a word of its tool's name. */
function leavesDeed(content: string, deeds: readonly PlacedDeed[]): boolean {
  const things = deeds.flatMap(({ tool }) => stemsOf(tool.replaceAll('_', ' ')).slice(1));
  return partsOf(content).some((part) => leavesThing.test(part) && stemsOf(part).some((word) => things.includes(word)));
}

/** The parts of the first message that ask for a write by the first word of its name, although the draft does not have it. */
function unansweredIn(opening: string, deeds: readonly PlacedDeed[], domain: Domain): readonly string[] {
  const isRequest = asks.test(opening);
  return partsOf(opening).filter((clause) => {
    const tool = toolOf(clause, domain);
    if (tool === null || deeds.some((deed) => deed.tool === tool)) return false;
    const [verb = ''] = stemsOf(tool.replaceAll('_', ' '));
    const verbAt = stemsOf(clause).indexOf(verb);
    return verbAt === 0 || (verbAt > 0 && isRequest && asks.test(clause));
  });
}
