import { dirname } from 'node:path';
import { measureOf, modelRoles } from '../../../engine/core/evaluation/measure.ts';
import { moneyOf } from '../../../engine/core/evaluation/metrics.ts';
import { readSidecar, type SidecarLine, sidecarPath } from '../../../engine/shell/records/recording.ts';
import { readRunFile } from '../../../engine/shell/records/runFile.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import { row, type Variable } from './rows.ts';

/** Returns the usage of the models up to a step, by purpose, and its cost if the run has prices. */
export function usageAt({ steps, recording, setting }: Debuggee, { n }: Step): readonly Variable[] {
  const lines = readSidecar(sidecarPath(recording)).lines.filter((line) => line.n <= n);
  const events = steps.slice(0, n + 1).map(({ event }) => event);
  const { tokens } = measureOf(events, setting.domain.tools, lines);
  const asked = lines.filter(isModelLine);
  const run = readRunFile(dirname(recording));
  const prices = (typeof run === 'string' ? undefined : run.prices) ?? {};
  const money = moneyOf(tokens, prices);
  const roles = modelRoles.flatMap((role) => {
    const { input, output } = tokens[role];
    return input + output === 0 ? [] : [row(role, tokenText(tokens[role]))];
  });
  if (asked.length === 0) return [row('models', 'no model was asked up to here')];
  const sum = (of: 'input' | 'output') => modelRoles.reduce((total, role) => total + tokens[role][of], 0);
  const uncounted = asked.filter(({ usage }) => !usage).length;
  return [
    ...roles,
    row('all', tokenText({ input: sum('input'), output: sum('output') })),
    row('requests', String(asked.reduce((total, { earlier = [] }) => total + 1 + earlier.length, 0))),
    row('waited for', `${(asked.reduce((total, { ms = 0 }) => total + ms, 0) / 1000).toFixed(1)} s`),
    row('cost', money === null ? 'unknown: the run has no prices' : String(Number(money.toFixed(6)))),
    ...(uncounted > 0 ? [row('not counted', `${uncounted} answers did not report their tokens`)] : []),
  ];
}

function isModelLine({ request }: SidecarLine): boolean {
  return request !== undefined && request !== null;
}

function tokenText({ input, output }: { readonly input: number; readonly output: number }): string {
  const total = (input + output).toLocaleString('en');
  return `${total} tokens: ${input.toLocaleString('en')} in, ${output.toLocaleString('en')} out`;
}
