import { endReasonText, rewardText } from '../../../engine/core/events/displayText.ts';
import { isDemanding, verdictText, verdictWord } from '../../../engine/core/events/event.ts';
import { type Lapse, lapsesOf, lapseText } from '../../../engine/core/events/reportCard.ts';
import type { RolloutState } from '../../../engine/core/events/state.ts';
import { counted } from '../../../engine/core/text/counted.ts';
import { showPath } from '../../../engine/core/values/json.ts';
import { diffDatabases, readView } from '../../../engine/core/world/database.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { reasonInWords, rewardInWords } from '../../../engine/shell/domain/reasonInWords.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { changeText } from './variables.ts';

const shownChanges = 12;

/**
 * Why the reward is what it is, or what speaks against 1 so far: of the last of these steps. The reward is at the end,
 * where a console is scrolled to.
 */
export function explanationOf(steps: readonly Step[], domain: LoadedDomain): string {
  const state = steps.at(-1)?.state;
  if (!state) return 'nothing has happened yet';
  const { verdicts, ruleVerdicts } = state;
  const open = Map.groupBy(
    ruleVerdicts.filter(({ verdict }) => verdict !== 'held'),
    ({ rule, verdict, step }) => `${verdict.padEnd(8)}  rule ${rule} at step ${step}`,
  );
  return [
    ...verdicts.map((verdict) => {
      const { verifier, held, detail, evidence } = verdict;
      if (!isDemanding(verdict)) return `            ${verdictText(verdict)}`;
      return `  ${verdictWord(verdict).padEnd(8)}  ${verifier}: ${detail}${held ? '' : seen(evidence)}`;
    }),
    ...[...open].map(([what, own]) => {
      const reasons = own.map(({ rule, reason, evidence }) => {
        const { text, quote } = reasonInWords(domain, rule, reason);
        return `${text}${quote}${seen(evidence)}`;
      });
      const gated = own.some(({ gate, verdict }) => gate && verdict === 'violated') ? ' (makes the reward 0)' : '';
      return `  ${what}${gated}: ${reasons.join('; ')}`;
    }),
    ...lapsesIn(steps).map((lapse) => `  violated  ${lapseText(lapse)}${seen(lapse.evidence)}`),
    ...heldIn(state),
    ...changesOf(state),
    ...headlineOf(state, domain),
  ].join('\n');
}

/** Returns the lapses on the report card, once the rollout has one. */
export function lapsesIn(steps: readonly Step[]): readonly Lapse[] {
  const event = steps.at(-1)?.event;
  return event?.type === 'rewarded' ? lapsesOf(event.card ?? []) : [];
}

/** Says that every other rule held, or that none was checked. */
export function heldIn({ ruleVerdicts, messages }: RolloutState): readonly string[] {
  if (messages.length === 0) return ['  nothing was played, so no rule was checked'];
  if (ruleVerdicts.length === 0) return ['  no rule was checked'];
  const open = ruleVerdicts.filter(({ verdict }) => verdict !== 'held');
  if (open.length === ruleVerdicts.length || open.some(({ verdict }) => verdict === 'violated')) return [];
  return [`  held      every ${open.length > 0 ? 'other ' : ''}rule that was checked`];
}

/** The reward, or that it is still open, and how the rollout ended or how far it came. */
export function headlineOf(state: RolloutState, domain: LoadedDomain): readonly string[] {
  const { reward, ended, turn, started } = state;
  const end = ended
    ? `${endReasonText(ended.reason)} after ${counted(turn, 'turn')}`
    : `turn ${turn} of at most ${started.turnCap}`;
  const open = ended ? 'it is being decided' : 'the rollout has not ended';
  return [
    reward
      ? `${rewardText(reward.value).toUpperCase()}  ${rewardInWords(domain, reward.reason)}`
      : `no reward yet: ${open}`,
    `  ${end}${ended?.failure ? `: ${ended.failure.message}` : ''}`,
  ];
}

const seen = (evidence: readonly number[]) => (evidence.length > 0 ? ` (see step ${evidence.join(', ')})` : '');

/**
 * Returns what the rollout did to the database since the task's own start. A domain without a database has nothing to
 * say.
 */
export function changesOf({ start, world }: RolloutState): readonly string[] {
  const sides = ['agent', 'user'] as const;
  const changes = sides.flatMap((side) =>
    diffDatabases(start[side], world[side]).map((change) => ({ ...change, side })),
  );
  const hasDatabase = sides.some((side) => Object.keys(readView(world[side])).length > 0);
  if (changes.length === 0) return hasDatabase ? ['  the database is as it was at the start'] : [];
  const shown = changes
    .slice(0, shownChanges)
    .map(
      ({ side, path, before, after }) =>
        `  changed   ${side === 'user' ? 'user: ' : ''}${showPath(path)}  ${changeText(before, after)}`,
    );
  const more = changes.length - shown.length;
  return more > 0 ? [...shown, `  and ${more} more changes`] : shown;
}
