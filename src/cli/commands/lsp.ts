import { version } from '../../engine/shell/files/version.ts';
import type { Command } from '../options/command.ts';

export const lsp: Command = {
  name: 'lsp',
  takes: 0,
  summary: 'the language server, for Neovim, Zed, JetBrains and every other client',
  help: `rehearsal lsp

Speaks the Language Server Protocol over standard input and output: completion, hover, rename, findings with their fixes,
and more for the files of a domain. It runs nothing of a domain.

  --stdio            accepted, because many clients pass it
  --json             errors at the start as JSON
`,
  options: { stdio: { type: 'boolean' } },
  run: async () => {
    const { serveLsp } = await import('../lsp/server.ts');
    await serveLsp(version);
    return 0;
  },
};
