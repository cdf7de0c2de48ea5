import { firstNames } from '../../engine/core/text/counted.ts';
import type { AuditOptions } from '../../engine/shell/audit/audit.ts';
import { type Io, progress } from './io.ts';
import { statusLine } from './statusLine.ts';
import { waitReport } from './waitReport.ts';

/** Seconds after which a rollout of an audit is reported: all but those with a slow tool take less. */
const longRollout = 3;

/** Returns which rollouts are waited for. A call that does not return blocks the others in its worker. */
function rolloutsText(names: readonly string[], count: number): string {
  if (count === 1) return `the rollout ${names[0]}`;
  const shown = names.length === count ? firstNames(names) : `${names[0]} and ${count - 1} more`;
  return `${count} rollouts, of which one can block the others: ${shown}`;
}

/** Shows the progress of an audit, and names the rollouts that it waits for. */
export function auditProgress(io: Io): Required<Pick<AuditOptions, 'onProgress' | 'onRollout'>> {
  const line = statusLine(io);
  const { begin, finish } = waitReport({
    say: (text) => io.err(`${text}\n`),
    line: io.terminal ? line : undefined,
    summary: (name, count, waited) => `waiting for ${rolloutsText([name], count)}, ${waited} s`,
    shownAfter: longRollout,
    saidAfter: longRollout,
    together: (names) => rolloutsText(names, names.length),
  });
  let rollouts = 0;
  return {
    onProgress: progress(io, line),
    onRollout: (what) => {
      const key = rollouts++;
      begin(key, `"${what}"`);
      return () => finish(key);
    },
  };
}
