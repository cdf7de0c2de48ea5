// CPU ms of the promise's rollout (see ../retail.ts), of all processes.
// Run: node bench/spike/engine.ts [rollouts] [workers]        (Linux: it reads the workers' CPU time from /proc)
import { descendantsOf } from '../../scripts/processTree.ts';
import { pssOf } from '../measure.ts';
import { eventCounts, openRetail } from '../retail.ts';

const count = Number(process.argv[2] ?? 400);
const retail = await openRetail(Number(process.argv[3] ?? 1));
await retail.play(200);
const { results, seconds, own, workers } = await retail.play(count);
const seen = eventCounts(results[0]?.recording ?? '');
console.log(`${results.length} rollouts, each of ${JSON.stringify(seen)}`);
console.log(
  `${(own + workers).toFixed(2)} CPU ms a rollout = supervisor ${own.toFixed(2)} + workers ${workers.toFixed(2)}; ${(results.length / seconds).toFixed(0)} a second`,
);
const memory = [process.pid, ...descendantsOf(process.pid)].map((pid) => `${Math.round(pssOf([pid]) / 2 ** 20)} MiB`);
console.log(`memory: supervisor and its children ${memory.join(', ')} (PSS)`);
await retail.close();
