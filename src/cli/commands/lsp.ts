import { version } from '../../engine/shell/files/version.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag } from '../options/option.ts';

export const lsp: Command = defineCommand({
  name: 'lsp',
  takes: 0,
  summary: 'the language server, for Neovim, Zed, JetBrains and every other client',
  usage: '',
  about: `
Speaks the Language Server Protocol over standard input and output: completion, hover, rename, findings with their fixes,
and more for the files of a domain. It runs nothing of a domain.
`,
  options: {
    stdio: flag('accepted, because many clients pass it'),
    json: flag('print startup errors as JSON'),
  },
  run: async () => {
    const { serveLsp } = await import('../lsp/server.ts');
    await serveLsp(version);
    return 0;
  },
});
