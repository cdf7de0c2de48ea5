import { expect, test, vi } from 'vitest';
import { withDebugged } from '../../../src/extension/panels/debuggedRecording.ts';
import { twoRecordings } from '../../webview/compared.ts';

const editor = vi.hoisted(() => ({ path: '', configuration: {} }));

vi.mock('vscode', () => ({
  debug: {
    get activeDebugSession() {
      const { path, configuration } = editor;
      return { type: 'rehearsal', configuration, customRequest: async () => ({ path, step: 3 }) };
    },
  },
}));

const [whole, other] = twoRecordings.recordings;
const open = { ...other, measure: { ...other.measure, endReason: 'cancelled' } };
const elsewhere = { ...open, path: '/runs/elsewhere/a.0.traj.jsonl' };

test.each([
  ['that the session writes', open, open.path, {}, true],
  ['that the session only shows', open, open.path, { recording: open.path }, false],
  ['that has ended', other, other.path, {}, false],
  ['of no session', elsewhere, open.path, {}, false],
])('a recording %s', async (_, recording, path, configuration, isRunning) => {
  Object.assign(editor, { path, configuration });
  const comparison = { ...twoRecordings, recordings: [whole, recording] as typeof twoRecordings.recordings };
  const answer = await withDebugged({ type: 'recordingsCompared', comparison });
  expect(answer).toMatchObject({ comparison: { recordings: [{ isRunning: false }, { isRunning }] } });
});
