import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Spoiling, scratch, spoiledCopy } from '../support/benchmarkCopy.ts';

/** A package laid out as tau2 is. */
export const fixture = fileURLToPath(new URL('../fixtures/tau2', import.meta.url));

/** Copies the package with an edit: `[file, from, to]`, or the whole file if `from` is null. */
export function spoiled(...changes: readonly Spoiling[]): string {
  return spoiledCopy(fixture, changes);
}

type Call = readonly [by: 'agent' | 'user', tool: string, values: object, beside?: string];
/** `agent: text`, `user: text`, or a call. */
export type Turn = string | Call;

export type Told = {
  readonly task: string;
  readonly name: string;
  /** The number of the trial: by default the place in the file; null leaves it out. */
  readonly trial?: number | null;
  readonly turns: readonly Turn[];
  readonly end?: string;
  readonly official?: number | null;
  readonly judged?: Readonly<Record<string, boolean>>;
};

const requestors = { agent: 'assistant', user: 'user' } as const;

/** Writes a results file of tau2: each conversation begins with a greeting and ends with the given reason. */
export function resultsFile(domain: string, told: readonly Told[]): string {
  const simulations = told.map(
    ({ task, name, turns, end = 'user_stop', official = null, judged = {}, ...own }, at) => ({
      id: name,
      task_id: task,
      trial: own.trial === undefined ? at : own.trial,
      termination_reason: end,
      messages: [
        { role: 'assistant', content: 'Hi! How can I help you today?' },
        { role: 'user', content: 'Hello.' },
        ...turns.flatMap(messagesOf),
        ...(end === 'user_stop' ? [{ role: 'user', content: 'Thanks. ###STOP###' }] : []),
      ],
      reward_info: {
        reward: official ?? 0,
        nl_assertions: Object.entries(judged).map(([statement, met]) => ({ nl_assertion: statement, met })),
      },
    }),
  );
  const file = join(scratch(), 'results.json');
  // Numbers in angle brackets are written to the file verbatim, because JSON.stringify turns 5.0 into 5.
  const text = JSON.stringify({ info: { environment_info: { domain_name: domain } }, simulations });
  writeFileSync(file, text.replaceAll(/"<([\d.]+)>"/g, '$1'));
  return file;
}

function messagesOf(turn: Turn, at: number): readonly object[] {
  if (typeof turn === 'string') {
    const [, by = '', content] = /^(agent|user): (.*)$/.exec(turn) ?? [];
    return [{ role: requestors[by as 'agent' | 'user'], content }];
  }
  const [by, name, values, beside = null] = turn;
  const call = { id: `call_${at}`, name, arguments: values, requestor: requestors[by] };
  return [
    { role: requestors[by], content: beside, tool_calls: [call] },
    { role: 'tool', id: call.id, content: 'as recorded' },
  ];
}
