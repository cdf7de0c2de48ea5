import { expect, test, vi } from 'vitest';
import { registerReplyLens } from '../../../src/extension/debug/editReply.ts';

type Shown = { readonly start: number; readonly end: number };

const editor = vi.hoisted(() => {
  class Frame {
    readonly frameId = 17;
    readonly session: unknown;
    constructor(session: unknown) {
      this.session = session;
    }
  }
  return { Frame, listeners: [] as (() => void)[], item: undefined as unknown, shown: [] as Shown[] };
});

vi.mock('vscode', () => {
  const nothing = () => ({ dispose: () => undefined });
  return {
    CodeLens: class {},
    DebugStackFrame: editor.Frame,
    Disposable: { from: nothing },
    EventEmitter: class {
      readonly event = nothing;
      readonly fire = nothing;
    },
    Range: class {
      readonly start: number;
      readonly end: number;
      constructor(start: number, _: number, end: number) {
        this.start = start;
        this.end = end;
      }
    },
    debug: {
      get activeStackItem() {
        return editor.item;
      },
      onDidChangeActiveStackItem: (hear: () => void) => {
        editor.listeners.push(hear);
        return nothing();
      },
    },
    languages: { registerCodeLensProvider: nothing },
    window: {
      activeTextEditor: {
        document: { languageId: 'markdown', uri: { fsPath: '/desk/policy.md' } },
        revealRange: ({ start, end }: Shown) => editor.shown.push({ start, end }),
      },
    },
  };
});

/** Stops at a line of the policy, of a rule that begins at another one. */
function stopAt(line: number, rule: number): void {
  const answers: Readonly<Record<string, unknown>> = {
    stackTrace: { stackFrames: [{ id: 17, name: 'violated', line, source: { path: '/desk/policy.md' } }] },
    'rehearsal/reply': { reply: { line: rule } },
  };
  editor.item = new editor.Frame({ type: 'rehearsal', customRequest: async (name: string) => answers[name] });
  editor.shown = [];
  for (const hear of editor.listeners) hear();
}

test('a stop at the end of a rule shows the rule from the line above it, which leaves room for its lens', async () => {
  registerReplyLens();
  stopAt(18, 16);
  await vi.waitFor(() => expect(editor.shown).toEqual([{ start: 14, end: 17 }]));
});
