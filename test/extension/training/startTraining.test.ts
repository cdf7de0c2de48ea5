import { expect, test, vi } from 'vitest';
import { startTraining } from '../../../src/extension/training/startTraining.ts';

const editor = vi.hoisted(() => ({ box: undefined as object | undefined }));

vi.mock('vscode', () => ({
  EventEmitter: class {},
  window: {
    showInputBox: async (box: object) => {
      editor.box = box;
    },
  },
  workspace: { isTrusted: true },
}));

test('the box for optimizer steps says which number is offered and which is enough to try training out', async () => {
  const given = { domain: '/work/desk', model: 'tiny', recordings: '/work/synth' };
  expect(await startTraining({} as never, 'sft', given, () => undefined)).toBeUndefined();
  expect(editor.box).toMatchObject({
    title: 'Optimizer steps of SFT',
    value: '40',
    prompt: expect.stringMatching(/default on a CPU.* 2 are enough/),
  });
});
