import { beforeEach, expect, test, vi } from 'vitest';
import { registerWalkthrough, tick, ticking } from '../../../src/extension/workspace/walkthrough.ts';

type Session = { readonly type: string; readonly configuration: object };

const editor = vi.hoisted(() => ({
  ticked: [] as string[],
  start: (_: Session): void => {},
  end: (_: Session): void => {},
  openTab: (_: { readonly opened: readonly object[]; readonly changed: readonly object[] }): void => {},
  send: (_: { readonly event: string }): void => {},
}));

vi.mock('vscode', () => ({
  Disposable: { from: () => ({}) },
  commands: { executeCommand: async (_: string, key: string) => editor.ticked.push(key) },
  debug: {
    onDidStartDebugSession: (heard: typeof editor.start) => {
      editor.start = heard;
    },
    onDidTerminateDebugSession: (heard: typeof editor.end) => {
      editor.end = heard;
    },
    onDidReceiveDebugSessionCustomEvent: (heard: typeof editor.send) => {
      editor.send = heard;
    },
  },
  env: { language: 'en' },
  window: {
    tabGroups: {
      all: [],
      onDidChangeTabs: (heard: typeof editor.openTab) => {
        editor.openTab = heard;
      },
    },
  },
}));

const kept = new Map<string, unknown>();
const memory = {
  get: (key: string) => kept.get(key) as never,
  update: async (key: string, value: unknown) => void kept.set(key, value),
};
const showWalkthrough = () => editor.openTab({ opened: [{ label: 'Welcome', input: undefined }], changed: [] });

beforeEach(() => {
  editor.ticked = [];
  kept.clear();
  registerWalkthrough(memory);
});

test.each([
  ['a debug session', () => editor.start({ type: 'rehearsal', configuration: {} }), ['rehearsal.done.debug']],
  ['a run without debugging', () => editor.start({ type: 'rehearsal', configuration: { noDebug: true } }), []],
  [
    'the end of a run without debugging',
    () => editor.end({ type: 'rehearsal', configuration: { noDebug: true } }),
    ['rehearsal.done.test'],
  ],
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
  showWalkthrough();
  await act();
  expect(editor.ticked).toEqual(ticked);
});

test('what is done before the walkthrough is shown is ticked then, also in the next window', async () => {
  await tick('sample');
  await tick('debug');
  expect(editor.ticked).toEqual([]);
  registerWalkthrough(memory);
  editor.openTab({ opened: [{ label: 'Settings', input: undefined }], changed: [] });
  expect(editor.ticked).toEqual([]);
  showWalkthrough();
  expect(editor.ticked).toEqual(['rehearsal.done.sample', 'rehearsal.done.debug']);
});
