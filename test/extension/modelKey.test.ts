import { expect, test, vi } from 'vitest';
import { setKey } from '../../src/extension/modelKey.ts';

type Box = { readonly title: string; readonly prompt: string };

const editor = vi.hoisted(() => ({ baseUrl: '', box: undefined as Box | undefined }));

vi.mock('vscode', () => ({
  EventEmitter: class {},
  window: {
    showInputBox: async (box: Box) => {
      editor.box = box;
    },
  },
  workspace: { getConfiguration: () => ({ get: () => editor.baseUrl }) },
}));

test.each([
  ['http://127.0.0.1:8000/v1', /^Key of http:\/\/127\.0\.0\.1:8000\/v1$/, /rehearsal\.model\.baseUrl/],
  ['', /^Key of the model endpoint$/, /^No base URL is set\./],
])('with the base URL "%s", the box for the key names its endpoint', async (baseUrl, title, prompt) => {
  editor.baseUrl = baseUrl;
  expect(await setKey({} as never)).toBe(false);
  expect(editor.box).toMatchObject({ title: expect.stringMatching(title), prompt: expect.stringMatching(prompt) });
});
