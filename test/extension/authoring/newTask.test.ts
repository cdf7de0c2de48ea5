import { expect, test, vi } from 'vitest';
import { madeText } from '../../../src/extension/authoring/newTask.ts';

vi.mock('vscode', () => ({ EventEmitter: class {}, TreeItem: class {}, window: {}, workspace: {} }));

const drafts = (count: number, kind: 'task' | 'persona') =>
  Array.from({ length: count }, (_, at) => {
    const id = `draft-${at}`;
    return { kind, id, file: `${id}.yaml`, passes: true, undecided: null, findings: [] };
  });

test.each([
  [1, 'persona', 'Drafted 1 persona. Review it, and accept it if it is correct.'],
  [2, 'task', 'Drafted 2 tasks. Review them, and accept the correct ones.'],
] as const)('the message about %d drafts of a %s has the right number', (count, kind, text) => {
  expect(madeText(drafts(count, kind))).toBe(text);
});
