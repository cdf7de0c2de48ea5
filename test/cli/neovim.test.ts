/** Neovim's own LSP client with the language server. Skipped where Neovim is not installed. */
import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { commandLine } from '../support/commandLine.ts';
import { temporaryFolder } from '../support/temporary.ts';

const isInstalled = spawnSync('nvim', ['--version']).status === 0;

test.skipIf(!isInstalled)('Neovim gets findings, completion, hover and rename', () => {
  const folder = join(temporaryFolder('neovim'), 'parcel-desk');
  cpSync(inRoot('domains', 'parcel-desk'), folder, { recursive: true });
  const file = join(folder, 'rules.yaml');
  writeFileSync(file, '- rule: look-up-first\n  check: before\n  tools: writes\n  require: [find_parcels]\n');
  const { stdout, stderr, status } = spawnSync(
    'nvim',
    [
      '--headless',
      '-u',
      'NONE',
      '-i',
      'NONE',
      '-n',
      '-c',
      `luafile ${inRoot('test', 'fixtures', 'neovim', 'ask.lua')}`,
    ],
    {
      encoding: 'utf8',
      timeout: 120_000,
      env: {
        ...process.env,
        REHEARSAL_LSP: JSON.stringify([process.execPath, commandLine, 'lsp']),
        REHEARSAL_FILE: file,
      },
    },
  );
  const printed = /^\{.*\}$/m.exec(`${stdout}\n${stderr}`)?.[0];
  if (printed === undefined) throw new Error(`Neovim (${status}) printed ${stdout}${stderr}`);
  expect(JSON.parse(printed)).toMatchObject({
    code: 'rule/unknown-tool',
    line: 3,
    finding: expect.stringContaining('find_parcel'),
    labels: expect.arrayContaining(['find_parcel']),
    hover: expect.stringContaining('before you offer anything'),
    texts: {
      'rules.yaml': expect.stringContaining('rule: looked-up'),
      'policy.md': expect.stringContaining('{#looked-up}'),
    },
  });
});
