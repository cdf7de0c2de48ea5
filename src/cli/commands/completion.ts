import { taskIds } from '../../engine/core/domain/task.ts';
import { loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { type Command, defineCommand, refuseMore } from '../options/command.ts';
import { completionScripts } from '../options/completionScript.ts';
import { flag } from '../options/option.ts';
import { domainFolder } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';

const shells = Object.keys(completionScripts) as (keyof typeof completionScripts)[];

/** @param loadCommands loads the commands that the script completes */
export const completionCommand = (loadCommands: () => Promise<readonly Command[]>): Command => {
  const completion: Command = defineCommand({
    name: 'completion',
    summary: 'print a script that completes commands, options and values in bash, zsh or fish',
    usage: `${shells.join('|')}\ntasks DOMAIN`,
    actions: shells,
    about: `
Prints a script for a shell. With it, Tab completes the names of commands and options, the values of options with a
fixed list, files, and the tasks of a domain: \`tasks\` prints their ids.
It completes the command rehearsal, not npx rehearsal.

For bash, add this line to ~/.bashrc:
  source <(rehearsal completion bash)
For zsh, add this line to ~/.zshrc, after compinit:
  source <(rehearsal completion zsh)
For fish, run this once:
  rehearsal completion fish > ~/.config/fish/completions/rehearsal.fish
`,
    options: { json: flag('the script or the tasks as JSON') },
    run: async ({ json }, positionals, io) => {
      const [named, folder] = positionals;
      refuseMore(positionals, named === 'tasks' ? 2 : 1, completion);
      if (named === 'tasks') return printTasks(domainFolder(io, folder), json === true, io);
      const shell = shells.find((each) => each === named);
      if (!shell)
        throw new UsageError(`name the shell: ${shells.join(', ')}${named === undefined ? '' : `, not "${named}"`}`);
      const script = completionScripts[shell](await loadCommands());
      io.out(json ? `${JSON.stringify({ script })}\n` : script);
      return 0;
    },
  });
  return completion;
};

function printTasks(folder: string, json: boolean, io: Io): ExitCode {
  const { tasks } = loadDomain(folder, { soundness: false, databases: false });
  // The shells expand the words that they complete.
  const ids = tasks.map(({ id }) => id).filter((id) => taskIds.pattern.test(id));
  io.out(json ? `${JSON.stringify({ tasks: ids })}\n` : ids.map((id) => `${id}\n`).join(''));
  return 0;
}
