import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelServer } from '../support/modelServer.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalWith } from '../support/terminal.ts';

/** A language model of the editor can take a seat only if the editor lends it. */
const desk = 'domains/parcel-desk';
const scratch = temporaryFolder('rehearsal-editor-seat');

test('a command that the editor starts has its model in the seat, and the recording says that it was one', async () => {
  const { url, requests } = await modelServer(() => 'I can not do that.');
  const environment = { REHEARSAL_EDITOR_URL: url, REHEARSAL_EDITOR_TOKEN: 'token-of-the-editor' };
  const out = join(scratch, 'run');
  const { code } = await rehearsalWith(
    environment,
    ...['run', desk, 'reschedule-P46', '--agent', 'editor:gpt-4.1', '--out', out, '--turn-cap', '2', '--json'],
  );
  expect([code, requests[0]]).toMatchObject([0, { model: 'gpt-4.1' }]);
  const text = readFileSync(join(out, 'reschedule-P46.0.traj.jsonl'), 'utf8');
  expect(JSON.parse(text.split('\n')[0] ?? '').event.seats).toEqual({ agent: 'editor:gpt-4.1', user: 'agenda' });
  expect(text).not.toContain('token-of-the-editor');
});

test('nothing else can ask it', async () => {
  const { code, err } = await rehearsal('run', desk, 'reschedule-P46', '--agent', 'editor:gpt-4.1');
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(
      /"editor:gpt-4\.1" is a language model of the editor: only what is started in VS Code can ask/,
    ),
  ]);
});

test('a domain can not name it', async () => {
  const folder = join(scratch, 'desk');
  cpSync(desk, folder, { recursive: true });
  const file = join(folder, 'domain.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nuser: editor:gpt-4.1\n`);
  const { code, out } = await rehearsal('check', folder, '--static', '--json');
  expect([code, JSON.parse(out).diagnostics]).toMatchObject([
    1,
    [{ file, message: expect.stringMatching(/a language model of the editor, which only a person can choose/) }],
  ]);
});

test('no training is played with it', async () => {
  const environment = { REHEARSAL_EDITOR_URL: 'http://127.0.0.1:9/v1', REHEARSAL_EDITOR_TOKEN: 'token' };
  const { code, err } = await rehearsalWith(environment, 'train', 'grpo', desk, '--user', 'editor:gpt-4.1');
  expect([code, err]).toEqual([2, expect.stringMatching(/editor:gpt-4\.1 is a preview and can't play the user of a/)]);
});
