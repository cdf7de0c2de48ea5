import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { approveDomain } from '../support/approval.ts';
import { modelServer } from '../support/modelServer.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const scratch = temporaryFolder('personas');
const desk = (name: string, user?: string): string => {
  const folder = join(scratch, name);
  cpSync('domains/parcel-desk', folder, { recursive: true });
  if (user === undefined) return folder;
  const file = join(folder, 'domain.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nuser: ${user}\n`);
  return folder;
};
const one = ['--tasks', 'reschedule-P46', '--agent', 'gold', '--json'];

test('personas lists what each does, and adds the red team once', async () => {
  const folder = desk('listed');
  const before = await rehearsal('personas', folder);
  expect(before).toMatchObject({ code: 0, out: 'brief: no difficult behavior\nfickle: changes\nvague: omits\n' });
  const added = await rehearsal('personas', folder, '--add', 'red-team');
  expect(added.code).toBe(0);
  expect(added.out).toMatch(/wrote .*personas\/red-team\.persona\.yaml: red-team-other-customer, /);
  expect((await rehearsal('personas', folder)).out).toContain('red-team-urgency: attacks: Call it an emergency');
  expect(await rehearsal('personas', folder, '--add', 'red-team')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/red-team can't be added: .* already exists/),
  });
  expect(await rehearsal('personas', folder, '--add', 'blue-team')).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no pack "blue-team"; there is red-team'),
  });
  expect((await rehearsal('check', folder)).out).toMatch(/no findings/);
});

test('eval runs tasks under personas, and the report has the safety layer', async () => {
  const folder = desk('under');
  const missing = await rehearsal('eval', folder, ...one, '--under', 'red-team-*');
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.out).toMatch(
    /has no persona red-team-\*\. Add the red team with: npx rehearsal personas .* --add red-team/,
  );
  await rehearsal('personas', folder, '--add', 'red-team');
  const out = join(scratch, 'under-run');
  const run = await rehearsal('eval', folder, ...one, '--under', 'red-team-*,vague', '--out', out);
  expect(run.code).toBe(0);
  const { results, summary } = JSON.parse(run.out);
  expect(results.map(({ task }: { task: string }) => task)).toContain('reschedule-P46@red-team-urgency');
  expect(results).toHaveLength(12);
  const safety = summary.card.find(({ layer }: { layer: string }) => layer === 'safety');
  expect(safety.violated).toBe(0);
  expect(safety.held).toBeGreaterThanOrEqual(7);
  expect((await rehearsal('verify', out)).code).toBe(0);
  const again = await rehearsal('run', folder, 'reschedule-P46@red-team-urgency', '--agent', 'gold', '--json');
  expect(JSON.parse(again.out)).toMatchObject({ task: 'reschedule-P46@red-team-urgency', reward: 1 });
});

inFullSuite('each purpose has its own user, and run.json says which', async () => {
  const words = ['Can P46 come on Tuesday?', 'Yes, please.', '###STOP###'];
  const { url } = await modelServer(
    ({ messages }) => words[messages.filter(({ role }) => role === 'assistant').length] ?? '###STOP###',
  );
  const folder = approveDomain(desk('purposes', `{ train: agenda, evaluate: "openai:m@${url}" }`));
  for (const [basis, user] of [
    ['evaluate', 'openai:m'],
    ['train', 'agenda'],
  ] as const) {
    const out = join(scratch, `purpose-${basis}`);
    const run = await rehearsal('eval', folder, ...one, '--basis', basis, '--out', out);
    expect([run.code, run.err]).toEqual([0, expect.not.stringContaining('warning')]);
    expect(JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'))).toMatchObject({
      user,
      basis,
      simulators: { train: 'agenda', evaluate: 'openai:m' },
    });
  }
});

test('the same model for both purposes is warned of by check and by eval', async () => {
  const { url } = await modelServer(() => '###STOP###');
  const seat = `"openai:m@${url}"`;
  for (const [name, user, place] of [
    ['same', `{ train: ${seat}, evaluate: ${seat} }`, /domain\.yaml:\d+:\d+.*domain\/same-simulator/s],
    ['single', seat, /domain\.yaml:\d+:\d+.*domain\/same-simulator/s],
  ] as const) {
    const folder = desk(name, user);
    const checked = await rehearsal('check', folder, '--static');
    expect(checked.code).toBe(0);
    expect(checked.out).toMatch(place);
    const run = await rehearsal('eval', folder, ...one, '--out', join(scratch, `${name}-run`));
    expect(run.err).toContain('warning: openai:m plays the user here and in training');
  }
});
