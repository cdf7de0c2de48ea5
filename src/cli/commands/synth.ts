import { type Command, type Given, refuseMore } from '../options/command.ts';
import { setHelp, settingOptions } from '../options/modelSettings.ts';
import { exportSelection } from '../synth/exportSelection.ts';
import { gradeRollouts } from '../synth/gradeRollouts.ts';
import { previewTraining } from '../synth/previewTraining.ts';
import { synthesizeRollouts } from '../synth/synthesizeRollouts.ts';
import type { ExitCode, Io } from '../terminal/io.ts';

const help = `rehearsal synth DOMAIN... | grade FOLDER | export FOLDER | preview RECORDING [options]

Makes cold-start data: rollouts of the training tasks of the domains, successes and near-misses (one declared check
failed, or one rule broken), balanced by domain, difficulty, persona and task, none the same as another up to names and
numbers. With --out of an interrupted synthesis it resumes: no finished rollout is repeated. The folder gets the
recordings, selection.jsonl with each rollout and why it was chosen or left out, and balance.txt.

  grade              a model grades each chosen rollout by the rules of its policy; what it would not keep is left out
  export             the accepted rollouts as chat JSONL, with tools and a weight for each message of the agent
  preview            the exact text that a model is trained on, as the trainer renders it, and which tokens train

  --teacher SEAT     openai:MODEL[@BASE_URL] or agent:FILE: who plays the agent (default: the gold seat for successes,
                     and the gold seat with one slip for near-misses)
  --user SEAT        agenda or openai:MODEL[@BASE_URL] (default: the domain's for training)
  --count N          rollouts to choose (default: 2000)
  --near-misses X    share of the near-misses, from 0 to 1 (default: 0.25)
  --under A,B*       play each task also under these personas, laid over its own; * matches any letters
  --basis NAME       evaluate or train: which of the task's two bases decides the reward (default: train)
  --seed TEXT        source of every random stream, and of what is chosen among equals (default: 1)
  --turn-cap N       agent responses at most (default: the domain's)
  --concurrency N    rollouts or grades at once (default: 16)
${setHelp}  --timeout SECONDS  how long a model may take for one response (default: 120)
  --budget-tokens N, --budget-money X  what the models may use now
  --price IN/OUT, --user-price IN/OUT, --tools-price IN/OUT  what a million tokens of each model cost
  --out PATH         synthesis: its folder (default: .rehearsal/synth/<id> here); export: the file to write
  --format NAME      export: rehearsal, openai (fine-tuning of OpenAI), trl (datasets 4.8 or newer) or trl-text (any
                     version of datasets) (default: rehearsal)
  --grader SEAT      grade: openai:MODEL[@BASE_URL]
  --model NAME       preview: the model whose tokenizer is meant (default: smollm2)
  --dialect NAME     preview: auto, template or compact (default: a checkpoint's own, else the domain's)
  --python PATH      preview: an existing Python to use as it is, without downloads (see \`npx rehearsal help train\`)
  --json             machine-readable output

Exit code 0: done. 1: fewer than --count could be chosen, or a grader gave no grade. 2: cancelled, out of budget, or could
not be done.
`;

const actions: Readonly<Record<string, (given: Given, io: Io) => Promise<ExitCode>>> = {
  grade: gradeRollouts,
  export: exportSelection,
  preview: previewTraining,
};

export const synth: Command = {
  name: 'synth',
  summary: 'synthesize cold-start data over several domains, grade it, and export it',
  help,
  options: {
    teacher: { type: 'string' },
    user: { type: 'string' },
    count: { type: 'string' },
    'near-misses': { type: 'string' },
    under: { type: 'string' },
    basis: { type: 'string' },
    seed: { type: 'string' },
    'turn-cap': { type: 'string' },
    concurrency: { type: 'string' },
    ...settingOptions,
    timeout: { type: 'string' },
    'budget-tokens': { type: 'string' },
    'budget-money': { type: 'string' },
    price: { type: 'string' },
    'user-price': { type: 'string' },
    'tools-price': { type: 'string' },
    out: { type: 'string' },
    format: { type: 'string' },
    grader: { type: 'string' },
    model: { type: 'string' },
    dialect: { type: 'string' },
    python: { type: 'string' },
  },
  run: (given, io) => {
    const [name = '', ...positionals] = given.positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) return synthesizeRollouts(given, io);
    const own = { ...given, positionals };
    refuseMore(own, 1, { help: `rehearsal synth ${name} ${name === 'preview' ? 'RECORDING' : 'FOLDER'}\n` });
    return action(own, io);
  },
};
