import type { EventOf, RolloutEvent } from './event.ts';
import { contentHash } from './hash.ts';
import type { Json } from './json.ts';
import type { Measure } from './measure.ts';
import { callText, type ToolCall } from './message.ts';
import { mean, pairedPermutation } from './statistics.ts';

/** Where two rollouts of one task part: the first thing that was said or done otherwise. */
export type Divergence = {
  /** Numbers of the events in the first and the second recording; null where one had ended. */
  readonly steps: readonly [number | null, number | null];
  readonly what: 'user' | 'agent' | 'result' | 'end';
  readonly texts: readonly [string, string];
};

export type ComparedTask = {
  readonly task: string;
  /** Mean reward and scored trials in the first and the second run. */
  readonly rewards: readonly [number, number];
  readonly trials: readonly [number, number];
  readonly difference: number;
};

export type Comparison = {
  readonly tasks: readonly ComparedTask[];
  /** Mean over tasks: second minus first. */
  readonly difference: number;
  readonly better: number;
  readonly worse: number;
  /** Two-sided p of the exact paired permutation test by task. */
  readonly p: number;
};

/** Compares the scored rollouts of two runs, task by task. Tasks that only one of them has scored are left out. */
export function compareRuns(first: readonly Measure[], second: readonly Measure[]): Comparison {
  const rewardsOf = (measures: readonly Measure[]) =>
    Map.groupBy(
      measures.filter(({ reward }) => reward !== null),
      ({ task }) => task,
    );
  const [before, after] = [rewardsOf(first), rewardsOf(second)];
  const tasks = [...before].flatMap(([task, rows]): ComparedTask[] => {
    const others = after.get(task);
    if (!others) return [];
    const rewards = [rows, others].map((each) => mean(each.map(({ reward }) => reward ?? 0))) as [number, number];
    return [{ task, rewards, trials: [rows.length, others.length], difference: rewards[1] - rewards[0] }];
  });
  const differences = tasks.map(({ difference }) => difference);
  return {
    tasks,
    difference: mean(differences),
    better: differences.filter((each) => each > 0).length,
    worse: differences.filter((each) => each < 0).length,
    p: pairedPermutation(
      differences,
      tasks.flatMap(({ trials }) => trials),
    ),
  };
}

type Said = { readonly n: number; readonly what: Divergence['what']; readonly text: string; readonly key: string };

/** The first difference of two rollouts in what was said, called, answered, or how they ended; null without one. */
export function firstDivergence(first: readonly RolloutEvent[], second: readonly RolloutEvent[]): Divergence | null {
  const [one, other] = [saidIn(first), saidIn(second)];
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    const [a, b] = [one[at], other[at]];
    if (a?.key === b?.key) continue;
    return {
      steps: [a?.n ?? null, b?.n ?? null],
      what: a?.what ?? b?.what ?? 'end',
      texts: [a?.text ?? '(nothing more)', b?.text ?? '(nothing more)'],
    };
  }
  return null;
}

/** Ids of calls and messages are the endpoint's own and differ between rollouts that are otherwise the same. */
function saidIn(events: readonly RolloutEvent[]): readonly Said[] {
  return events.flatMap((event, n): Said[] => {
    const said = (what: Said['what'], text: string, key: Json = text) => [
      { n, what, text, key: contentHash([what, key]) },
    ];
    switch (event.type) {
      case 'userReplied': {
        const { calls, shown } = called(event.toolCalls ?? []);
        const text = [event.content, ...shown].filter(Boolean).join(' ') || `(ends: ${event.stop})`;
        return said('user', text, [event.content, event.stop, ...calls]);
      }
      case 'agentReplied': {
        const { calls, shown } = called(event.toolCalls);
        return said('agent', [event.content ?? '', ...shown].filter(Boolean).join(' '), [event.content, calls]);
      }
      case 'toolReturned':
        return said('result', event.content);
      case 'rolloutEnded':
        return said('end', event.reason);
      default:
        return [];
    }
  });
}

function called(toolCalls: EventOf<'agentReplied'>['toolCalls']) {
  const calls = toolCalls.map(({ name, arguments: values }) => [name, values] as Json[]);
  return { calls, shown: (toolCalls as readonly ToolCall[]).map(callText) };
}
