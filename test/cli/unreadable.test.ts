import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { commandLine } from '../support/commandLine.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Printed, rehearsal, rehearsalWith } from '../support/terminal.ts';

/**
 * Unreadable files, unavailable resources: one message that names the cause and the fix, exit code 2, no stack trace.
 */
const root = temporaryFolder('rehearsal-unreadable');
let folders = 0;
const fresh = () => join(root, String(++folders));

const parcels = 'domains/parcel-desk';
const run = fresh();
const recording = join(run, 'reschedule-P46.0.traj.jsonl');
beforeAll(async () => {
  expect(await rehearsal('run', parcels, 'reschedule-P46', '--out', run)).toMatchObject({ code: 0 });
});

function expectRefused({ code, out, err }: Printed, message: RegExp): void {
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(message);
  expect(err.trim().split('\n')).toHaveLength(1);
}

describe('a key', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const raw = Buffer.alloc(32, 7).toString('base64');
  const ofRsa = rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

  test.each(['abc', '', 'AAAA', raw, ofRsa])('--key %j', async (key) => {
    const message = /^rehearsal verify: --key is an Ed25519 public key in base64, as "publicKey" in run\.json has it/;
    for (const path of [run, recording]) expectRefused(await rehearsal('verify', path, '--key', key), message);
    const { code, out } = await rehearsal('verify', run, '--key', key, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'usage', message: expect.stringContaining('--key is') } });
  });

  function home(path: string): string {
    vi.stubEnv('REHEARSAL_HOME', path);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    return join(path, 'signing-key.pem');
  }

  test.each([
    ['garbage', 'garbage\n'],
    ['empty', ''],
    ['of another kind', rsa.privateKey.export({ type: 'pkcs8', format: 'pem' })],
  ])('a signing key that is %s', async (_name, text) => {
    const path = home(fresh());
    mkdirSync(join(path, '..'));
    writeFileSync(path, text);
    const message = /signing-key\.pem: is not an Ed25519 private key in PEM\. Restore it, or move it away/;
    expectRefused(await rehearsal('verify', run), message);
    const out = fresh();
    expectRefused(await rehearsal('run', parcels, 'reschedule-P46', '--out', out), message);
    expect(existsSync(out)).toBe(false);
  });

  test('doctor reports an invalid signing key', async () => {
    const folder = fresh();
    mkdirSync(folder);
    writeFileSync(join(folder, 'signing-key.pem'), 'garbage\n');
    const { out } = await rehearsalWith({ ...process.env, REHEARSAL_HOME: folder }, 'doctor');
    expect(out).toMatch(/^FAILED +signing key +\S+signing-key\.pem is not a readable Ed25519 private key$/m);
  });

  test('a place that takes no signing key', async () => {
    const file = fresh();
    writeFileSync(file, '');
    home(join(file, 'home'));
    expectRefused(
      await rehearsal('run', parcels, 'reschedule-P46', '--out', fresh()),
      /signing-key\.pem: the key that signs receipts cannot be created here \(ENOTDIR: not a directory\)\. .*REHEARSAL_HOME/,
    );
  });

  test('verifying makes no key', async () => {
    const path = home(fresh());
    expectRefused(await rehearsal('verify', run), /this machine has signed nothing .*: name the one .* with --key$/m);
    expectRefused(await rehearsal('verify', recording), /this machine has signed nothing .* with --key$/m);
    expect(existsSync(path)).toBe(false);
  });
});

describe('a file of a domain that is a link to itself', () => {
  test.each(['domain.yaml', 'database.json', 'tools.ts', 'policy.md', 'rules.yaml', 'tasks', 'personas'])(
    '%s',
    async (name) => {
      const folder = fresh();
      cpSync('domains/order-desk', folder, { recursive: true });
      rmSync(join(folder, name), { recursive: true });
      symlinkSync(name, join(folder, name));
      const { code, out, err } = await rehearsal('run', folder, 'lamp-variant', '--out', fresh());
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(`/unreadable ${name} cannot be read: ELOOP`);
      expect(err).toContain('It is a link that points to itself');
      expect(err).not.toMatch(/\n\s+at /);
      expect(await rehearsal('check', folder, '--static')).toMatchObject({ code: 1 });
    },
  );
});

describe('a folder where a file of a run should be', () => {
  test.each(['ledger.jsonl', 'reschedule-P46.0.traj.jsonl'])('%s', async (name) => {
    const out = fresh();
    mkdirSync(join(out, name), { recursive: true });
    const { code, err } = await rehearsal('eval', parcels, '--tasks', 'reschedule-P46', '--out', out, '--json');
    expect([code, err.includes('\n    at ')]).toEqual([2, false]);
    await expectFound(out, name);
  });

  test('run.json', async () => {
    const out = fresh();
    mkdirSync(join(out, 'run.json'), { recursive: true });
    await expectFound(out, 'run.json');
  });

  async function expectFound(run: string, name: string): Promise<void> {
    const { code, out } = await rehearsal('verify', run);
    expect(code).toBe(1);
    expect(out).toContain(`${join(run, name)}:1: is not a regular file, so it is not of this run. Move it elsewhere\n`);
  }
});

test('a port that is taken', async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as { port: number };
  expectRefused(
    await rehearsal('dap', '--port', String(port)),
    new RegExp(
      `port ${port} of 127\\.0\\.0\\.1 is not available: another program listens there\\. Choose another port, or 0`,
    ),
  );
});

test('dap --json says its address and token as JSON', async () => {
  const abort = new AbortController();
  let said = '';
  const io = {
    err: () => undefined,
    terminal: false,
    interactive: false,
    cwd: process.cwd(),
    environment: {},
    signal: abort.signal,
  };
  const readLine = () => Promise.reject(new Error('no person is at this terminal'));
  const out = (text: string) => {
    said += text;
    abort.abort();
  };
  expect(await main(['dap', '--port', '0', '--json'], { ...io, out, readLine })).toBe(0);
  expect(JSON.parse(said)).toEqual({
    address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    token: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

describe.skipIf(process.platform === 'win32')('a process', () => {
  const shell = (script: string) =>
    spawnSync('/bin/sh', ['-c', script, process.execPath, commandLine, recording], {
      encoding: 'utf8',
      timeout: 240_000,
    });

  test('whose reader is gone ends quietly', () => {
    const { stdout, stderr } = shell('"$0" "$1" replay "$2" | head -1');
    expect(stdout).toContain('parcel-desk / reschedule-P46');
    expect(stderr).toBe('');
  });

  test.skipIf(!existsSync('/dev/full'))('whose output has no room says so', () => {
    const { status, stderr } = shell('"$0" "$1" replay "$2" > /dev/full');
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: "rehearsal: the output can't be written (ENOSPC: no space left on device)\n",
    });
  });

  test('dap whose input is empty ends', () => {
    expect(shell('"$0" "$1" dap < /dev/null')).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });
});

describe('an unexpected error', () => {
  const broken = (environment: NodeJS.ProcessEnv) => {
    let err = '';
    const io = {
      terminal: false,
      interactive: false,
      cwd: process.cwd(),
      environment,
      signal: new AbortController().signal,
    };
    const out = () => {
      throw new Error('the pixels fell off');
    };
    const say = (text: string) => {
      err += text;
    };
    const readLine = () => Promise.reject(new Error('no person is at this terminal'));
    return main(['replay', recording], { ...io, out, err: say, readLine }).then((code) => ({ code, err }));
  };

  test('is one line and exit code 2, with its place when asked for', async () => {
    const line = 'rehearsal replay: this is an internal error of Rehearsal: the pixels fell off';
    expect(await broken({})).toEqual({
      code: 2,
      err: `${line}; run again with REHEARSAL_TRACE=1 for the stack trace\n`,
    });
    const { code, err } = await broken({ REHEARSAL_TRACE: '1' });
    expect(code).toBe(2);
    expect(err).toMatch(new RegExp(`^${line}\nError: the pixels fell off\n\\s+at .*unreadable\\.test\\.ts`));
  });
});
