import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomStream } from '../../src/engine/core/values/random.ts';
import { readMetrics } from '../../src/extension/training/metricsFile.ts';
import { hashOf } from '../support/approval.ts';
import { commandLine } from '../support/commandLine.ts';
import { linesOf } from '../support/jsonLines.ts';
import { type SshServer, startSshServer } from '../support/sshServer.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const secret = 'hf-no-file-and-no-argument-holds-this';
const scratch = temporaryFolder('rehearsal-targets');
let server: SshServer;

beforeAll(async () => {
  server = await startSshServer();
});
afterAll(() => {
  server.close();
  rmSync(scratch, { recursive: true, force: true });
});

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

function command(...args: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, ['--no-warnings', commandLine, 'train', ...args], {
    cwd: scratch,
    env: { ...server.environment, HF_TOKEN: secret },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, out, err })));
  return { child, ended };
}

/** Draws the number of rollouts before a connection is cut or a process is killed. */
const seed = process.env['REHEARSAL_SEED'] ?? '1';
const random = randomStream('ssh', seed);
console.log(`REHEARSAL_SEED=${seed}`);

const groupSize = 8;

const grpo = (run: string, steps: number) => [
  ...['grpo', join(process.cwd(), 'domains', 'parcel-desk'), '--model', 'tiny', '--steps', String(steps)],
  ...['--set', 'save_every=1', '--set', 'keep_checkpoints=20', '--out', run, '--target', server.target],
];

const farRun = (run: string) => join(server.folder, 'runs', basename(run));

/** Returns the lines of a file that the run has written so far. */
const saidIn = (path: string) => (existsSync(path) ? linesOf(path) : []);
const events = (run: string) => saidIn(join(run, 'events.jsonl'));
const metrics = (run: string) => saidIn(join(run, 'metrics.jsonl'));

/** Waits for a state of a training run, which may take minutes. */
const untilTrained = (what: string, observe: () => boolean) =>
  until(`${what} (REHEARSAL_SEED=${seed})`, observe, 900_000);

/** Waits until the trainer has played a few more rollouts; the seed draws their number. */
async function aFewRollouts(run: string): Promise<void> {
  const folder = join(farRun(run), 'trajectories');
  const played = () =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.traj.jsonl')).length
      : 0;
  const wanted = played() + random.integer(groupSize + 1);
  await untilTrained(`${wanted} rollouts`, () => played() >= wanted);
}

function files(folder: string): ReadonlyMap<string, string> {
  const own = /^(checkpoints\/|gold\/|(pid|stop|\.lock|launch\.json|target\.json|connection\.jsonl)$)/;
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile() && !own.test(path))
    .sort();
  return new Map(found.map((path) => [path, readFileSync(join(folder, path), 'base64')]));
}

/** Expects that everything written on the target was copied here, and that each rollout of a step is there once. */
function expectSame(run: string, steps: number): void {
  expect(files(run)).toEqual(files(farRun(run)));
  const folders = readdirSync(join(run, 'trajectories')).sort();
  expect(folders).toHaveLength(steps);
  for (const step of folders) {
    const folder = join(run, 'trajectories', step);
    const played = linesOf(join(folder, 'rollouts.jsonl')).map(({ task, member }) => `${task}.${member}`);
    expect(new Set(played).size).toBe(groupSize);
    expect(played).toHaveLength(groupSize);
    const recordings = readdirSync(folder).filter((name) => name.endsWith('.traj.jsonl'));
    expect(recordings.sort()).toEqual(played.map((name) => `${name}.traj.jsonl`).sort());
  }
}

const trainerThere = (run: string) => Number(readFileSync(join(farRun(run), 'pid'), 'utf8'));

test('a connection that is cut in the middle costs nothing, and a key lies nowhere', async () => {
  const run = join(scratch, 'cut');
  const { ended } = command(...grpo(run, 10));
  await untilTrained('the first step', () => metrics(run).length >= 1);
  const trainer = trainerThere(run);
  expect(readFileSync(`/proc/${trainer}/environ`, 'utf8')).toContain(secret);
  for (const line of commandLines()) expect(line).not.toContain(secret);
  await aFewRollouts(run);
  server.killSessions();
  const before = metrics(run).length;
  await untilTrained('a step after the cut', () => metrics(run).length > before);
  await aFewRollouts(run);
  server.killSessions();
  expect(await ended).toMatchObject({ code: 0 });
  expect(metrics(run).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(events(run).at(-1)).toMatchObject({ type: 'finished', step: 10 });
  const connection = linesOf(join(run, 'connection.jsonl')).map(({ type }) => type);
  expect(connection).toEqual(['disconnected', 'connected', 'disconnected', 'connected']);
  expectSame(run, 10);
  for (const folder of [run, server.folder])
    for (const [path, content] of everything(folder)) expect(content.includes(secret), path).toBe(false);
});

function* everything(folder: string): Generator<readonly [string, Buffer]> {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, path);
    if (statSync(file).isFile()) yield [relative(folder, file), readFileSync(file)];
  }
}

test.each([
  ['an unknown option', ['--set', 'foo=1'], '', /the trainer refuses these options: foo: there is no such key/],
  [
    'a server of tools that dies',
    [],
    'mcpServers:\n  desk: { command: sh, args: [-c, "echo no licence >&2; exit 3"] }\n',
    /the tools of the domain don't start on .*: .*no licence/s,
  ],
])('%s is found there before anything is played', async (what, more, yaml, says) => {
  const domain = join(scratch, 'domain');
  rmSync(domain, { recursive: true, force: true });
  cpSync('domains/parcel-desk', domain, { recursive: true });
  appendFileSync(join(domain, 'domain.yaml'), yaml);
  const run = join(scratch, what.replaceAll(' ', '-'));
  const options = [
    '--model',
    'tiny',
    '--out',
    run,
    '--target',
    server.target,
    '--approve',
    hashOf(domain, false),
    ...more,
  ];
  const { code, err } = await command('grpo', domain, ...options).ended;
  expect({ code, said: err.trim().split('rehearsal train: ').at(-1) }).toMatchObject({
    code: 2,
    said: expect.stringMatching(says),
  });
  expect([existsSync(farRun(run)), existsSync(join(run, 'gold'))]).toEqual([false, false]);
});

/** Returns the command lines of all processes. */
function commandLines(): readonly string[] {
  return readdirSync('/proc')
    .filter((each) => /^\d+$/.test(each))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        // The process ended while the list was read.
        return [];
      }
    });
}

/** Returns the command lines of the engines that run on the target. */
function engines(): readonly string[] {
  return commandLines().filter((line) => line.includes(server.folder) && line.includes('serve\0--stdio'));
}

test('a trainer that is killed there resumes from its last checkpoint, and repeated steps are superseded', async () => {
  const run = join(scratch, 'killed');
  const steps = 12;
  const first = command(...grpo(run, steps));
  await untilTrained('a step after a checkpoint', () => events(run).some(({ path }) => path === 'checkpoint-2'));
  await aFewRollouts(run);
  process.kill(trainerThere(run), 'SIGKILL');
  const { code, err } = await first.ended;
  expect(code).toBe(2);
  expect(err).toContain(
    `training ended unexpectedly; resume from its last checkpoint with: npx rehearsal train resume`,
  );
  await untilTrained('the end of the engine of the trainer that was killed', () => engines().length === 0);
  // Steps after the last checkpoint are measured again.
  const lost = Math.max(...metrics(run).map(({ step }) => Number(step)));
  for (const name of readdirSync(join(farRun(run), 'checkpoints')))
    if (Number(name.split('-')[1]) >= lost) rmSync(join(farRun(run), 'checkpoints', name), { recursive: true });
  expect(await command('resume', run).ended).toMatchObject({ code: 0 });
  expect(events(run).map(({ type }) => type)).toContain('resumed');
  const attempts = metrics(run).map(({ step, attempt }) => `${step} by ${attempt}`);
  expect(attempts).toEqual(expect.arrayContaining(['1 by 1', `${lost} by 1`, `${lost} by 2`, `${steps} by 2`]));
  const read = readMetrics(run);
  await read.refresh();
  expect(read.points().map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, at) => at + 1));
  const repeated = metrics(run).find(({ step, attempt }) => step === lost && attempt === 2);
  expect(read.points()[lost - 1]?.metrics['reward']).toBe(repeated?.['reward']);
  expect(read.status()).toEqual({ type: 'finished' });
  expectSame(run, steps);
});

test('a run outlives its window, is followed again, stops with a checkpoint, and that comes here', async () => {
  const run = join(scratch, 'left');
  const { code, out } = await command(...grpo(run, 200), '--detach', '--json').ended;
  expect({ code, run: JSON.parse(out).run }).toEqual({ code: 0, run });
  await untilTrained('a step that came here', () => metrics(run).length >= 1);
  await aFewRollouts(run);
  process.kill(Number(readFileSync(join(run, 'pid'), 'utf8')), 'SIGKILL');
  const before = metrics(farRun(run)).length;
  await untilTrained('a step without a follower', () => metrics(farRun(run)).length > before);
  const again = command('follow', run);
  await untilTrained('what was missed', () => metrics(run).length > before);
  expect(await command('stop', run).ended).toMatchObject({ code: 0 });
  expect(await again.ended).toMatchObject({ code: 0 });
  const stopped = events(run).at(-1);
  expect(stopped).toMatchObject({ type: 'stopped' });
  expectSame(run, readdirSync(join(farRun(run), 'trajectories')).length);
  for (const name of ['pid', 'stop', '.lock']) expect(existsSync(join(run, name))).toBe(false);
  const fetched = await command('fetch', run, '--json').ended;
  const { checkpoint } = JSON.parse(fetched.out);
  expect(checkpoint).toBe(join(run, 'checkpoints', `checkpoint-${stopped?.['step']}`));
  const there = join(farRun(run), 'checkpoints', basename(checkpoint));
  expect(files(checkpoint)).toEqual(files(there));
  const unknown = await command('fetch', run, '--checkpoint', 'final').ended;
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('has no checkpoint "final" on') });
  const idle = await command('stop', run).ended;
  expect(idle).toMatchObject({ code: 2, err: expect.stringContaining('is not being trained on') });
});
