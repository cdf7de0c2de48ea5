import { type ModelRole, modelRoles } from '../../engine/core/evaluation/measure.ts';
import { type Distribution, type RunMetrics, shownPassHats } from '../../engine/core/evaluation/metrics.ts';
import { brokenEndText, endReasonText, parserQuestion } from '../../engine/core/events/displayText.ts';
import { brokenEnds } from '../../engine/core/values/answerEnd.ts';
import { mean, sum } from '../../engine/core/values/statistics.ts';
import type { FinishedRollout } from '../../engine/shell/records/runRecord.ts';

/** One table of a report. The terminal prints it, and the page shows it behind its plot. */
export type Section = {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** Every table of a run's report, empty ones left out. */
export function sectionsOf(metrics: RunMetrics, rollouts: readonly FinishedRollout[]): readonly Section[] {
  return [
    success(metrics),
    card(metrics),
    conduct(metrics),
    violations(metrics),
    lapses(rollouts),
    conversation(metrics),
    calls(metrics),
    cost(metrics),
    brokenAnswers(metrics),
    providers(metrics),
    ends(metrics),
    failures(metrics),
    simulator(metrics),
    tasks(rollouts),
  ].filter(({ rows }) => rows.length > 0);
}

/** The tables of imported conversations: a log has no reward, no rules and no times. */
export function importedSectionsOf(metrics: RunMetrics): readonly Section[] {
  return [conversation(metrics), calls(metrics)].filter(({ rows }) => rows.length > 0);
}

function success(metrics: RunMetrics): Section {
  const { reward, passHat, completionRate, flipRate, allCorrect, allWrong, scoredTasks } = metrics;
  const { all, some, none } = scoredTasks;
  const counts = { 'with every trial scored': all, 'with some trials scored': some, 'without a score': none };
  const interval = ({ low, high }: { low: number; high: number }) => `${low.toFixed(3)} to ${high.toFixed(3)}`;
  return {
    id: 'success',
    title: 'Success',
    columns: ['metric', 'value', '95 % interval', 'tasks'],
    rows: [
      ['reward', reward?.value.toFixed(3) ?? 'none', reward ? interval(reward) : '', String(passHat[0]?.tasks ?? 0)],
      ...shownPassHats(passHat).map((each) => [
        `pass^${each.k}`,
        each.value.toFixed(3),
        interval(each),
        String(each.tasks),
      ]),
      ['checks met', percent(completionRate), '', ''],
      ['tasks always passed', percent(allCorrect), '', ''],
      ['tasks always failed', percent(allWrong), '', ''],
      ['tasks with mixed results', percent(flipRate), '', ''],
      ...(some + none === 0
        ? []
        : Object.entries(counts).map(([name, count]) => [`tasks ${name}`, String(count), '', ''])),
    ],
  };
}

function card({ card: layers }: RunMetrics): Section {
  return {
    id: 'card',
    title: 'Report card',
    columns: ['layer', 'held', 'violated', 'unknown'],
    rows: layers
      .filter(({ held, violated, unknown }) => held + violated + unknown > 0)
      .map(({ layer, held, violated, unknown }) => [layer, String(held), String(violated), String(unknown)]),
  };
}

function conduct(metrics: RunMetrics): Section {
  return {
    id: 'conduct',
    title: 'Conduct',
    columns: ['metric', 'value'],
    rows: [
      ['rollouts with a violated rule', percent(metrics.violationRate)],
      ['writes confirmed', percent(metrics.confirmationRate)],
      ['calls that failed', percent(metrics.toolErrorRate)],
      ['redundant calls', percent(metrics.unnecessaryRate)],
      ['calls of generic tools', percent(metrics.genericShare)],
      ['rollouts handed over', percent(metrics.handOffRate)],
      ['values named in the handover summary', percent(metrics.handOffSummary)],
    ],
  };
}

function violations({ violations: found }: RunMetrics): Section {
  return {
    id: 'violations',
    title: 'Violated rules',
    columns: ['rule', 'violations', 'rollouts', 'gate'],
    rows: found.map(({ rule, count, rollouts, gate }) => [rule, String(count), String(rollouts), gate ? 'yes' : 'no']),
  };
}

/** Returns the section about what violated a layer of the report card and is not in another section. */
function lapses(rollouts: readonly FinishedRollout[]): Section {
  const found = rollouts.flatMap((rollout) => rollout.lapses.map((lapse) => ({ ...lapse, rollout })));
  const byReason = Map.groupBy(found, ({ layer, reason }) => `${layer} ${reason}`);
  return {
    id: 'lapses',
    title: 'Failed recoveries and successful attacks',
    columns: ['layer', 'what happened', 'rollouts', 'first'],
    rows: [...byReason.values()].flatMap((same) => {
      const [first] = same;
      if (!first) return [];
      const { layer, reason, rollout } = first;
      const count = new Set(same.map((each) => each.rollout)).size;
      return [[layer, reason, String(count), `${rollout.task}, trial ${rollout.trial}`]];
    }),
  };
}

function conversation({ turns, responseLength, callsPerRollout }: RunMetrics): Section {
  return {
    id: 'conversation',
    title: 'Conversation',
    columns: ['metric', 'mean', 'median', 'p95', 'max'],
    rows: [
      ['turns', ...spread(turns)],
      ['characters per response', ...spread(responseLength)],
      ['calls per rollout', callsPerRollout.toFixed(1), '', '', ''],
    ],
  };
}

function calls({ calls: mix }: RunMetrics): Section {
  return {
    id: 'calls',
    title: 'Tool calls',
    columns: ['tool', 'calls', 'share', 'failed', 'generic'],
    rows: mix.map((each) => [
      each.tool,
      String(each.calls),
      percent(each.share),
      String(each.errors),
      each.isGeneric ? 'yes' : 'no',
    ]),
  };
}

function cost({ latency, tokens, money }: RunMetrics): Section {
  const times =
    latency.rollout.max === 0
      ? []
      : Object.entries({
          'ms per rollout': latency.rollout,
          'ms per agent turn': latency.agent,
          'ms per user turn': latency.user,
          'ms per call': latency.tools,
        }).map(([name, distribution]) => [name, ...spread(distribution)]);
  const usage =
    tokens.total === 0
      ? []
      : modelRoles
          .filter((seat) => tokens[seat].input + tokens[seat].output > 0)
          .map((seat) => [`tokens of the ${seat}`, `${tokens[seat].input} in`, `${tokens[seat].output} out`, '', '']);
  const price = money === null || tokens.total === 0 ? [] : [['money', money.toFixed(4), '', '', '']];
  return {
    id: 'cost',
    title: 'Time and cost',
    columns: ['metric', 'mean', 'median', 'p95', 'max'],
    rows: [...times, ...usage, ...price],
  };
}

/** Answers of models that were cut off, withheld or refused, where there are any. */
function brokenAnswers({ answers }: RunMetrics): Section {
  const unknown = (role: ModelRole) => Object.entries(answers[role].unknownEnds);
  const broken = modelRoles.filter(
    (role) => brokenEnds.some((end) => answers[role][end] > 0) || unknown(role).length > 0,
  );
  return {
    id: 'answers',
    title: 'Answers that are not whole',
    columns: ['of the', 'answers', ...brokenEnds.map((end) => brokenEndText[end]), 'another finish_reason'],
    rows: broken.map((role) => [
      role,
      String(answers[role].all),
      ...brokenEnds.map((end) => String(answers[role][end])),
      unknown(role)
        .map(([reason, count]) => `${reason}: ${count}`)
        .join(', '),
    ]),
  };
}

/** Returns a sentence for each field that an endpoint refuses. */
export function adaptedLines({ adapted }: RunMetrics): readonly string[] {
  return modelRoles.flatMap((role) =>
    adapted[role].map((how) => `${role}: its endpoint refuses some fields of requests, so it was asked ${how}`),
  );
}

/** Returns a sentence for each kind of answers that are not whole, such as "agent: 7 of 120 answers were ...". */
export function brokenAnswerLines({ answers }: RunMetrics): readonly string[] {
  return modelRoles.flatMap((role) => {
    const counts = answers[role];
    const of = (count: number) => `${role}: ${count} of ${counts.all} answers`;
    return [
      ...brokenEnds
        .filter((end) => counts[end] > 0)
        .map(
          (end) => `${of(counts[end])} were ${brokenEndText[end]}${end === 'unparsed' ? `. ${parserQuestion}` : ''}`,
        ),
      ...Object.entries(counts.unknownEnds).map(
        ([reason, count]) => `${of(count)} ended with an unknown finish_reason: ${reason}`,
      ),
    ];
  });
}

function providers({ providers: counts }: RunMetrics): Section {
  const rows = Object.entries(counts).map(([name, count]) => [name, String(count)]);
  return { id: 'providers', title: 'Providers', columns: ['provider', 'answers'], rows };
}

function ends({ endReasons }: RunMetrics): Section {
  const rows = Object.entries(endReasons).map(([reason, count]) => [endReasonText(reason), String(count)]);
  return { id: 'ends', title: 'How rollouts ended', columns: ['end', 'rollouts'], rows };
}

/**
 * Returns the section about who caused the failures. Together with rollouts without a cause, it counts every rollout
 * once.
 */
function failures({ failedBy, rollouts }: RunMetrics): Section {
  const counts = Object.entries(failedBy).filter(([, count]) => count > 0);
  const rest = rollouts - sum(counts.map(([, count]) => count));
  return {
    id: 'failures',
    title: 'Who failed',
    columns: ['who', 'rollouts'],
    rows: [...counts.map(([who, count]) => [who, String(count)]), ...(rest > 0 ? [['no failure', String(rest)]] : [])],
  };
}

function simulator({ simulator: { flaws, flawedShare, broken, withheld } }: RunMetrics): Section {
  const refused = Object.entries(flaws).map(([code, count]) => [`refused: ${code}`, String(count)]);
  return {
    id: 'simulator',
    title: 'The simulated user',
    columns: ['what the guard found', 'times'],
    rows:
      refused.length === 0 && withheld === 0
        ? []
        : [
            ...refused,
            ['stops taken back', String(withheld)],
            ['rollouts it ended', String(broken)],
            ['rollouts with anything refused', percent(flawedShare)],
          ],
  };
}

function tasks(rollouts: readonly FinishedRollout[]): Section {
  return {
    id: 'tasks',
    title: 'Tasks',
    columns: ['task', 'split', 'right', 'scored', 'turns', 'first failure'],
    rows: [...Map.groupBy(rollouts, ({ task }) => task)].map(([task, rows]) => [
      task,
      rows[0]?.split ?? '',
      String(rows.filter(({ reward }) => reward === 1).length),
      String(rows.filter(({ reward }) => reward !== null).length),
      mean(rows.map(({ turns }) => turns)).toFixed(1),
      failureText(rows.find(({ reward }) => reward !== 1)),
    ]),
  };
}

/** Why a rollout has no reward of 1, in a sentence; empty for one that has. */
export function failureText(rollout: FinishedRollout | undefined): string {
  if (!rollout) return '';
  const { trial, failedBy, failure, reason } = rollout;
  return `trial ${trial}, ${failedBy ?? 'none'}: ${failure?.message ?? reason}`;
}

/** Formats a share from 0 to 1; `n/a` if there is nothing to measure. */
export function percent(share: number | null): string {
  return share === null ? 'n/a' : `${(100 * share).toFixed(1)} %`;
}

function spread({ mean: middle, median, p95, max }: Distribution): string[] {
  return [middle, median, p95, max].map((value) => value.toFixed(1));
}
