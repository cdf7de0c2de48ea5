import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { flawOf } from '../src/engine/core/simulator/guard.ts';
import { understood } from '../src/engine/core/simulator/stop.ts';
import { describeExternalTools } from '../src/engine/shell/describe.ts';
import { completeDomain, loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { readRecording } from '../src/engine/shell/records/recording.ts';
import { userTurns } from '../test/support/userTurns.ts';

/*
 * Lists the messages of recorded users that the guard refuses. Read each: a message that a person with the task could
 * have written is a false alarm.
 *
 *   rehearsal import tau1 --from tau-bench --out benchmarks
 *   rehearsal regrade --official tau-bench/historical_trajectories/gpt-4o-airline.json --domain benchmarks/airline --out run
 *   node bench/guard.ts run benchmarks/airline
 */

const [run = '', folder = ''] = process.argv.slice(2);
const loaded = loadDomain(folder);
const complete = completeDomain(loaded, [], await describeExternalTools(loaded)).domain;
// The stop words are those of a domain with the guard. An import has its benchmark's.
const { stopWords: _, ...file } = complete.file;
const domain = { ...complete, file };
const names = readdirSync(run).filter((name) => name.endsWith('.traj.jsonl'));
let messages = 0;
let refused = 0;
for (const name of names) {
  const turns = userTurns(
    domain,
    readRecording(join(run, name)).lines.map(({ event }) => event),
  );
  messages += turns.length;
  const flaws = turns.flatMap(({ view, reply }) => {
    const flaw = flawOf(view, understood(reply.content, view).reply);
    return flaw ? [`${name}  ${flaw.code}: ${flaw.message}\n  ${reply.content}\n`] : [];
  });
  refused += Math.min(1, flaws.length);
  process.stdout.write(flaws.join(''));
}
process.stdout.write(`${refused} of ${names.length} conversations with a refused message, ${messages} messages\n`);
