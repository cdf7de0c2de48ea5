import { basename, join, resolve } from 'node:path';
import { planOf, resultOf, type Stage } from '../../engine/core/evaluation/experiment.ts';
import { makeRunFolder, replaceFile } from '../../engine/shell/files/disk.ts';
import { workFolders } from '../../engine/shell/files/workFolders.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { readExperiment } from '../experiment/experimentFile.ts';
import { resultText } from '../experiment/resultText.ts';
import { type StageState, stagesIn } from '../experiment/stages.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag, json, text } from '../options/option.ts';
import { requireOutFolder } from '../options/outFolder.ts';
import { UsageError } from '../terminal/io.ts';

export const experiment: Command = defineCommand({
  name: 'experiment',
  takes: 1,
  summary: 'train and evaluate several arms over seeds, and report which is better with intervals',
  usage: 'FILE [options]',
  about: `
Runs every arm of an experiment (*.experiment.yaml) once for each of its seeds: SFT, GRPO, both or neither, and then an
evaluation on the test tasks. A stage that several arms share runs once. It prints rewards with intervals and, for each
pair under compare, how far the second is above the first, paired by task.

Run the same command again to resume: finished stages are kept, and an unfinished one continues from its last checkpoint.
The folder gets result.json and result.txt, and the configuration of each stage. A stage is a run of train. Without
--out, it is in .rehearsal/training, with the other runs of the dashboard.
`,
  options: {
    out: text(
      'FOLDER',
      'the folder for everything (default: .rehearsal/experiments/<name of the file>, with its runs in .rehearsal/training)',
    ),
    plan: flag('show the stages and the progress of each; nothing starts'),
    target: text('TARGET', 'where to train, as in train; a resumed experiment keeps it'),
    python: text(
      'PATH',
      'an existing Python to use as it is (see `npx rehearsal help train`): on the target that --target names, or else on this machine',
    ),
    json,
  },
  after: 'Exit code 0: done. 2: ended before the last stage, or could not start.',
  run: async (options, [file], io) => {
    if (file === undefined) throw new UsageError('say which experiment: npx rehearsal experiment FILE');
    const { experiment: asked, placed } = readExperiment(file, io.cwd);
    const plan = planOf(asked);
    const { out: named, target, python } = options;
    const name = basename(file).replace(/(?:\.experiment)?\.ya?ml$/, '');
    const folder = named === undefined ? join(io.cwd, workFolders.experiments, name) : resolve(io.cwd, named);
    const runs = named === undefined ? join(io.cwd, workFolders.training) : join(folder, 'runs');
    const place = { file: resolve(io.cwd, file), target, python };
    const stages = stagesIn(folder, runs, asked.model, place, placed);
    if (options.plan) {
      const told = plan.stages.map((stage) => ({ ...stage, state: stages.stateOf(stage) }));
      io.out(options.json ? `${JSON.stringify(told)}\n` : planText(told));
      return 0;
    }
    // A call that found a stage wrong has written the configurations of the stages, and not which experiment it is.
    requireOutFolder(folder, (names) => stages.isKnown || names.every((each) => each === 'stages'));
    makeRunFolder(folder);
    const left = plan.stages.filter((stage) => stages.stateOf(stage) === 'not begun');
    // The seeds differ in nothing that could be wrong.
    for (const stage of left.filter(({ seed }) => seed === asked.seeds[0])) await stages.preflight(stage, io);
    stages.keepTarget();
    for (const [at, stage] of plan.stages.entries()) {
      if (stages.stateOf(stage) === 'finished') continue;
      io.err(`${at + 1} of ${plan.stages.length}: ${stage.name} (${stage.arms.join(', ')})\n`);
      await stages.run(stage, io);
      if (io.signal.aborted || stages.stateOf(stage) !== 'finished') {
        io.err(`ended; run the same command again to resume\n`);
        return 2;
      }
    }
    const measured = plan.measured.map(({ arm, seed, stage }) => ({ arm, seed, rollouts: stages.rolloutsOf(stage) }));
    const result = resultOf(asked, measured);
    replaceFile(join(folder, runFiles.result), `${JSON.stringify(result, null, 2)}\n`);
    replaceFile(join(folder, runFiles.resultText), resultText(result));
    io.out(options.json ? `${JSON.stringify(result)}\n` : resultText(result));
    return 0;
  },
});

function planText(stages: readonly (Stage & { readonly state: StageState })[]): string {
  return stages
    .map(({ name, after, arms, state }) => `${name} (${arms.join(', ')})${after ? ` after ${after}` : ''}: ${state}\n`)
    .join('');
}
