import { strict as assert } from 'node:assert';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { EditorModels } from '../../../src/extension/editorModels/editorModels.ts';
import { eventually, orderDesk } from './desk.ts';

type Choice = { readonly message: { readonly tool_calls?: readonly object[] } };
type Answer = { readonly status: number; readonly body: { readonly choices?: readonly Choice[] } };

/** Sends a request to the models that the editor lends, as a command that the editor started does. */
async function asked(environment: Record<string, string>, body: object, token?: string): Promise<Answer> {
  const response = await fetch(`${environment['REHEARSAL_EDITOR_URL']}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token ?? environment['REHEARSAL_EDITOR_TOKEN']}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const user = (content: string) => ({ role: 'user', content });

describe('language models of the editor', () => {
  const models = new EditorModels();
  let environment: Record<string, string>;

  before(async () => {
    environment = await models.environment();
    await eventually(async () => assert.ok((await vscode.lm.selectChatModels({ id: 'parrot' })).length > 0));
  });

  after(() => {
    models.dispose();
    rmSync(join(orderDesk(), '.rehearsal'), { recursive: true, force: true });
  });

  it('answer as an endpoint on the loopback interface', async () => {
    assert.match(environment['REHEARSAL_EDITOR_URL'] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    const { status, body } = await asked(environment, {
      model: 'parrot',
      messages: [{ role: 'system', content: 'Be kind. ' }, user('Hello.')],
    });
    assert.equal(status, 200);
    assert.deepEqual(body.choices, [
      { index: 0, message: { role: 'assistant', content: 'Be kind. Hello.' }, finish_reason: 'stop' },
    ]);
  });

  it('call tools, and receive their results', async () => {
    const tools = [{ type: 'function', function: { name: 'get_order', parameters: { type: 'object' } } }];
    const called = await asked(environment, { model: 'parrot', messages: [user('W1?')], tools });
    const [choice] = called.body.choices ?? [];
    assert.deepEqual(choice?.message.tool_calls, [
      { id: 'call-1', type: 'function', function: { name: 'get_order', arguments: '{"said":"W1?"}' } },
    ]);
    const messages = [user('W1?'), choice?.message, { role: 'tool', tool_call_id: 'call-1', content: 'pending' }];
    const told = await asked(environment, { model: 'parrot', messages, tools });
    assert.match(JSON.stringify(told.body), /It returned pending/);
  });

  it('refuse who has not their token, a model that is not there, and what they block', async () => {
    const hello = { model: 'parrot', messages: [user('Hello.')] };
    assert.equal((await asked(environment, hello, 'another')).status, 401);
    const unknown = await asked(environment, { ...hello, model: 'unknown' });
    assert.equal(unknown.status, 404);
    assert.match(JSON.stringify(unknown.body), /VS Code has no language model \\"unknown\\"; it has .*parrot/);
    assert.equal((await asked(environment, { model: 'parrot' })).status, 400);
    assert.ok((await asked(environment, { ...hello, messages: [user('be quiet')] })).status >= 400);
  });
});

describe('Rehearsal: a preview with a language model of the editor', () => {
  after(async () => {
    await vscode.debug.stopDebugging();
    rmSync(join(orderDesk(), '.rehearsal'), { recursive: true, force: true });
  });

  it('is started with the model that is picked, and what the model says is in the rollout', async () => {
    const said: string[] = [];
    const seats: unknown[] = [];
    const tracker = vscode.debug.registerDebugAdapterTrackerFactory('rehearsal', {
      createDebugAdapterTracker: ({ configuration }) => ({
        onWillStartSession: () => seats.push(configuration['agent']),
        onDidSendMessage: ({
          event,
          body,
        }: {
          readonly event?: string;
          readonly body?: { readonly output?: string };
        }) => {
          if (event === 'output') said.push(body?.output ?? '');
        },
      }),
    });
    // The models are asked for first, and then listed.
    const picking = setInterval(() => {
      void vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    }, 250);
    try {
      const task = { type: 'task', folder: orderDesk(), task: 'new-address' };
      const started = vscode.commands.executeCommand('rehearsal.task.preview', task);
      assert.equal(await started.then(undefined, String), true);
      clearInterval(picking);
      await eventually(() => assert.match(said.join(''), /It returned /));
      assert.deepEqual(seats, ['editor:parrot']);
    } finally {
      clearInterval(picking);
      tracker.dispose();
    }
  });
});
