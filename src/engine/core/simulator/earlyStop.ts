import { type AgentActs, isProposal } from '../dialogue/dialogue.ts';
import { factsBehind, factsOf, isAnyTold, isChangeSaid, ownFactsOf, recogniserOf } from '../events/facts.ts';
import { writesOf } from '../seats/disagreement.ts';
import type { UserReply, UserView } from '../seats/seat.ts';
import { standingOf } from './direction.ts';
import { turnsOf } from './turns.ts';

/**
 * Whether the user ends the conversation before it has what it came for. It knows nothing but what the agent says, so
 * what counts as having it is generous: everything was spoken of, and the agent waits for nothing; or it refuses, or
 * hands over.
 */
export function earlyStop(view: UserView, { stop }: UserReply): string | null {
  if (stop === null) return null;
  const turns = turnsOf(view.messages);
  const said = turns.flatMap(({ role, content }) => (role === 'agent' ? [content] : []));
  if (turns.every(({ role }) => role === 'agent')) return 'it ends the conversation before it has said anything';
  if (stop === 'outOfScope') return null;
  if (stop === 'gaveUp') {
    const replies = turns.filter(({ role }) => role === 'user').length;
    return replies < view.persona.patience ? 'it gives up before its patience is at an end' : null;
  }
  const heard = said.map((text) => recogniserOf(view.domain, view.task).agent(text));
  const isHandedOver =
    heard.some(({ handsOff }) => handsOff) ||
    /\b(?:transfer\w*|human|colleague|specialist|supervisor|team|person)\b/i.test(said.join(' '));
  if (stop === 'transferred') return isHandedOver ? null : 'it leaves as if handed over, but was not handed over';
  if (isHandedOver || heard.some(({ refuses }) => refuses)) return null;
  if (isUnsaid(view)) return 'it leaves before it has said that it changed its mind';
  const [attack] = standingOf(view).attacksLeft;
  if (attack !== undefined) return `it leaves before it has tried this: ${view.persona.attacks[attack]?.aim ?? ''}`;
  if (isProposal(said.at(-1) ?? '', view.domain.lexicon) && !heard.at(-1)?.offersMore && !heard.at(-1)?.reportsDone)
    return 'it leaves while the agent waits for its yes';
  return isServed(view, said, heard) ? null : 'it leaves before anything of what it wants was done or refused';
}

function isUnsaid({ task, persona, messages }: UserView): boolean {
  return persona.behaviours.changes && task.user.change !== undefined && !isChangeSaid(task, messages);
}

/** By the agent's word: everything was reported done, or the agent waits for nothing more. */
function isServed(view: UserView, said: readonly string[], heard: readonly AgentActs[]): boolean {
  const { domain, task, messages } = view;
  const isReported = heard.some(({ reportsDone }) => reportsDone);
  const isOpen = isWaiting(said.at(-1) ?? '', heard.at(-1));
  const writes = writesOf(domain, task);
  if (writes.length === 0)
    return (
      !isOpen || isReported || heard.some(({ informs }) => informs) || messages.some(({ role }) => role === 'tool')
    );
  if (isOpen && !isReported) return false;
  const facts = factsOf(task, standingOf(view).isChanged);
  const spokenOf = said.filter((_, at) => heard[at]?.reportsDone || heard[at]?.proposes || heard[at]?.informs);
  const owns = ownFactsOf(writes.map((write) => factsBehind(facts, write)));
  return owns.every((own) => own.length === 0 || isAnyTold(spokenOf, own, facts));
}

/** Whether the agent still wants an answer, and more than whether there is anything else. */
function isWaiting(text: string, acts: AgentActs | undefined): boolean {
  if (!acts || acts.offersMore || acts.saysGoodbye) return false;
  return acts.asks.length > 0 || acts.proposes || acts.asksWish || acts.asksOther || acts.waits || /\?\s*$/.test(text);
}
