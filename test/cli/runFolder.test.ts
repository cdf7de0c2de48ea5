import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { finishedRollouts, openLedger, signingKey } from '../../src/engine/shell/records/ledger.ts';
import { openSidecar, readSidecar, type SidecarLine } from '../../src/engine/shell/records/recording.ts';
import { runFileHash } from '../../src/engine/shell/records/runFile.ts';
import { approveAgent } from '../support/approval.ts';
import { withEmptyScripts } from '../support/sampleDomains.ts';
import { sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

/** Continuing, verifying and replaying report a run folder whose files are damaged or do not belong together. */
const root = temporaryFolder('rehearsal-run-folder');
let folders = 0;
const fresh = () => join(root, String(++folders));
const whole = fresh();
const desk = withEmptyScripts('mistaken-order');
const recording = 'lamp-variant.0.traj.jsonl';

beforeAll(async () => {
  const seats = ['--agent', 'scripted', '--out', whole];
  expect(await rehearsal('run', desk, 'lamp-variant', ...seats)).toMatchObject({ code: 0 });
});

/** Copies the run, with some files changed, or removed if the text is null. */
function copied(changes: Readonly<Record<string, string | null>> = {}): string {
  const folder = fresh();
  cpSync(whole, folder, { recursive: true });
  for (const [name, text] of Object.entries(changes))
    if (text === null) rmSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  return folder;
}

const contents = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]);

/** Expects a refusal in one sentence, and an unchanged folder. */
async function expectRefused(folder: string, argv: readonly string[], message: string): Promise<void> {
  const before = contents(folder);
  const { code, out, err } = await rehearsal(...argv, '--out', folder);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(message);
  expect(err.trim().split('\n')).toHaveLength(1);
  expect(contents(folder)).toEqual(before);
}

const commands: readonly (readonly [string, (domain: string, task: string) => readonly string[]])[] = [
  ['run', (domain, task) => ['run', domain, task]],
  ['eval', (domain, task) => ['eval', domain, '--tasks', task]],
];

test('a custom agent whose program has changed since is refused', async () => {
  const [folder, out] = [temporaryFolder('own-agent'), fresh()];
  const [file, program] = [join(folder, 'own.agent.yaml'), join(folder, 'own.mjs')];
  writeFileSync(file, 'command: node\nargs: [own.mjs]\n');
  writeFileSync(program, `process.stdin.on('data', () => console.log('{"content": "Hello."}'));\n`);
  const command = ['run', desk, 'lamp-variant', '--agent', `agent:${approveAgent(file)}`, '--turn-cap', '1'];
  expect((await rehearsal(...command, '--out', out)).code).toBe(0);
  appendFileSync(program, '// edited\n');
  const message = 'agent:own has changed since (its file, or a program file that it names)';
  await expectRefused(out, command, `${out} holds another run: ${message}`);
  approveAgent(file);
  const other = fresh();
  expect((await rehearsal(...command, '--out', other)).code).toBe(0);
  expect((await rehearsal('compare', out, other)).out).toContain(
    'differs in the file of agent:own, or a program file that it names',
  );
});

test('the turn cap of a run that an older version wrote is the one of its recordings', async () => {
  const file = JSON.parse(readFileSync(join(whole, 'run.json'), 'utf8')) as object;
  const folder = copied({ 'run.json': JSON.stringify({ ...file, turnCap: undefined }) });
  const command = ['eval', desk, '--tasks', 'lamp-variant', '--agent', 'scripted'];
  const message = `${folder} holds another run: its turn cap is 30, now it would be 5`;
  await expectRefused(folder, [...command, '--turn-cap', '5'], message);
  expect((await rehearsal(...command, '--out', folder)).code).toBe(0);
});

describe.each(sampled(commands, 3))('%s', (_name, argv) => {
  const again = [...argv(desk, 'lamp-variant'), '--agent', 'scripted'];

  test.each([
    [argv(desk, 'lamp-variant'), ['--agent', 'gold'], "its agent's seat is scripted, now it would be gold"],
    [argv(desk, 'lamp-variant'), ['--agent', 'scripted', '--seed', '2'], 'its seed is 1, now it would be 2'],
    [argv(desk, 'lamp-variant'), ['--agent', 'scripted', '--turn-cap', '5'], 'its turn cap is 30, now it would be 5'],
    [
      argv('domains/parcel-desk', 'redirect-P30'),
      ['--agent', 'scripted'],
      'its domain is order-desk, now it would be parcel-desk',
    ],
  ])('%j %j in the folder of another run', async (command, options, message) => {
    const folder = copied();
    await expectRefused(folder, [...command, ...options], `${folder} holds another run: ${message}`);
    expect(await rehearsal('verify', folder)).toMatchObject({ code: 0, out: '1 recording verified\n' });
  });

  test.each([
    ['tools.ts', '\n// edited\n', 'a file of the domain has changed since'],
    ['policy.md', '\nBe brief.\n', 'the policy has changed since'],
  ])('a changed %s', async (name, added, message) => {
    const [domain, folder] = [withEmptyScripts('mistaken-order'), copied()];
    appendFileSync(join(domain, name), added);
    const command = [...argv(domain, 'lamp-variant'), '--agent', 'scripted'];
    await expectRefused(folder, command, `${folder} holds another run: ${message}`);
  });

  test('resumes with more tasks', async () => {
    const folder = copied();
    const more = await rehearsal(...argv(desk, 'mistaken-order'), '--agent', 'scripted', '--out', folder);
    expect(more.code).toBe(0);
    expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))).toMatchObject({
      tasks: ['lamp-variant', 'mistaken-order'],
    });
    expect(await rehearsal('verify', folder)).toMatchObject({ code: 0, out: '2 recordings verified\n' });
  });

  const advice = 'so it is unknown which run this is. Choose another --out, or put that file back as it was';
  const unreadable: readonly (readonly [string, Readonly<Record<string, string | null>>, string])[] = [
    ['a run.json that is not JSON', { 'run.json': '{\n  "seed" "1"\n}\n' }, `/run.json:2: is not JSON, ${advice}`],
    ['an empty run.json', { 'run.json': '' }, `/run.json:1: is not JSON, ${advice}`],
    [
      'a run.json of something else',
      { 'run.json': '{"seed": 1}\n' },
      '/run.json:1: is not a description of a run (domain: Invalid input: expected string, received undefined), so it is unknown',
    ],
    [
      'a recording alone',
      { 'run.json': null, 'ledger.jsonl': null },
      `/run.json is missing although ${recording} is there, ${advice}`,
    ],
    ['no run.json', { 'run.json': null }, `/run.json is missing although ${recording} is there, ${advice}`],
    [
      'a ledger with a line that is not a receipt',
      { 'ledger.jsonl': 'garbage\n' },
      '/ledger.jsonl:1: is not a receipt, so it is unknown which rollouts are finished. Choose another --out',
    ],
  ];
  test.each(unreadable)('%s', async (_what, changes, message) => {
    const folder = copied(changes);
    await expectRefused(folder, again, `${folder}${message}`);
  });

  test('a folder where the ledger should be', async () => {
    const folder = copied({ 'ledger.jsonl': null });
    mkdirSync(join(folder, 'ledger.jsonl'));
    const { code, out, err } = await rehearsal(...again, '--out', folder);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('/ledger.jsonl: is a folder, but a file is expected here. Name a file');
  });

  test('a ledger and nothing else', async () => {
    const folder = fresh();
    mkdirSync(folder);
    writeFileSync(join(folder, 'ledger.jsonl'), 'garbage\n');
    await expectRefused(folder, again, `${folder}/run.json is missing although ledger.jsonl is there, ${advice}`);
  });

  test('a folder with other files is refused', async () => {
    const folder = fresh();
    mkdirSync(folder);
    writeFileSync(join(folder, 'notes.md'), 'Monday\n');
    await expectRefused(
      folder,
      again,
      `${folder} is not empty, and does not contain a run to continue: it has notes.md`,
    );
  });
});

describe('verify', () => {
  test.each([
    ['seed', '2', 'the seed is 1, run.json says 2'],
    ['agent', 'gold', "the agent's seat is scripted, run.json says gold"],
    ['user', 'scripted', "the user's seat is agenda, run.json says scripted"],
    ['basis', 'train', 'the basis is evaluate, run.json says train'],
    ['turnCap', 5, 'the turn cap is 30, run.json says 5'],
    ['domain', 'parcel-desk', 'the domain is order-desk, run.json says parcel-desk'],
    ['policyHash', 'abc', 'run.json says abc'],
  ])('a run.json with another %s, signed again, does not match its recordings', async (name, value, message) => {
    const file = JSON.parse(readFileSync(join(whole, 'run.json'), 'utf8')) as object;
    const folder = copied({ 'run.json': JSON.stringify({ ...file, [name]: value }) });
    openLedger(join(folder, 'ledger.jsonl'), signingKey()).vouchFor({ hash: runFileHash(folder) ?? '' });
    const { code, out } = await rehearsal('verify', folder);
    expect(code).toBe(1);
    expect(out.split('\n')[0]).toContain(`${join(folder, recording)}:1: rolloutStarted says that the `);
    expect(out.split('\n')[0]).toContain(message);
    expect(out.split('\n')[1]).toBe('1 problem in 1 recording');
  });

  test('a run that was left with its first rollout is incomplete, and whole once it is resumed', async () => {
    const folder = fresh();
    const more = ['--agent', 'gold', '--tasks', 'lamp-variant', '--trials', '3', '--out', folder];
    expect((await rehearsal('eval', desk, ...more)).code).toBe(0);
    const ledger = join(folder, 'ledger.jsonl');
    const lines = readFileSync(ledger, 'utf8').split('\n');
    writeFileSync(ledger, `${lines.slice(0, 2).join('\n')}\n`);
    const [kept] = /lamp-variant\.\d/.exec(lines[1] ?? '') ?? [];
    const lost = [0, 1, 2].map((trial) => `lamp-variant.${trial}`).filter((name) => name !== kept);
    for (const name of lost) for (const ending of ['traj', 'sidecar']) rmSync(join(folder, `${name}.${ending}.jsonl`));
    const advice =
      'The run is not finished, or its last receipts were removed. Repeat the command that made it, with --out';
    expect(await rehearsal('verify', folder)).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        `${lost.map((name) => `  ${name}\n`).join('')}incomplete: 1 of 3 rollouts are there. ${advice}\n`,
      ),
    });
    expect(JSON.parse((await rehearsal('verify', folder, '--json')).out)).toMatchObject({
      planned: 3,
      missing: lost,
      finished: false,
    });
    expect((await rehearsal('eval', desk, ...more)).code).toBe(0);
    expect(await rehearsal('verify', folder)).toMatchObject({
      code: 0,
      out: expect.stringContaining('3 recordings verified\n'),
    });
  });

  test('a finished run whose recordings are gone was not interrupted', async () => {
    const folder = copied({ [recording]: null, 'lamp-variant.0.sidecar.jsonl': null });
    const { code, out } = await rehearsal('verify', folder);
    expect(code).toBe(1);
    expect(out).toContain('incomplete: 0 of 1 rollouts are there. The run was finished, so the others were removed\n');
  });

  test('--run names the run that it should be', async () => {
    const { id } = JSON.parse(readFileSync(join(whole, 'run.json'), 'utf8')) as { id: string };
    expect(await rehearsal('verify', whole, '--run', id)).toMatchObject({ code: 0 });
    expect(await rehearsal('verify', whole, '--run', 'another')).toMatchObject({
      code: 1,
      out: `${whole}/run.json:1: is of the run ${id}, not of another\n1 problem in 1 recording\n`,
    });
  });

  test('a run of a version that promised no rollouts is verified, and says so', async () => {
    const file = JSON.parse(readFileSync(join(whole, 'run.json'), 'utf8')) as object;
    const folder = copied({ 'run.json': JSON.stringify({ ...file, id: undefined, planned: undefined }) });
    // Earlier receipts and sidecars did not name a run either.
    const path = join(folder, recording.replace('traj', 'sidecar'));
    const sidecar = openSidecar(`${path}.old`);
    const [first, ...rest] = readSidecar(path).lines;
    for (const line of first ? [{ ...first, run: undefined }, ...rest] : []) sidecar.append(line as SidecarLine);
    sidecar.close();
    renameSync(`${path}.old`, path);
    const ledger = join(folder, 'ledger.jsonl');
    const receipts = finishedRollouts(ledger);
    rmSync(ledger);
    const signed = openLedger(ledger, signingKey());
    signed.vouchFor({ hash: runFileHash(folder) ?? '' });
    for (const { run: _, ...receipt } of receipts) signed.receive({ ...receipt, sidecarChain: sidecar.head() });
    const old = 'this run was made by a version that planned no rollouts, so missing rollouts cannot be detected\n';
    expect(await rehearsal('verify', folder)).toMatchObject({ code: 0, out: `${old}1 recording verified\n` });
    expect(
      (
        await rehearsal(
          'eval',
          desk,
          '--tasks',
          'lamp-variant',
          '--agent',
          'scripted',
          '--trials',
          '2',
          '--out',
          folder,
        )
      ).code,
    ).toBe(0);
    expect(await rehearsal('verify', folder)).toMatchObject({ code: 0, out: `${old}2 recordings verified\n` });
  });

  test('an invalid run.json is a problem, also if the ledger has its hash', async () => {
    const folder = copied({ 'run.json': '{' });
    openLedger(join(folder, 'ledger.jsonl'), signingKey()).vouchFor({ hash: runFileHash(folder) ?? '' });
    expect(await rehearsal('verify', folder)).toMatchObject({
      code: 1,
      out: expect.stringContaining(`${folder}/run.json:1: has a valid receipt but does not describe a run\n`),
    });
  });

  test('a run that was graded again agrees with its own run.json', async () => {
    const folder = fresh();
    expect(await rehearsal('regrade', whole, '--out', folder)).toMatchObject({ code: 0 });
    expect(await rehearsal('verify', folder)).toMatchObject({ code: 0, out: '1 recording verified\n' });
  });
});

describe('report', () => {
  test.each([
    [{ 'run.json': '{' }, '/run.json:1: is not JSON'],
    [{ 'run.json': null }, '/run.json is missing'],
  ])('%j', async (changes, message) => {
    const folder = copied(changes);
    expect(await rehearsal('report', folder)).toMatchObject({
      code: 2,
      err: `rehearsal report: ${folder} is not the folder of a run, which contains run.json: ${folder}${message}\n`,
    });
  });
});

describe('replay', () => {
  test.each([
    ['that is empty', '', 'a recording begins with rolloutStarted'],
    ['that is not JSON', 'random\n', 'is not JSON: the recording was cut short here, or is not a recording'],
    ['that is something else', '{}\n', 'is not an event of a recording (n: Invalid input'],
  ])('a recording %s is named with its line, with a domain or without', async (_name, content, message) => {
    const path = `${fresh()}.traj.jsonl`;
    writeFileSync(path, content);
    for (const domain of [[], ['--domain', desk], ['--domain', root]]) {
      const { code, out, err } = await rehearsal('replay', path, ...domain);
      expect({ code, err }).toEqual({ code: 1, err: '' });
      expect(out).toContain(`${path}:1: ${message}`);
    }
  });

  const asks = 'which domain was it recorded in?';
  const advice = 'Name its folder with --domain FOLDER';
  test.each([
    [{ 'run.json': null }, '/run.json is missing'],
    [{ 'run.json': '{' }, '/run.json:1: is not JSON'],
    [{ 'run.json': '{"folder": "/gone"}' }, '/run.json:1: is not a description of a run (domain: Invalid input'],
  ])('%j beside a whole recording', async (changes, why) => {
    const folder = copied(changes);
    const path = join(folder, recording);
    const { code, out, err } = await rehearsal('replay', path);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`rehearsal replay: ${path}: ${asks} ${folder}${why}`);
    expect(err).toContain(advice);
  });

  test('a whole recording without run.json is replayed where its domain is named', async () => {
    const path = join(copied({ 'run.json': null }), recording);
    expect(await rehearsal('replay', path, '--quiet', '--domain', desk)).toMatchObject({ code: 0 });
  });

  test('a run.json that names a folder which is gone', async () => {
    const file = JSON.parse(readFileSync(join(whole, 'run.json'), 'utf8')) as object;
    const folder = copied({ 'run.json': JSON.stringify({ ...file, folder: '/gone/desk' }) });
    const path = join(folder, recording);
    expect(await rehearsal('replay', path)).toMatchObject({
      code: 2,
      err: `rehearsal replay: ${path}: ${asks} ${folder}/run.json names the folder /gone/desk, which does not exist. ${advice}\n`,
    });
  });

  test('a recording that is cut short says so before its run.json is missed', async () => {
    const [first = ''] = readFileSync(join(whole, recording), 'utf8').split('\n');
    const folder = copied({ 'run.json': null, [recording]: `${first}\n{"n": 1` });
    const { code, out } = await rehearsal('replay', join(folder, recording));
    expect({ code, out }).toEqual({
      code: 1,
      out: `${join(folder, recording)}:2: has no end: the file was cut short here\n`,
    });
  });

  test('a folder in place of a recording is refused', async () => {
    expect(await rehearsal('replay', whole)).toMatchObject({
      code: 2,
      err: `rehearsal replay: ${whole} is a folder, and replay takes one recording: for example ${join(whole, recording)}\n`,
    });
    expect(await rehearsal('replay', desk)).toMatchObject({
      code: 2,
      err: `rehearsal replay: ${desk} is a folder, and replay takes one recording: a file that ends in .traj.jsonl\n`,
    });
  });
});
