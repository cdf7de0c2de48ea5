import type { AuditOptions } from '../../engine/shell/audit/audit.ts';
import { type Io, progress } from './io.ts';
import { statusLine } from './statusLine.ts';
import { waitReport } from './waitReport.ts';

/** Seconds after which a rollout of an audit is reported: all but those with a slow tool take less. */
const longRollout = 3;

/** Shows the progress of an audit, and names the rollout that it waits for. */
export function auditProgress(io: Io): Required<Pick<AuditOptions, 'onProgress' | 'onRollout'>> {
  const line = statusLine(io);
  const { begin, finish } = waitReport({
    say: (text) => io.err(`${text}\n`),
    line: io.terminal ? line : undefined,
    summary: (name, count, waited) => `waiting for ${name}${count > 1 ? ` and ${count - 1} more` : ''}, ${waited} s`,
    shownAfter: longRollout,
    saidAfter: longRollout,
    onlyLongest: true,
  });
  let rollouts = 0;
  return {
    onProgress: progress(io, line),
    onRollout: (what) => {
      const key = rollouts++;
      begin(key, `the rollout "${what}"`);
      return () => finish(key);
    },
  };
}
