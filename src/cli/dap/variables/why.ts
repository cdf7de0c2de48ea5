import type { World } from '../../../engine/core/domain/domain.ts';
import { comparisonOf } from '../../../engine/core/domain/fieldComparison.ts';
import type { Task } from '../../../engine/core/domain/task.ts';
import { baseTask } from '../../../engine/core/domain/taskVariant.ts';
import { isDemanding, type Verdict, verdictText, verdictWord } from '../../../engine/core/events/event.ts';
import { callText } from '../../../engine/core/events/message.ts';
import { lapseText } from '../../../engine/core/events/reportCard.ts';
import type { RolloutState } from '../../../engine/core/events/state.ts';
import { failedGoldAction } from '../../../engine/shell/audit/goldReplay.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { reasonInWords, sentenceOf } from '../../../engine/shell/domain/reasonInWords.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { nameOf, stepLocation } from '../rollout/frames.ts';
import { changesOf, heldIn, lapsesIn } from './explanation.ts';
import { type Difference, differencesFrom, standingsAt } from './verdictsSoFar.ts';

const shownDifferences = 12;

/** The inputs of a chain of evidence. */
export type RewardEvidence = {
  readonly domain: LoadedDomain;
  readonly task: Task;
  /** Up to the step that is asked about. */
  readonly steps: readonly Step[];
  /** The world after the gold actions, or why it is not known. */
  readonly gold: World | string;
};

/** A line of the chain, and the place in a file that it is about. */
export type ChainLine = { readonly text: string; readonly at?: { readonly file: string; readonly line: number } };

/**
 * The chain behind the reward: each verdict, the verifier or the rule that reached it, the steps of its evidence with
 * what was said and called there, and where the files say what was demanded.
 */
export function chainOf({ domain, task, steps, gold }: RewardEvidence): readonly ChainLine[] {
  const state = steps.at(-1)?.state;
  if (!state) return [];
  const rules = state.ruleVerdicts.filter(({ verdict }) => verdict !== 'held');
  return [
    ...standingsAt(task, state, gold, comparisonOf(domain.file)).flatMap((standing) =>
      'verdict' in standing
        ? verifierLines(domain, task, steps, state, standing.verdict, gold)
        : [{ text: `  open      ${standing.verifier}: ${standing.undecided}` }],
    ),
    ...rules.flatMap((verdict, at) =>
      ruleLines(domain, steps, verdict, !rules.slice(0, at).some(({ rule }) => rule === verdict.rule)),
    ),
    ...lapsesIn(steps).flatMap((lapse) => [
      { text: `  violated  ${lapseText(lapse)}` },
      ...lapse.evidence.map((n) => evidenceLine(domain, steps, n)),
    ]),
    ...[...heldIn(state), ...changesOf(state)].map((text) => ({ text })),
  ];
}

function verifierLines(
  domain: LoadedDomain,
  task: Task,
  steps: readonly Step[],
  state: RolloutState,
  verdict: Verdict,
  gold: World | string,
): readonly ChainLine[] {
  const { verifier, held, detail, evidence, diagnostic } = verdict;
  if (!isDemanding(verdict)) return [{ text: `${indent}${verdictText(verdict)}` }];
  const word = state.verdicts.length > 0 || held ? verdictWord(verdict) : 'not yet';
  const line = `  ${word.padEnd(8)}  ${verifier}: ${detail}${diagnostic ? ' (does not count for the reward)' : ''}`;
  if (held) return [{ text: line }];
  const demanded = domain.locations.tasks.get(task.id);
  const parts = { database: demanded?.actions, assertions: demanded?.assertions, communicate: demanded?.communicate };
  const at = Object.entries(parts).find(([name]) => name === verifier)?.[1]?.[0];
  const failed = verifier === 'database' && verdict.unknown ? failedActionLines(domain, task, steps) : [];
  if (failed.length > 0) return [{ text: line }, ...failed];
  const differences =
    verifier === 'database' && typeof gold !== 'string'
      ? differencesFrom(task, gold, state, comparisonOf(domain.file))
      : [];
  return [
    { text: line },
    ...(at ? [{ text: `${indent}required by the task`, at }] : []),
    ...differences.slice(0, shownDifferences).flatMap((difference) => {
      const { place, is, expected } = difference;
      const written = steps.findLast((step) => writesTo(step, difference));
      return [
        { text: `${indent}${place}  is ${is}, expected ${expected}` },
        written ? evidenceLine(domain, steps, written.n) : { text: `${indent}  no step has written it` },
      ];
    }),
    ...(differences.length > shownDifferences
      ? [{ text: `${indent}and ${differences.length - shownDifferences} more differences` }]
      : []),
    ...(differences.length > 0 ? [] : evidence.map((n) => evidenceLine(domain, steps, n))),
  ];
}

/** Returns the gold action that failed, what to do about it, and the step of its call; nothing where no step has it. */
function failedActionLines(domain: LoadedDomain, task: Task, steps: readonly Step[]): readonly ChainLine[] {
  const events = steps.map(({ event }) => event);
  const finding = failedGoldAction(domain, baseTask(task.id), events);
  if (finding === null) return [];
  const call = steps.findLast(
    ({ event }) =>
      event.type === 'toolReturned' && event.isError && finding.message.includes(event.content.replace(/^Error: /, '')),
  );
  return [
    { text: `${indent}${finding.message} ${finding.hint ?? ''}`.trimEnd(), at: finding },
    ...(call ? [evidenceLine(domain, steps, call.n)] : []),
  ];
}

function ruleLines(
  domain: LoadedDomain,
  steps: readonly Step[],
  { rule, verdict, reason, step, gate, evidence }: RolloutState['ruleVerdicts'][number],
  isFirst: boolean,
): readonly ChainLine[] {
  const stated = domain.domain.policy.rules.find(({ id }) => id === rule);
  const said = [...new Set([...evidence, step])].toSorted((a, b) => a - b);
  const place = domain.locations.policyRules.get(rule);
  const { text, check } = reasonInWords(domain, rule, reason);
  return [
    {
      text: `  ${verdict.padEnd(8)}  rule ${rule} at step ${step}${gate && verdict === 'violated' ? ' (makes the reward 0)' : ''}: ${text}`,
      ...(place ? { at: place } : {}),
    },
    ...(stated && isFirst ? [{ text: `${indent}"${sentenceOf(domain, rule)}"` }] : []),
    ...(check ? [{ text: `${indent}decided by its check`, at: check }] : []),
    ...said.map((n) => evidenceLine(domain, steps, n, rule)),
  ];
}

const indent = ' '.repeat(12);

/** A step of the evidence: what was said or called there, and the file that it is about. */
function evidenceLine(domain: LoadedDomain, steps: readonly Step[], n: number, rule?: string): ChainLine {
  const step = steps[n];
  if (!step) return { text: `${indent}step ${n}` };
  return { text: `${indent}step ${n}  ${whatHappened(steps, step)}`, at: stepLocation(domain, step, rule) };
}

function whatHappened(steps: readonly Step[], step: Step): string {
  const { event } = step;
  switch (event.type) {
    case 'agentReplied':
    case 'userReplied': {
      const who = event.type === 'agentReplied' ? 'agent' : 'user';
      const calls = event.toolCalls ?? [];
      return calls.length > 0
        ? `${who} calls ${calls.map((call) => callText(call as never)).join(', ')}`
        : `${who}: ${event.content ?? ''}`;
    }
    case 'toolCalled':
      return `${callText(event.call as never)} is called`;
    case 'databaseWritten':
    case 'toolReturned': {
      const call = steps.findLast(({ event: { type }, n }) => n <= step.n && type === 'toolCalled')?.event;
      const by = call?.type === 'toolCalled' ? callText(call.call as never) : 'a call';
      return event.type === 'databaseWritten' ? `${by} wrote it` : `${by} returned ${event.content}`;
    }
    default:
      return nameOf(step);
  }
}

/** Whether a step has written a value, a part of it, or what holds it. */
function writesTo({ event }: Step, { side, path: wanted }: Difference): boolean {
  const writes =
    event.type === 'databaseWritten' || event.type === 'worldEdited' || event.type === 'worldSynced'
      ? event.writes
      : [];
  return writes.some(
    (each) =>
      each.side === side &&
      each.patches.some(({ path }) =>
        path.every((key, at) => at >= wanted.length || String(key) === String(wanted[at])),
      ),
  );
}
