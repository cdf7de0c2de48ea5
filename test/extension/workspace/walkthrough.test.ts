import { beforeEach, expect, test, vi } from 'vitest';
import { tickDebugging, ticking } from '../../../src/extension/workspace/walkthrough.ts';

type Session = { readonly type: string; readonly configuration: object };

const editor = vi.hoisted(() => ({
  ticked: [] as string[],
  start: (_: Session): void => {},
  send: (_: { readonly event: string }): void => {},
}));

vi.mock('vscode', () => ({
  Disposable: { from: () => ({}) },
  commands: { executeCommand: async (_: string, key: string) => editor.ticked.push(key) },
  debug: {
    onDidStartDebugSession: (heard: typeof editor.start) => {
      editor.start = heard;
    },
    onDidReceiveDebugSessionCustomEvent: (heard: typeof editor.send) => {
      editor.send = heard;
    },
  },
}));

beforeEach(() => {
  editor.ticked = [];
  tickDebugging();
});

test.each([
  ['a debug session', () => editor.start({ type: 'rehearsal', configuration: {} }), ['rehearsal.done.debug']],
  ['a run without debugging', () => editor.start({ type: 'rehearsal', configuration: { noDebug: true } }), []],
  ['a session of another debugger', () => editor.start({ type: 'node', configuration: {} }), []],
  ['a fork', () => editor.send({ event: 'rehearsal/forked' }), ['rehearsal.done.fork']],
  ['an edit that was refused', () => editor.send({ event: 'rehearsal/refused' }), []],
  ['a command that was cancelled', ticking('author', async () => undefined), []],
  ['a command that did its work', ticking('author', async () => '/work/desk'), ['rehearsal.done.author']],
  [
    'a connection that fails',
    ticking(
      'model',
      async () => 'failed',
      (status) => status === 'ok',
    ),
    [],
  ],
])('%s ticks what it did', async (_, act, ticked) => {
  await act();
  expect(editor.ticked).toEqual(ticked);
});
