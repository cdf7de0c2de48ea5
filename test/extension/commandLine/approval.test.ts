import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { approveDomain, askForLaunch } from '../../../src/extension/commandLine/approval.ts';
import { runQuietly } from '../../../src/extension/commandLine/commandLine.ts';
import { commandLine } from '../../support/commandLine.ts';
import { inFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';

type Shown = { readonly message: string; readonly modal?: boolean; readonly detail?: string };
const editor = vi.hoisted(() => ({
  asked: [] as Shown[],
  said: [] as string[],
  answer: '' as string,
  isTrusted: true,
}));

vi.mock('vscode', () => ({
  CancellationTokenSource: class {
    readonly token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => {} }) };
  },
  EventEmitter: class {},
  ProgressLocation: {},
  commands: { executeCommand: async () => undefined },
  workspace: {
    get isTrusted() {
      return editor.isTrusted;
    },
  },
  window: {
    showInformationMessage: async (message: string) => void editor.said.push(message),
    showWarningMessage: async (message: string, options: object) => {
      if (typeof options === 'string') return void editor.said.push(message);
      editor.asked.push({ message, ...options });
      return editor.answer;
    },
  },
}));

beforeEach(() => {
  vi.stubEnv('REHEARSAL_HOME', temporaryFolder('approval-home'));
  vi.stubEnv('REHEARSAL_APPROVED', '');
  Object.assign(editor, { asked: [], said: [], answer: '', isTrusted: true });
  return () => vi.unstubAllEnvs();
});

/** A copy of a sample with a server that cannot be started. */
function withServer(): string {
  const folder = temporaryFolder('approval');
  cpSync(inRoot('domains', 'parcel-desk'), folder, { recursive: true });
  const file = join(folder, 'domain.yaml');
  const server = `mcpServers:\n  shop: { command: no-such-${folder.slice(-6)}, env: { T: "\${env:SHOP_TOKEN}" } }\n`;
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${server}`);
  return folder;
}

inFullSuite(
  'before the first start a modal dialog lists what a domain does; the answer holds for the command line too',
  async () => {
    const domain = withServer();
    editor.answer = 'Approve';
    await askForLaunch({ type: 'rehearsal', name: 'x', request: 'launch', domain });
    expect(editor.asked).toMatchObject([
      { message: expect.stringMatching(/^Approve what ".+" does outside of the sandbox\?$/), modal: true },
    ]);
    expect(editor.asked[0]?.detail).toMatch(
      /^• MCP server "shop" starts .*, with your environment variables SHOP_TOKEN$/m,
    );
    await askForLaunch({ type: 'rehearsal', name: 'x', request: 'launch', domain });
    expect(editor.asked).toHaveLength(1);
    const context = { cli: commandLine, environment: async () => ({}), log: { info: () => {} } } as never;
    const { code, message } = await runQuietly(context, ['tools', domain, '--json']);
    expect([code, message]).toEqual([2, expect.stringContaining('SHOP_TOKEN, which is not set')]);
  },
);

test('a person who declines sees which command approves it later, and is not asked again in the background', async () => {
  const domain = withServer();
  const context = { cli: commandLine, environment: async () => ({}), log: { info: () => {} } } as never;
  const tools = () => runQuietly(context, ['tools', domain, '--json']);
  expect((await tools()).message).toContain('is not approved');
  await tools();
  expect(editor.asked).toHaveLength(1);
  expect(editor.said).toEqual([expect.stringContaining('Choose "Rehearsal: Approve Domain…" to approve it later.')]);
  editor.answer = 'Approve';
  expect(await approveDomain({ folder: domain })).toBe(true);
  expect(editor.asked).toHaveLength(2);
  expect((await tools()).message).toContain('SHOP_TOKEN, which is not set');
});

inFullSuite('a command of the command line asks, and is run again once it is approved', async () => {
  editor.answer = 'Approve';
  const context = { cli: commandLine, environment: async () => ({}), log: { info: () => {} } } as never;
  expect((await runQuietly(context, ['tools', withServer(), '--json'])).message).toContain(
    'SHOP_TOKEN, which is not set',
  );
  expect(editor.asked).toHaveLength(1);
});

test('who writes a server and approves it with later edits is not asked again when it changes', async () => {
  const folder = temporaryFolder('own-server');
  writeFileSync(join(folder, 'domain.yaml'), 'name: x\nmcpServers:\n  shop: { command: ./server.sh }\n');
  const edit = (text: string) => writeFileSync(join(folder, 'server.sh'), text, { mode: 0o755 });
  const launch = () => askForLaunch({ type: 'rehearsal', name: 'x', request: 'launch', domain: folder });
  for (const [at, answer] of ['Approve', 'Approve with Later Edits'].entries()) {
    edit(`exit ${at}`);
    editor.answer = answer;
    await launch();
    expect(editor.asked[at]?.detail).toContain('You are asked again when this or server.sh changes.');
  }
  edit('exit 2');
  await launch();
  expect(editor.asked).toHaveLength(2);
});

test('a launch asks for the agent that it names', async () => {
  const domain = withServer();
  writeFileSync(join(domain, 'own.agent.yaml'), `command: ./own-${domain.slice(-6)}\n`);
  await askForLaunch({ type: 'rehearsal', name: 'x', request: 'launch', domain, agent: 'agent:own.agent.yaml' });
  expect(editor.asked.map(({ detail }) => detail)).toEqual([
    expect.stringContaining('MCP server "shop"'),
    expect.stringContaining('agent "own" starts ./own-'),
  ]);
});

test('a sample is not asked for, and in Restricted Mode nothing is', async () => {
  const sample = inRoot('domains', 'parcel-desk');
  await askForLaunch({ type: 'rehearsal', name: 'x', request: 'launch', domain: sample });
  expect(await approveDomain({ folder: sample })).toBe(true);
  expect(editor.said).toEqual([expect.stringContaining('needs no approval')]);
  editor.isTrusted = false;
  expect(await approveDomain({ folder: withServer() })).toBe(false);
  expect(editor.asked).toEqual([]);
});
