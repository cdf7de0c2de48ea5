import { strict as assert } from 'node:assert';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { eventually, next, orderDesk } from './desk.ts';
import { inFullSuite } from './fullSuite.ts';

describe('Rehearsal: Show Exact Request', () => {
  const bodies: string[] = [];
  let server: Server;

  before(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        bodies.push(body);
        const choices = [{ index: 0, message: { role: 'assistant', content: `Answer ${bodies.length}.` } }];
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices }));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });

  after(async () => {
    await vscode.debug.stopDebugging();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    server.close();
  });

  inFullSuite('opens what the model was sent for the step that is shown, byte for byte', async () => {
    const agent = `openai:m@http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const launch = {
      type: 'rehearsal',
      request: 'launch',
      name: 'exact',
      domain: orderDesk(),
      task: 'lamp-variant',
      agent,
    };
    assert.ok(await vscode.debug.startDebugging(undefined, launch));
    await eventually(() => {
      const focused = vscode.debug.activeStackItem;
      assert.ok(focused instanceof vscode.DebugStackFrame);
      assert.equal(focused.session.name, 'exact');
      assert.equal(vscode.debug.activeDebugSession?.id, focused.session.id);
    });
    assert.ok(bodies.length > 1);
    const shown = await vscode.commands.executeCommand<string>('rehearsal.request.show');
    assert.equal(shown, bodies.at(-1));
    assert.equal(vscode.window.activeTextEditor?.document.getText(), shown);
    assert.equal(vscode.window.activeTextEditor?.document.languageId, 'json');
    const session = vscode.debug.activeDebugSession;
    assert.ok(session);
    const { stackFrames } = await session.customRequest('stackTrace', { threadId: 1 });
    const frameName = stackFrames.at(-1).name;
    assert.equal(await vscode.commands.executeCommand('rehearsal.request.show', { frameName }), bodies[0]);
  });

  it('says in words that nothing is debugged', async () => {
    const inactive = next(vscode.debug.onDidChangeActiveDebugSession, (session) => session === undefined);
    await vscode.debug.stopDebugging();
    if (vscode.debug.activeDebugSession) await inactive;
    assert.equal(await vscode.commands.executeCommand('rehearsal.request.show'), undefined);
  });
});
