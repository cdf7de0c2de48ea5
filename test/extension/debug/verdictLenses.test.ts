import { beforeEach, expect, test, vi } from 'vitest';
import type { CodeLens, CodeLensProvider, TextDocument } from 'vscode';
import { registerVerdictLenses } from '../../../src/extension/debug/verdictLenses.ts';

const editor = vi.hoisted(() => {
  class DebugStackFrame {
    readonly frameId = 17;
  }
  return {
    DebugStackFrame,
    provider: undefined as unknown,
    active: undefined as unknown,
    /** The line on which the adapter finds the rule. */
    line: 4,
    asked: [] as number[],
    forked: (_: { readonly event: string; readonly session: unknown }): void => {},
    session: {} as unknown,
  };
});

vi.mock('vscode', () => {
  const nothing = () => ({ dispose: () => undefined });
  return {
    CodeLens: class {
      readonly range: unknown;
      readonly command: unknown;
      constructor(range: unknown, command: unknown) {
        this.range = range;
        this.command = command;
      }
    },
    DebugStackFrame: editor.DebugStackFrame,
    Disposable: { from: nothing },
    EventEmitter: class {
      readonly fire = nothing;
    },
    Range: class {
      readonly line: number;
      constructor(line: number) {
        this.line = line;
      }
    },
    debug: {
      get activeDebugSession() {
        return editor.session;
      },
      get activeStackItem() {
        return editor.active;
      },
      onDidChangeActiveDebugSession: nothing,
      onDidChangeActiveStackItem: nothing,
      onDidReceiveDebugSessionCustomEvent: (hear: typeof editor.forked) => {
        editor.forked = hear;
      },
    },
    languages: {
      registerCodeLensProvider: (_: unknown, provider: unknown) => {
        editor.provider = provider;
      },
    },
  };
});

editor.session = {
  type: 'rehearsal',
  customRequest: async (_: string, { frameId }: { frameId: number }) => {
    editor.asked.push(frameId);
    return { values: [{ line: editor.line, text: 'violated: it did not ask' }] };
  },
};

async function shown(version: number): Promise<unknown[]> {
  const uri = { fsPath: '/desk/policy.md', toString: () => 'file:///desk/policy.md' };
  const document = { uri, version, lineCount: 9, isDirty: true, getText: () => '' } as unknown as TextDocument;
  const lenses = await (editor.provider as CodeLensProvider).provideCodeLenses(document, {} as never);
  return (lenses ?? []).map(({ range, command }: CodeLens) => [range, command?.title]);
}

const at = (line: number) => [[{ line }, '$(error) violated: it did not ask']];
const before = (line: number) => [[{ line }, '$(history) violated at the last stop: it did not ask']];

beforeEach(() => {
  registerVerdictLenses();
  editor.asked = [];
  editor.line = 4;
  editor.active = new editor.DebugStackFrame();
});

test('while a rollout runs, verdicts are those of the last stop, and follow their rules when the text is edited', async () => {
  expect(await shown(1)).toEqual(at(3));
  editor.active = {};
  editor.line = 5;
  expect(await shown(1)).toEqual(before(3));
  expect(await shown(2)).toEqual(before(4));
  expect(editor.asked).toEqual([17, 17]);
});

test('a fork has none of the verdicts of its original, also where their answer comes late', async () => {
  const late = shown(1);
  editor.forked({ event: 'rehearsal/forked', session: editor.session });
  editor.active = {};
  expect(await late).toEqual([]);
  expect(await shown(1)).toEqual([]);
  editor.active = new editor.DebugStackFrame();
  expect(await shown(1)).toEqual(at(3));
});
