import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, describe, expect, test } from 'vitest';
import { rehearsal } from '../../support/terminal.ts';
import { domain, policy, ruleLine, type Session, session, text } from './harness.ts';

/** The file of the domain is deleted or broken while a rollout is paused. */
const file = join(domain, 'domain.yaml');
const files = [file, policy];
const originals = new Map(files.map((each) => [each, readFileSync(each, 'utf8')]));
const restore = () => {
  for (const [each, original] of originals) writeFileSync(each, original);
};
afterEach(restore);

const broken: readonly (readonly [string, () => void, RegExp, RegExp])[] = [
  [
    'deleted',
    () => rmSync(file),
    /domain\.yaml:1:1 error domain\/file-missing /,
    /^The file domain\.yaml does not exist/,
  ],
  ['not YAML', () => writeFileSync(file, 'name: [order-desk\n'), /domain\.yaml:\d+:\d+ error /, /^This is not YAML/],
  ['without a name', () => writeFileSync(file, 'turnCap: 6\n'), /domain\.yaml:1:1 error /, /^name is missing\./],
];

const atRule = () => ({ breakpoints: { [policy]: ruleLine() } });
const breakpointEvents = ({ client }: Session) => client.events.filter(({ event }) => event === 'breakpoint');

describe.each(broken)('a domain.yaml that is %s while paused', (_what, breakIt, error, inDialog) => {
  test('is named as changed, and the rollout continues with what it started with', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, atRule());
    const here = await run.top();
    breakIt();
    const { body } = await run.client.request<{ files: readonly { file: string }[] }>('rehearsal/changes');
    expect(body.files).toMatchObject([{ file }]);
    await run.shows(/domain\.yaml changed since step \d+; the rollout continues with the files that it started with/);
    expect(await run.top()).toBe(here);
    expect(breakpointEvents(run)).toEqual([]);
    await run.step('stepBack');
    expect(text(await run.step('continue'))).toMatch(/^rule confirm-before-write violated/);
    writeFileSync(policy, (originals.get(policy) ?? '').replace('- Before any call', '\n\n- Before any call'));
    await run.client.request('rehearsal/changes');
    expect(await run.top()).toContain(`policy.md:${ruleLine()} `);
    expect(await run.finish()).toMatch(/^reward 0/);
    expect(run.recordings()).toHaveLength(1);
  });

  test('refuses a fork with changed files and names its place, and lets other forks be made', async () => {
    const run = session();
    await run.begin({ task: 'lamp-variant' }, atRule());
    const here = await run.top();
    breakIt();
    const refusal = await run.type('/swap');
    expect(refusal).toMatch(error);
    expect(await run.top()).toBe(here);
    expect(run.recordings()).toHaveLength(1);
    const value = 'Shall I change the desk lamp in W1138 to white?';
    expect(await run.rewrite(value)).toBe('forked: continues from the edited message');
    expect(text(await run.client.stop(() => run.type('/fork')))).toMatch(/^forked: continues from step/);
    expect(run.recordings()).toHaveLength(3);
    restore();
    expect(await run.finish()).toMatch(/^reward/);
    expect((await rehearsal('verify', join(run.recordings()[2] ?? '', '..'))).out).not.toMatch(/is not the one/);
  });

  test('lets an opened recording be forked, and is named where one is opened', async () => {
    const live = session();
    await live.begin({ task: 'lamp-variant', noDebug: true });
    const [recording = ''] = live.recordings();
    const run = session();
    await run.open({ recording, domain }, atRule());
    breakIt();
    await run.client.stop(() => run.client.request('configurationDone'));
    await run.step('continue');
    expect(text(await run.client.stop(() => run.type('/fork')))).toMatch(/^forked: continues from step/);
    expect(await run.finish()).toMatch(/^reward/);
    expect(live.recordings()).toHaveLength(2);
    const { opening } = await session().open({ recording, domain });
    const { body } = (await opening) as { body: { error: DebugProtocol.Message } };
    expect(body.error.format).toMatch(inDialog);
    expect(body.error.format).toMatch(/ \(order-desk\/domain\.yaml, line \d+\)$/);
  });
});

test('a domain.yaml that names another domain refuses a fork with changed files, and names its line and the way back', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  writeFileSync(file, (originals.get(file) ?? '').replace('name: order-desk', 'name: another-desk'));
  expect(await run.type('/swap')).toMatch(
    /^refused: the rollout was recorded in the domain "order-desk", and .*domain\.yaml:\d+ names "another-desk"\. Write "name: order-desk" there/,
  );
  expect(run.recordings()).toHaveLength(1);
});

test('a syntax error in tools.ts refuses the session with a button that opens its line', async () => {
  const tools = join(domain, 'tools.ts');
  const original = readFileSync(tools, 'utf8');
  const lines = original.split('\n');
  try {
    writeFileSync(tools, [...lines.slice(0, 82), 'expot const x = ;', ...lines.slice(83)].join('\n'));
    const { opening } = await session().open({ task: 'lamp-variant' }, { client: { clientID: 'vscode' } });
    const { body } = (await opening) as { body: { error: DebugProtocol.Message } };
    expect(body.error).toMatchObject({
      format: expect.stringMatching(/^tools\.ts:83:7: /),
      urlLabel: 'Open tools.ts, Line 83',
    });
  } finally {
    writeFileSync(tools, original);
  }
});
