import { expect, test, vi } from 'vitest';
import { fixesTitle } from '../../../src/extension/language/quickFixes.ts';

vi.mock('vscode', () => ({
  CodeAction: class {},
  CodeActionKind: { SourceFixAll: { append: () => ({}) } },
  DiagnosticSeverity: {},
}));

test.each([
  [2, 2, 'file', 'Fix all 2 problems in this file'],
  [2, 3, 'file', 'Fix 2 of 3 problems in this file'],
  [4, 9, 'domain', 'Fix 4 of 9 problems of the domain'],
] as const)(
  'the offer of %d fixes for %d problems names both numbers where they differ',
  (fixes, problems, of, title) => {
    expect(fixesTitle(fixes, problems, of)).toBe(title);
  },
);
