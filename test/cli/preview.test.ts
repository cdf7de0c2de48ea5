import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelServer } from '../support/modelServer.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const desk = 'domains/order-desk';
type Line = { readonly who: string; readonly text: string };
const preview = async (...argv: readonly string[]) => {
  const { code, out } = await rehearsal('preview', desk, ...argv, '--json');
  return { code, ...(JSON.parse(out) as { messages: Line[]; agent: string; task: string; user: string }) };
};
const said = (lines: readonly Line[], by: string) => lines.filter(({ who }) => who === by).map(({ text }) => text);

inFullSuite('a persona says its first messages, the same ones each time, and one that omits less', async () => {
  const shown = await preview('patient', '--task', 'mistaken-order');
  expect(shown).toMatchObject({ code: 0, agent: 'the gold seat', user: 'agenda', task: 'mistaken-order' });
  expect(said(shown.messages, 'user')[0]).toContain('W1014');
  expect(said(shown.messages, 'user').length).toBeLessThanOrEqual(3);
  expect(await preview('patient', '--task', 'mistaken-order')).toEqual(shown);
  const other = await preview('forgetful', '--task', 'mistaken-order');
  expect(said(other.messages, 'user')[0]).not.toContain('W1014');
  const one = await preview('patient', '--task', 'mistaken-order', '--messages', '1');
  expect(one.messages).toEqual(shown.messages.slice(0, 1));
});

inFullSuite('the agent says what it said in a recording', async () => {
  const out = temporaryFolder('preview');
  await rehearsal('run', desk, 'lamp-variant', '--out', out);
  const recording = join(out, 'lamp-variant.0.traj.jsonl');
  const shown = await preview('changeable', '--task', 'lamp-variant', '--recording', recording);
  expect(shown).toMatchObject({ code: 0, agent: 'as recorded' });
  const lines = said(shown.messages, 'agent');
  expect(lines.length).toBeGreaterThan(0);
  const printed = await rehearsal('replay', recording);
  for (const line of lines) expect(printed.out).toContain(line.slice(0, 40));
});

test('a recording of another domain is refused', async () => {
  const out = temporaryFolder('preview');
  const other = join(desk, '../parcel-desk');
  await rehearsal('run', other, 'reschedule-P46', '--out', out);
  const recording = join(out, 'reschedule-P46.0.traj.jsonl');
  const { code, err } = await rehearsal('preview', desk, 'patient', '--recording', recording);
  expect([code, err]).toEqual([
    2,
    expect.stringContaining('belongs to the domain parcel-desk, and the persona to order-desk'),
  ]);
});

inFullSuite(
  'the gold seat plays where the agent says nothing in the recording, as after a run that broke',
  async () => {
    const out = temporaryFolder('preview');
    await rehearsal('run', desk, 'lamp-variant', '--out', out);
    const broken = join(out, 'broken.0.traj.jsonl');
    const lines = readFileSync(join(out, 'lamp-variant.0.traj.jsonl'), 'utf8').split('\n');
    const end = lines.findIndex((line) => line.includes('"agentReplied"'));
    writeFileSync(broken, `${lines.slice(0, end).join('\n')}\n`);
    const argv = ['changeable', '--task', 'lamp-variant'];
    const shown = await preview(...argv, '--recording', broken);
    expect(shown).toMatchObject({ code: 0, agent: 'the gold seat' });
    expect(shown).toEqual(await preview(...argv));
  },
);

test('a model plays the persona, and gets its description', async () => {
  const server = await modelServer(() => 'Cancel it, would you?');
  const shown = await preview(
    'patient',
    '--task',
    'mistaken-order',
    '--messages',
    '1',
    '--user',
    `openai:small@${server.url}`,
  );
  expect(shown).toMatchObject({ code: 0, user: 'openai:small' });
  expect(said(shown.messages, 'user')).toEqual(['Cancel it, would you?']);
});

test.each([
  [['unknown'], /there is no persona unknown; .* has changeable, /],
  [['patient', '--task', 'none'], /there is no task "none"/],
  [['patient', '--user', 'human'], /a preview is played by agenda or openai:MODEL/],
  [['patient', '--messages', '0'], /--messages is a whole number above 0/],
])('preview %j is refused', async (argv, message) => {
  const { code, out } = await rehearsal('preview', desk, ...argv, '--json');
  expect(code).toBe(2);
  expect(JSON.parse(out).error.message).toMatch(message);
});
