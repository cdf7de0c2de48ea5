import { type Command, defineCommand, refuseMore } from '../options/command.ts';
import { exportSelection } from '../synth/exportSelection.ts';
import { gradeRollouts } from '../synth/gradeRollouts.ts';
import { previewTraining } from '../synth/previewTraining.ts';
import { synthesizeRollouts } from '../synth/synthesizeRollouts.ts';
import { type SynthOptions, synthOptions } from '../synth/synthOptions.ts';
import type { ExitCode, Io } from '../terminal/io.ts';

type Action = (options: SynthOptions, positionals: readonly string[], io: Io) => Promise<ExitCode>;

const actions: Readonly<Record<string, Action>> = {
  grade: gradeRollouts,
  export: exportSelection,
  preview: previewTraining,
};

export const synth: Command = defineCommand({
  name: 'synth',
  summary: 'synthesize cold-start data over several domains, grade it, and export it',
  usage: 'DOMAIN... | grade FOLDER | export FOLDER | preview RECORDING [options]',
  actions: Object.keys(actions),
  about: `
Makes cold-start data: rollouts of the training tasks of the domains, successes and near-misses (one declared check
failed, or one rule broken), balanced by domain, difficulty, persona and task, and without duplicates that differ only in
names and numbers. With --out of an interrupted synthesis, it resumes without repeating rollouts. The folder gets the
recordings, selection.jsonl with each rollout and why it was chosen or left out, and balance.txt.

  grade              a model grades each chosen rollout by the rules of its policy; those that it rejects are left out
  export             the accepted rollouts as chat JSONL, with tools and a weight for each message of the agent
  preview            the exact training text, as the trainer renders it, and the tokens that the loss counts
`,
  options: synthOptions,
  after: `
Exit code 0: done. 1: fewer than --count could be chosen, or a grader gave no grade. 2: cancelled, out of budget, or could
not be done.
`,
  run: (options, positionals, io) => {
    const [name = '', ...others] = positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) return synthesizeRollouts(options, positionals, io);
    refuseMore(others, 1, { usage: `rehearsal synth ${name} ${name === 'preview' ? 'RECORDING' : 'FOLDER'}` });
    return action(options, others, io);
  },
});
