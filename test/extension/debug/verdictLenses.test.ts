import { expect, test, vi } from 'vitest';
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
    EventEmitter: class {},
    Range: class {
      readonly line: number;
      constructor(line: number) {
        this.line = line;
      }
    },
    debug: {
      activeDebugSession: {
        type: 'rehearsal',
        customRequest: async (_: string, { frameId }: { frameId: number }) => {
          editor.asked.push(frameId);
          return { values: [{ line: editor.line, text: 'violated: it did not ask' }] };
        },
      },
      get activeStackItem() {
        return editor.active;
      },
      onDidChangeActiveDebugSession: nothing,
      onDidChangeActiveStackItem: nothing,
    },
    languages: {
      registerCodeLensProvider: (_: unknown, provider: unknown) => {
        editor.provider = provider;
      },
    },
  };
});

test('while a rollout runs, verdicts stay as they are, and follow their rules when the text is edited', async () => {
  registerVerdictLenses();
  const uri = { fsPath: '/desk/policy.md', toString: () => 'file:///desk/policy.md' };
  const shown = async (version: number) => {
    const document = { uri, version, lineCount: 9, isDirty: true, getText: () => '' } as unknown as TextDocument;
    const lenses = await (editor.provider as CodeLensProvider).provideCodeLenses(document, {} as never);
    return (lenses ?? []).map(({ range, command }: CodeLens) => [range, command?.title]);
  };
  const at = (line: number) => [[{ line }, '$(error) violated: it did not ask']];
  editor.active = new editor.DebugStackFrame();
  expect(await shown(1)).toEqual(at(3));
  editor.active = {};
  editor.line = 5;
  expect(await shown(1)).toEqual(at(3));
  expect(await shown(2)).toEqual(at(4));
  expect(editor.asked).toEqual([17, 17]);
});
