import { strict as assert } from 'node:assert';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { cancellingAgent } from '../../support/scriptedAgents.ts';
import { type ScriptedModel, serveModel } from '../../support/scriptedModel.ts';
import { applyAndSave, orderDesk, show } from './desk.ts';
import { isFullSuite } from './fullSuite.ts';

type Manifest = { contributes: { languageModelTools: { name: string }[] } };

/** Returns the answer of a tool, as a model reads it. */
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

  it('refuse a domain that is not there', async () => {
    await assert.rejects(asked('rehearsal_checkDomain', { domain: 'nowhere' }), /name one domain/);
  });

  it('run a task and explain its reward', async () => {
    const played = await asked('rehearsal_runTask', { task: 'lamp-variant', agent: 'scripted' });
    assert.match(played, /^reward 0\n/);
    assert.match(played, /^REWARD 0/m);
    assert.match(played, /violated +rule confirm-before-write .*policy\.md:16/);
    await assert.rejects(asked('rehearsal_runTask', { task: 'nothing' }), /there is no task "nothing"/);
    await assert.rejects(asked('rehearsal_readTrajectory', { recording: 'none.traj.jsonl' }), /no such recording/);
  });
});

(isFullSuite ? describe : describe.skip)('an agent of the editor improves a policy with these tools', () => {
  const settings = () => vscode.workspace.getConfiguration('rehearsal.model');
  const path = join(orderDesk(), 'policy.md');
  const right = readFileSync(path, 'utf8');
  const ask =
    ' and wait for an explicit yes. A request is not a\n  yes. If the customer changes their mind, propose again and wait again.';
  let model: ScriptedModel;

  before(async () => {
    assert.ok(right.includes(ask));
    writeFileSync(path, right.replace(ask, '.'));
    model = await serveModel(cancellingAgent);
    await settings().update('baseUrl', model.url, vscode.ConfigurationTarget.Global);
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await settings().update('baseUrl', undefined, vscode.ConfigurationTarget.Global);
    model.close();
    writeFileSync(path, right);
    rmSync(join(orderDesk(), '.rehearsal'), { recursive: true, force: true });
  });

  const played = async () => {
    const said = await asked('rehearsal_runTask', { task: 'mistaken-order', agent: 'openai:m' });
    return { said, reward: /^reward (.*)$/m.exec(said)?.[1], recording: /^recording (.*)$/m.exec(said)?.[1] ?? '' };
  };

  /** Replaces a text in the policy, as an edit of the agent does, and saves it. */
  async function edited(from: string, to: string): Promise<void> {
    const { document } = await show(path);
    const at = document.getText().indexOf(from);
    assert.ok(at >= 0, from);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(document.positionAt(at), document.positionAt(at + from.length)), to);
    await applyAndSave(edit);
  }

  it('and proves it: the check, a run, why it failed, the edit, the check again, and a run that passes', async () => {
    assert.match(await asked('rehearsal_checkDomain', {}), /^order-desk: \d+ tasks, 0 findings$/);
    const first = await played();
    assert.equal(first.reward, '0');

    const { recording } = first;
    const [read, explained] = await Promise.all([
      asked('rehearsal_readTrajectory', { recording }),
      asked('rehearsal_explainFailure', { recording }),
    ]);
    assert.match(explained, /^REWARD 0/);
    assert.match(read, /cancel_order/);
    assert.doesNotMatch(read, /Shall I cancel/);
    const [, line = ''] = /violated +rule confirm-before-write .*policy\.md:(\d+)/.exec(explained) ?? [];
    const lines = readFileSync(path, 'utf8').split('\n');
    assert.match(lines.slice(Number(line) - 1, Number(line) + 2).join('\n'), /\{#confirm-before-write\}/);

    await edited('the reason). {#confirm-before-write}', `the reason)${ask} {#confirm-before-wirte}`);
    const slip = await asked('rehearsal_checkDomain', {});
    assert.match(slip, /^error rule\/unknown-rule .*rules\.yaml:\d+ .*confirm-before-write/m);

    await edited('confirm-before-wirte', 'confirm-before-write');
    assert.match(await asked('rehearsal_checkDomain', {}), /, 0 findings$/);
    assert.equal(readFileSync(path, 'utf8'), right);

    const second = await played();
    assert.equal(second.reward, '1', second.said);
    assert.match(await asked('rehearsal_readTrajectory', { recording: second.recording }), /Shall I cancel W1014/);
    assert.match(second.said, /^REWARD 1/m);
  });
});
