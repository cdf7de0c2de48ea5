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
A draft is a task or a persona with \`draft: true\`. It is read and checked like every other, and can be run and debugged by
its name, but no evaluation, split, training or coverage counts it until it is accepted.

  task               a task of what happened in a recording: gold actions from the calls that counted and those that
                     they needed, the user of the recorded task or of the user's own words
  from-chats         a task of each real conversation: of imported recordings, or of the run's folder they are in;
                     what the words do not tell is left to do, or to a model
  variants           tasks like this one: the same request about other rows of the database, drawn by seed, or written
                     by a model; what the audit finds something in is left out
  persona            a persona that the domain does not have: drawn by seed, or written by a model
  list               the drafts of a domain, and what the audit finds in each
  accept             take the mark out of the drafts that the audit finds nothing in; the others stay drafts
`,
  options: draftOptions,
  after: 'Exit code 0: done. 1: a draft needs work, and stays one. 2: could not be done.',
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
