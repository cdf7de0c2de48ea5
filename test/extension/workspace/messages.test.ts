import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test, vi } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import * as messages from '../../../src/extension/workspace/messages.ts';

const editor = vi.hoisted(() => ({ said: [] as unknown[][], pressed: undefined as unknown, ran: [] as unknown[][] }));

vi.mock('vscode', () => {
  const show = async (...given: unknown[]) => {
    editor.said.push(given);
    return editor.pressed;
  };
  const executeCommand = async (...given: unknown[]) => void editor.ran.push(given);
  return {
    commands: { executeCommand },
    window: { showErrorMessage: show, showWarningMessage: show, showInformationMessage: show },
  };
});

// Invariant: no text of a domain, a model, a server or a recording is a link of a notification, which runs any command.

const hostile =
  '"[Update](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22id%5Cn%22%7D)" is not a tool';

const { offerCommand, ...shown } = messages;

test.each(Object.entries(shown))('%s shows no link', async (_, show) => {
  editor.said.length = 0;
  await show(hostile, 'Show Log');
  // Where VS Code finds a link in a notification: src/vs/base/common/linkedText.ts.
  const link = /\[[^\]]+\]\((?:https?:\/\/|command:|file:)/;
  expect(hostile).toMatch(link);
  expect(editor.said).toEqual([[expect.not.stringMatching(link), 'Show Log']]);
});

test.each([
  ['Export…', [['export', '/a']]],
  [undefined, []],
])('the button %j of a message runs %j', async (pressed, ran) => {
  Object.assign(editor, { pressed, ran: [] });
  await offerCommand('All are checked. Export them.', 'Export…', 'export', '/a');
  expect(editor.ran).toEqual(ran);
});

test('every message is shown by these functions', () => {
  const folder = inRoot('src', 'extension');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const direct = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => /window\.show(?:Error|Warning|Information)Message/.test(readFileSync(file, 'utf8')));
  expect(direct.map((file) => relative(folder, file))).toEqual([join('workspace', 'messages.ts')]);
});

/** Characters that fit into the box of a list with checkboxes, which VS Code does not widen. */
const hintSize = 65;

test('every hint fits into its box', () => {
  const folder = inRoot('src', 'extension');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const hints = files.flatMap(({ parentPath, name }) =>
    [...readFileSync(join(parentPath, name), 'utf8').matchAll(/placeHolder(?::| =)\s+'([^']+)'/g)].map(
      ([, hint = '']) => hint,
    ),
  );
  expect(hints.length).toBeGreaterThan(20);
  expect(hints.filter(({ length }) => length > hintSize)).toEqual([]);
});
