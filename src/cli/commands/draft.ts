import { suggestion } from '../../engine/shell/source/nearest.ts';
import { acceptDrafts, listDrafts } from '../drafts/acceptance.ts';
import { type DraftOptions, draftOptions } from '../drafts/draftOptions.ts';
import { draftFromChats } from '../drafts/fromChats.ts';
import { draftFromRecording } from '../drafts/fromRecording.ts';
import { draftPersona } from '../drafts/persona.ts';
import { draftVariants } from '../drafts/variants.ts';
import { type Command, defineCommand, refuseMore, refuseStray } from '../options/command.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';

type Action = {
  /** The number of arguments after the name of the action; any number if it is left out. */
  readonly takes?: number;
  /** Options that mean something to it; `--json` does to all. */
  readonly options: readonly (keyof DraftOptions)[];
  readonly run: (options: DraftOptions, positionals: readonly string[], io: Io) => Promise<ExitCode>;
};

/** The options of a model that writes. */
const model = ['model', 'timeout', 'rateLimitWait'] as const;

const actions: Readonly<Record<string, Action>> = {
  task: { takes: 1, options: ['domain', 'id', 'print', ...model], run: draftFromRecording },
  'from-chats': { options: ['domain', 'id', 'print', ...model], run: draftFromChats },
  variants: { takes: 2, options: ['count', 'seed', 'print', ...model], run: draftVariants },
  persona: { takes: 1, options: ['id', 'words', 'seed', 'print', ...model], run: draftPersona },
  list: { takes: 1, options: [], run: listDrafts },
  accept: { options: ['all'], run: acceptDrafts },
};

export const draft: Command = defineCommand({
  name: 'draft',
  summary: 'draft tasks and personas, and accept them once they are sound',
  usage:
    'task RECORDING | from-chats RECORDINGS | variants DOMAIN TASK | persona DOMAIN | list DOMAIN | accept DOMAIN ID... [options]',
  actions: Object.keys(actions),
  about: `
A draft is a task or a persona with \`draft: true\`. It is checked like any other, and you can run and debug
it by its name, but evaluations, splits, training and coverage ignore it until you accept it.

  task               drafts a task from a recording, with the calls that mattered and those that they needed as gold
                     actions, and the recorded task's user, or one from the user's own words
  from-chats         drafts a task from each imported conversation; RECORDINGS are recordings or the folder of their
                     run. What the text does not say becomes a TODO, or a model fills it in
  variants           drafts tasks like this one: the same request about other rows of the database, drawn by seed or
                     written by a model. Variants with audit findings are left out
  persona            drafts a persona that the domain does not have, drawn by seed or written by a model
  list               lists the drafts of a domain, with the audit's findings for each
  accept             removes the mark from drafts without audit findings; the others stay drafts
`,
  options: draftOptions,
  after: 'Exit code 0: done. 1: a draft needs work and stays a draft. 2: the command could not run.',
  run: (given, [name = '', ...positionals], io) => {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) {
      const names = Object.keys(actions);
      const not = name === '' ? '' : `, not "${name}"${suggestion(name, names)}`;
      throw new UsageError(`say what to do: ${names.join(', ')}${not}`);
    }
    const { takes, options, run } = action;
    refuseStray(given, options, `draft ${name}`);
    if (takes !== undefined) refuseMore(positionals, takes, draft);
    return run(given, positionals, io);
  },
});
