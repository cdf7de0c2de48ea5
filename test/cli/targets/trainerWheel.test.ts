import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import JSZip from 'jszip';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { rayTarget } from '../../../src/cli/targets/ray/ray.ts';
import type { Launch } from '../../../src/cli/targets/target.ts';
import { packTrainerWheel, type TrainerWheel } from '../../../src/cli/targets/trainerWheel.ts';
import type { Io } from '../../../src/cli/terminal/io.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

let scratch: string;
let wheel: TrainerWheel;

beforeEach(async () => {
  scratch = temporaryFolder('rehearsal-wheel');
  wheel = await packTrainerWheel();
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

function changeOneByte(file: string): void {
  const content = readFileSync(file);
  content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
  chmodSync(file, 0o644);
  writeFileSync(file, content);
}

const python = spawnSync('python3', ['--version']).status === 0;

test('the same files are the same wheel, and a changed byte is another one', async () => {
  for (const name of ['rehearsal_trainer', 'pyproject.toml', 'README.md'])
    cpSync(inRoot('trainer', name), join(scratch, 'trainer', name), { recursive: true });
  cpSync(inRoot('LICENSE'), join(scratch, 'LICENSE'));
  mkdirSync(join(scratch, 'trainer', 'rehearsal_trainer', '__pycache__'), { recursive: true });
  writeFileSync(join(scratch, 'trainer', 'rehearsal_trainer', '__pycache__', 'a.py'), '');
  expect((await packTrainerWheel(join(scratch, 'trainer'))).sha256).toBe(wheel.sha256);
  changeOneByte(join(scratch, 'trainer', 'rehearsal_trainer', '__main__.py'));
  expect((await packTrainerWheel(join(scratch, 'trainer'))).sha256).not.toBe(wheel.sha256);
});

test('the links that a release adds to the project are in the metadata', async () => {
  for (const name of ['rehearsal_trainer', 'pyproject.toml', 'README.md'])
    cpSync(inRoot('trainer', name), join(scratch, 'trainer', name), { recursive: true });
  appendFileSync(join(scratch, 'trainer', 'pyproject.toml'), '\n[project.urls]\nHomepage = "https://example.org/a"\n');
  const archive = await JSZip.loadAsync((await packTrainerWheel(join(scratch, 'trainer'))).content);
  const [metadata] = archive.file(/METADATA$/);
  expect(await metadata?.async('text')).toMatch(/^Project-URL: Homepage, https:\/\/example\.org\/a$/m);
});

test('each file of the wheel is in its RECORD with its hash', async () => {
  const archive = await JSZip.loadAsync(wheel.content);
  const information = `${wheel.name.replace('-py3-none-any.whl', '')}.dist-info`;
  const record = (await archive.file(`${information}/RECORD`)?.async('text')) ?? '';
  const recorded = await Promise.all(
    Object.values(archive.files).map(async (file) => {
      const content = await file.async('nodebuffer');
      const digest = createHash('sha256').update(content).digest('base64url');
      return file.name.endsWith('/RECORD') ? `${file.name},,` : `${file.name},sha256=${digest},${content.length}`;
    }),
  );
  expect(record.trim().split('\n').toSorted()).toEqual(recorded.toSorted());
});

test.skipIf(process.platform === 'win32' || !python)(
  'a machine over SSH gets the trainer as the wheel, and installs no wheel with a changed byte',
  async () => {
    // The command that ssh gets is its last argument. It runs here.
    const ssh = '#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n';
    writeFileSync(join(scratch, 'ssh'), ssh, { mode: 0o755 });
    const existing = join(scratch, 'python');
    const asked = join(scratch, 'asked');
    writeFileSync(
      existing,
      `#!/bin/sh
case "$1" in *setup_environment.py) echo "$1 $PYTHONPATH" >> ${asked}; echo '{"python": "", "node": "/in/node"}'; exit ;; esac
case "$*" in
  *--check) cat > /dev/null; echo '{"disk": 0, "free": 1}' ;;
  *--config*) echo '{"type": "finished"}' >> events.jsonl ;;
esac
`,
      { mode: 0o755 },
    );
    vi.stubEnv('PATH', `${scratch}${delimiter}${process.env['PATH']}`);
    const folder = join(scratch, 'far');
    const target = ['--target', `ssh://far${folder}`, '--python', existing];
    const train = (run: string) =>
      rehearsal('train', 'grpo', 'domains/parcel-desk', '--model', 'tiny', '--out', join(scratch, run), ...target);
    const { code, err } = await train('run');
    expect({ code, err }).toMatchObject({ code: 0 });
    const brought = readdirSync(join(folder, 'trees'), { recursive: true, encoding: 'utf8' });
    expect(brought.filter((path) => path.includes('trainer'))).toEqual([
      expect.stringMatching(/trainer$/),
      expect.stringContaining(join('trainer', wheel.name)),
    ]);
    const there = join(folder, 'trees', brought.find((path) => path.endsWith(wheel.name)) ?? '');
    expect(sha256(there)).toBe(wheel.sha256);
    const installed = join(folder, 'trainers', wheel.sha256);
    const script = join(installed, 'rehearsal_trainer', 'setup_environment.py');
    expect(readFileSync(asked, 'utf8')).toBe(`${script} ${installed}\n`);

    rmSync(join(folder, 'trainers'), { recursive: true });
    changeOneByte(there);
    expect(await train('other')).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        new RegExp(`was changed: its SHA-256 is ${sha256(there)}, and that of the trainer is ${wheel.sha256}`),
      ),
    });
    expect(readdirSync(folder).toSorted()).toEqual(['runs', 'store', 'trees']);
  },
);

test.skipIf(!python)('a Ray job loads the trainer from the wheel, and not from one with a changed byte', async () => {
  const job = join(scratch, 'job');
  const archive = await JSZip.loadAsync(await uploadedPackage());
  for (const file of Object.values(archive.files)) {
    mkdirSync(join(job, dirname(file.name)), { recursive: true });
    writeFileSync(join(job, file.name), await file.async('nodebuffer'));
  }
  expect(sha256(join(job, wheel.name))).toBe(wheel.sha256);
  expect(readdirSync(join(job, 'rehearsal_trainer'))).toEqual(['__init__.py']);
  const program =
    'import rehearsal_trainer.values.lines as lines, rehearsal_trainer as all; print(lines.__file__, all.__file__)';
  const load = () => spawnSync('python3', ['-c', program], { cwd: job, encoding: 'utf8' });
  const installed = join(job, 'trainers', wheel.sha256, 'rehearsal_trainer');
  expect(load()).toMatchObject({
    stderr: '',
    stdout: `${join(installed, 'values', 'lines.py')} ${join(installed, '__init__.py')}\n`,
  });
  const started = spawnSync('python3', ['-m', 'rehearsal_trainer', '--help'], { cwd: job, encoding: 'utf8' });
  expect(started.stdout).toContain('usage: python -m rehearsal_trainer <command>');
  rmSync(join(job, 'trainers'), { recursive: true });
  changeOneByte(join(job, wheel.name));
  expect(load()).toMatchObject({ status: 1, stderr: expect.stringContaining('was changed: its SHA-256 is') });
});

/** Returns the package that a Ray head gets for a run. */
async function uploadedPackage(): Promise<Buffer> {
  const parts: Buffer[] = [];
  const looked = { python: '3.12.1', packages: { verl: '0.9.1' }, gpus: 8, nodes: 1, missing: [] };
  const answers: Readonly<Record<string, object>> = {
    '/api/version': { ray_version: '2.60.0' },
    '/api/jobs/': { submission_id: 'j' },
    '/api/jobs/j': { status: 'SUCCEEDED' },
    '/api/jobs/j/logs': { logs: `@looked ${JSON.stringify(looked)}\n{"disk": 0, "free": 1}\n` },
  };
  const head = createServer((request, response) => {
    const isPackage = request.url?.startsWith('/api/packages/') ?? false;
    if (isPackage && request.method === 'PUT') request.on('data', (chunk: Buffer) => void parts.push(chunk));
    else request.resume();
    request.on('end', () => {
      response.writeHead(isPackage && request.method === 'GET' ? 404 : 200);
      response.end(JSON.stringify(answers[request.url ?? ''] ?? {}));
    });
  });
  await new Promise<void>((listening) => head.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void head.close());
  const config = { domain: inRoot('domains', 'parcel-desk'), model: 'tiny' };
  const launch: Launch = {
    ...{ kind: 'grpo', run: join(scratch, 'run'), config, isResumed: false, isDetached: false },
    ...{ python: undefined, disk: undefined },
  };
  const io: Io = {
    ...{ out: () => undefined, err: () => undefined, terminal: false, interactive: false, cwd: scratch },
    ...{ environment: {}, signal: new AbortController().signal },
    readLine: () => Promise.reject(new Error('nothing is read')),
  };
  const { prepare } = await rayTarget(`ray://127.0.0.1:${(head.address() as AddressInfo).port}`, {}).preflight(
    launch,
    io,
  );
  await prepare();
  return Buffer.concat(parts);
}
