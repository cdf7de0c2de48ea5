import { expect, it, vi } from 'vitest';
import { type CommandEnd, runWithProgress } from '../../../src/extension/commandLine/commandLine.ts';
import type { Context } from '../../../src/extension/commandLine/context.ts';
import { checkDomain } from '../../../src/extension/language/domainCheck.ts';
import type { LanguageClient } from '../../../src/extension/language/languageClient.ts';
import type { readDomain } from '../../../src/extension/workspace/workspaceDomains.ts';
import { deskTools, load } from '../../engine/shell/load/domainFolder.ts';

vi.mock('vscode', () => ({ workspace: { isTrusted: true } }));
vi.mock('../../../src/extension/commandLine/commandLine.ts', () => ({
  checkAnswer: ({ answer }: CommandEnd) => answer,
  runWithProgress: vi.fn(),
}));
vi.mock('../../../src/extension/language/findings.ts', () => ({ showChecked: () => undefined }));
vi.mock('../../../src/extension/workspace/workspaceDomains.ts', () => ({
  saveFilesOf: () => Promise.resolve(),
  readDomain: ((folder) =>
    import('../../../src/engine/shell/domain/loadDomain.ts').then((m) =>
      m.loadDomain(folder),
    )) satisfies typeof readDomain,
}));

it.each([
  ['tools that were described', deskTools, 1],
  ['nothing where the code could not be loaded', null, 0],
])('the language features receive %s', async (_, described, times) => {
  const end = {
    code: 0,
    answer: { diagnostics: [], described },
    message: undefined,
    isStopped: false,
    isCancelled: false,
  };
  vi.mocked(runWithProgress).mockResolvedValueOnce(end);
  const client = { described: vi.fn() };
  await checkDomain({} as Context, client as unknown as LanguageClient, load().folder);
  expect(client.described).toHaveBeenCalledTimes(times);
});
