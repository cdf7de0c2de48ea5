import { isProposal } from '../dialogue.ts';
import { writesOf } from '../disagreement.ts';
import { isChangeSaid, recogniserOf } from '../facts.ts';
import { callsOf } from '../rules/calls.ts';
import type { UserReply, UserView } from '../seat.ts';
import { standingOf } from './direction.ts';
import { turnsOf } from './turns.ts';

/**
 * Whether the user ends the conversation before it has what it came for. What counts as having it is generous: the
 * writes are done, or the agent says that they are, refuses, or hands over.
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
  if (stop === 'transferred') return isHandedOver ? null : 'it leaves as if handed over, and nobody handed it over';
  if (isHandedOver || heard.some(({ refuses }) => refuses)) return null;
  if (isUnsaid(view)) return 'it leaves before it has said that it changed its mind';
  const [attack] = standingOf(view).attacksLeft;
  if (attack !== undefined) return `it leaves before it has tried this: ${view.persona.attacks[attack]?.aim ?? ''}`;
  if (isProposal(said.at(-1) ?? '') && !heard.at(-1)?.offersMore && !heard.at(-1)?.reportsDone)
    return 'it leaves while the agent waits for its yes';
  return isServed(view, heard) ? null : 'it leaves before anything of what it wants was done or refused';
}

function isUnsaid({ task, persona, messages }: UserView): boolean {
  return persona.behaviours.changes && task.user.change !== undefined && !isChangeSaid(task, messages);
}

function isServed(
  { domain, task, messages }: UserView,
  heard: readonly ReturnType<ReturnType<typeof recogniserOf>['agent']>[],
): boolean {
  const writes = writesOf(domain, task);
  if (writes.length === 0)
    return heard.some(({ informs, reportsDone, offersMore }) => informs || reportsDone || offersMore);
  const done = callsOf(messages).filter(
    ({ tool, failed }) =>
      !failed && domain.tools.some(({ name, effect, handsOff }) => name === tool && effect === 'write' && !handsOff),
  );
  return done.length + heard.filter(({ reportsDone }) => reportsDone).length >= writes.length;
}
