import { type Command, defineCommand } from '../options/command.ts';
import { completionScripts } from '../options/completionScript.ts';
import { flag } from '../options/option.ts';
import { UsageError } from '../terminal/io.ts';

const shells = Object.keys(completionScripts) as (keyof typeof completionScripts)[];

/** @param loadCommands loads the commands that the script completes */
export const completionCommand = (loadCommands: () => Promise<readonly Command[]>): Command =>
  defineCommand({
    name: 'completion',
    takes: 1,
    summary: 'print a script that completes commands, options and values in bash, zsh or fish',
    usage: shells.join('|'),
    actions: shells,
    about: `
Prints a script for a shell. With it, Tab completes the names of commands and options, the values of options that have
only a few, and files. It completes the command rehearsal, not npx rehearsal.

For bash, add this line to ~/.bashrc:
  source <(rehearsal completion bash)
For zsh, add this line to ~/.zshrc, after compinit:
  source <(rehearsal completion zsh)
For fish, run this once:
  rehearsal completion fish > ~/.config/fish/completions/rehearsal.fish
`,
    options: { json: flag('the script as JSON') },
    run: async ({ json }, [named], io) => {
      const shell = shells.find((each) => each === named);
      if (!shell)
        throw new UsageError(`name the shell: ${shells.join(', ')}${named === undefined ? '' : `, not "${named}"`}`);
      const script = completionScripts[shell](await loadCommands());
      io.out(json ? `${JSON.stringify({ script })}\n` : script);
      return 0;
    },
  });
