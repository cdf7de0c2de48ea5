import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import type * as vscode from 'vscode';
import type { Diagnostic } from '../../../src/engine/shell/files/diagnostic.ts';
import { draftActions } from '../../../src/extension/authoring/acceptDraft.ts';
import { openFindings, showRead } from '../../../src/extension/language/findings.ts';
import { temporaryFolder } from '../../support/temporary.ts';

type Entries = readonly (readonly [vscode.Uri, readonly vscode.Diagnostic[]])[];
const problems = vi.hoisted(() => ({ shown: [] as unknown }));

vi.mock('vscode', () => ({
  CodeAction: class {
    readonly title: string;
    constructor(title: string) {
      this.title = title;
    }
  },
  CodeActionKind: { QuickFix: {} },
  Diagnostic: class {
    readonly range: object;
    readonly message: string;
    constructor(range: object, message: string) {
      this.range = range;
      this.message = message;
    }
  },
  DiagnosticSeverity: {},
  Disposable: { from: () => ({}) },
  EventEmitter: class {},
  Range: class {
    readonly start: object;
    constructor(line: number, character: number) {
      this.start = { line, character };
    }
  },
  Uri: { file: (fsPath: string) => ({ fsPath }) },
  languages: {
    createDiagnosticCollection: () => ({
      forEach: () => {},
      set: (entries: unknown) => {
        problems.shown = entries;
      },
    }),
  },
}));

const folder = temporaryFolder('accept');
writeFileSync(join(folder, 'domain.yaml'), 'name: desk\n');
const file = join(folder, 'tasks', 'drill.task.yaml');
const mark = (part: Partial<Diagnostic>): Diagnostic => ({
  file,
  line: 3,
  column: 3,
  endLine: 3,
  endColumn: 8,
  code: 'task/draft',
  severity: 'info',
  message: 'Whatever it says.',
  ...part,
});

/**
 * Returns the code actions at findings. The diagnostics are those of Problems, or copies of them as the editor may
 * pass.
 */
async function offered(found: readonly Diagnostic[], areCopies = false) {
  showRead(folder, found);
  const [[uri, diagnostics] = [undefined, []]] = problems.shown as Entries;
  const given = areCopies ? diagnostics.map((each) => ({ ...each })) : diagnostics;
  const actions = await draftActions.provideCodeActions(
    { uri } as never,
    {} as never,
    { diagnostics: given } as never,
    {} as never,
  );
  return (actions ?? []).map((action) => (action as vscode.CodeAction).command?.arguments);
}

beforeEach(() => void openFindings());

test.each([false, true])('the light bulb accepts the draft that a finding is about, copied: %s', async (areCopies) => {
  const found = [mark({ about: 'drill: again' }), mark({ code: 'persona/draft', line: 9, about: 'shy' })];
  expect(await offered(found, areCopies)).toEqual([[{ folder, id: 'drill: again' }], [{ folder, id: 'shy' }]]);
});

test('it reads no id out of the words, and offers nothing at other findings', async () => {
  const message = 'The task drill is a draft: runs, splits and coverage ignore it.';
  expect(await offered([mark({ message }), mark({ code: 'task/todo', line: 5, about: 'drill' })])).toEqual([]);
});
