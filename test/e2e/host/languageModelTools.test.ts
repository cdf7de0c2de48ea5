import { strict as assert } from 'node:assert';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { orderDesk } from './desk.ts';

type Manifest = { contributes: { languageModelTools: { name: string }[] } };

/** What a tool answers, as a model reads it. */
async function asked(name: string, input: object): Promise<string> {
  const { token } = new vscode.CancellationTokenSource();
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}

describe('tools for the editor’s own agent', () => {
  after(() => rmSync(join(orderDesk(), '.rehearsal'), { recursive: true, force: true }));

  it('are those that package.json contributes', () => {
    const extension = vscode.extensions.getExtension('rehearsal.rehearsal');
    const manifest = JSON.parse(readFileSync(join(extension?.extensionPath ?? '', 'package.json'), 'utf8')) as Manifest;
    const known = new Set(vscode.lm.tools.map(({ name }) => name));
    const contributed = manifest.contributes.languageModelTools.map(({ name }) => name);
    assert.equal(contributed.length, 4);
    assert.deepEqual(
      contributed.filter((name) => !known.has(name)),
      [],
    );
  });

  it('check the domain', async () => {
    assert.match(await asked('rehearsal_checkDomain', {}), /^order-desk: \d+ tasks, 0 findings/);
    await assert.rejects(asked('rehearsal_checkDomain', { domain: 'nowhere' }), /name one domain/);
  });

  it('run a task, read what was recorded, and explain the reward', async () => {
    const played = await asked('rehearsal_runTask', { task: 'lamp-variant', agent: 'scripted' });
    const recording = /^recording (.*)$/m.exec(played)?.[1] ?? '';
    assert.match(played, /^reward 0\n/);
    assert.match(played, /violated +rule confirm-before-write .*policy\.md:16/);
    assert.match(await asked('rehearsal_readTrajectory', { recording }), /change_item/);
    assert.match(await asked('rehearsal_explainFailure', { recording }), /^REWARD 0/);
    await assert.rejects(asked('rehearsal_runTask', { task: 'nothing' }), /there is no task "nothing"/);
    await assert.rejects(asked('rehearsal_readTrajectory', { recording: 'none.traj.jsonl' }), /no such recording/);
  });
});
