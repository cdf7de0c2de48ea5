import { resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isRecording, recordingEnding } from '../../engine/shell/records/recordingName.ts';
import { recordingsCompared } from '../compare/recordings.ts';
import { openRecords } from '../compare/records.ts';
import { runsCompared } from '../compare/runs.ts';
import { pairText, recordingsText } from '../compare/text.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { json, type OptionValues, text } from '../options/option.ts';
import { requireRecording } from '../options/requireRecording.ts';
import { type ExitCode, type Io, progress, UsageError } from '../terminal/io.ts';
import { statusLine } from '../terminal/statusLine.ts';

/** The number of pairs of rollouts that are read before cancellation is checked. */
const pairsAtOnce = 10;

const options = {
  domain: text('FOLDER', 'the domain of the recordings (default: that of their run)'),
  json,
};

export const compare: Command = defineCommand({
  name: 'compare',
  summary: 'compare runs task by task, and test whether they differ; or two recordings step by step',
  usage: 'RUN_A RUN_B [RUN_C ...] [--json]\nA.traj.jsonl B.traj.jsonl [--domain FOLDER] [--json]',
  about: `
Aligns runs by task, shows where rollouts of the same task and trial diverge, and tests whether their rewards differ: an
exact paired permutation test over tasks, two-sided (with one trial per task, the exact McNemar test). If the test shows
no difference, the output says which difference it cannot detect and how many trials or tasks would be enough. Tasks that
changed between the runs are left out. Every further run is compared with the first. A run is a folder of eval or of
train evaluate. From train evaluate, the rollouts at a temperature count, or the greedy ones if a run has no others.

For two recordings, it shows where they diverge (for forks: the last event they share), what each did next, and how the
final databases and the verdicts differ.
`,
  options,
  run: async (options, positionals, io) => {
    const recordings = positionals.filter(isRecording);
    if (recordings.length > 0) return compareRecordings(options, positionals, io);
    if (positionals.length < 2) throw new UsageError('name two runs (folders with run.json) or two recordings');
    const records = openRecords(io, positionals);
    const line = statusLine(io);
    const show = progress(io, line);
    const compared = await runsCompared(records, async (done, of) => {
      show(done, of, 'pairs of rollouts');
      if (done % pairsAtOnce > 0) return;
      await setImmediate();
      if (io.signal.aborted) throw new UsageError('cancelled: nothing was compared');
    });
    line.end();
    const problems = new Set(records.flatMap((record) => record.problems));
    for (const problem of problems) io.err(`left out: ${problem}\n`);
    if (options.json) io.out(`${JSON.stringify(compared)}\n`);
    else {
      const [first, ...others] = records;
      const texts = others.map((other, at) => {
        const pair = compared.pairs[at];
        return first && pair ? pairText([first, other], pair, io.columns) : '';
      });
      io.out(texts.join('\n'));
    }
    return 0;
  },
});

function compareRecordings(
  { domain, json: isJson }: OptionValues<typeof options>,
  [one, other, ...more]: readonly string[],
  io: Io,
): ExitCode {
  if (one === undefined || other === undefined || more.length > 0 || ![one, other].every(isRecording))
    throw new UsageError(`name two recordings (*${recordingEnding}), or runs (folders with run.json)`);
  const compared = recordingsCompared(
    [requireRecording(one, io), requireRecording(other, io)],
    domain === undefined ? undefined : resolve(io.cwd, domain),
  );
  io.out(isJson ? `${JSON.stringify(compared)}\n` : recordingsText(compared, io.columns));
  return 0;
}
