import { expect, test, vi } from 'vitest';
import { resumeTraining, startTraining } from '../../../src/extension/training/startTraining.ts';

const editor = vi.hoisted(() => ({
  box: undefined as object | undefined,
  said: [] as unknown[][],
  ran: [] as unknown[],
}));

vi.mock('vscode', () => ({
  EventEmitter: class {},
  commands: { executeCommand: async (command: string) => void editor.ran.push(command) },
  window: {
    showInputBox: async (box: object) => {
      editor.box = box;
    },
    showInformationMessage: async (...said: unknown[]) => {
      editor.said.push(said);
      return said.at(-1);
    },
  },
  workspace: { isTrusted: true, workspaceFolders: [], textDocuments: [] },
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

test('where no run can be resumed, the message offers to start one', async () => {
  expect(await resumeTraining({} as never)).toBeUndefined();
  expect(editor.said).toEqual([[expect.stringMatching(/none has ended .* Start one\.$/), 'Train with GRPO…']]);
  await vi.waitFor(() => expect(editor.ran).toEqual(['rehearsal.training.grpo']));
});
