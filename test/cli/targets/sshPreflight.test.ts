import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sshObstacle } from '../../../scripts/ssh.ts';
import { hashOf } from '../../support/approval.ts';
import { commandLine } from '../../support/commandLine.ts';
import { type SshServer, startSshServer } from '../../support/sshServer.ts';
import { sampled } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const obstacle = sshObstacle()?.reason;
if (obstacle) console.warn(`SKIPPED: the preflight of targets over SSH, as ${obstacle}`);

describe.skipIf(obstacle)('what would make a run over SSH fail is one message, and nothing is copied', () => {
  const scratch = temporaryFolder('rehearsal-preflight');
  let server: SshServer;
  /** A model hub without models, which refuses access to those of ada. */
  const hub = createServer(({ url = '' }, answer) => {
    answer.writeHead(401, { 'X-Error-Code': url.startsWith('/ada/') ? 'GatedRepo' : 'RepoNotFound' }).end();
  });
  beforeAll(async () => {
    server = await startSshServer();
    await new Promise<void>((done) => hub.listen(0, '127.0.0.1', done));
  });
  afterAll(() => {
    server.close();
    hub.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  /** Creates a domain with an MCP server that is started by this command. */
  function domainWith(name: string, started: string): string {
    const domain = join(scratch, name);
    cpSync('domains/parcel-desk', domain, { recursive: true });
    const yaml = `name: parcel-desk\nmcpServers:\n  files:\n    command: ${started}\n`;
    writeFileSync(join(domain, 'domain.yaml'), yaml);
    return domain;
  }

  const hubEnvironment = () => {
    const address = hub.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    return { ...server.environment, HF_ENDPOINT: `http://127.0.0.1:${port}` };
  };

  function train(environment: NodeJS.ProcessEnv, target: string, domain: string, more: readonly string[]) {
    const run = join(scratch, 'run');
    const args = [
      'train',
      'grpo',
      domain,
      '--model',
      'tiny',
      '--out',
      run,
      '--target',
      target,
      '--approve',
      hashOf(domain, false),
      ...more,
    ];
    const child = spawn(process.execPath, ['--no-warnings', commandLine, ...args], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let err = '';
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    return new Promise<readonly string[]>((done) => child.once('close', () => done(err.trim().split('\n'))));
  }

  type Wrong = {
    readonly what: string;
    readonly who?: 'unknownHost' | 'wrongKey' | 'noSsh' | 'withHub';
    readonly target?: (target: string) => string;
    readonly domain?: () => string;
    readonly more?: readonly string[];
    /** The script that replaces nvidia-smi on the remote machine. */
    readonly nvidia?: string;
    readonly says: RegExp;
  };

  const wrong: readonly Wrong[] = [
    {
      what: 'a host that is off',
      target: (target) => target.replace(/:\d+/, ':1'),
      says: /127\.0\.0\.1 can't be reached: check that it is on and that ssh -p 1 .* succeeds/,
    },
    {
      what: 'an unknown host',
      target: () => 'ssh://unknown.invalid',
      says: /there is no host unknown\.invalid: check its name/,
    },
    {
      what: 'an unknown host key',
      who: 'unknownHost',
      says: /the host key of .* is not known here, so nothing was sent\. Connect manually once \(ssh -p \d+ .*\), compare/,
    },
    { what: 'no ssh', who: 'noSsh', says: /ssh can't be started \(.*ENOENT\): install an OpenSSH client/ },
    {
      what: 'a wrong key',
      who: 'wrongKey',
      says: /accepts none of your keys\. Give it your public key \(ssh-copy-id\)/,
    },
    {
      what: 'no Python',
      more: ['--python', '/nowhere/python3'],
      says: /\/nowhere\/python3 on .* is not Python 3\.11 or newer: install it there, or name it with --python/,
    },
    {
      what: 'a folder of somebody else',
      target: (target) => target.replace(/(:\d+)\/.*/, '$1/proc/self/rehearsal'),
      says: /\/proc\/self on .* can't be written: name a folder that you own/,
    },
    {
      what: 'a full disk',
      more: ['--disk', '1000000000'],
      says: /there are [\d.]+ GB free in .* and the run needs 1000000000\.\d GB: make room, or name a folder on another disk/,
    },
    {
      what: 'no GPU',
      more: ['--profile', 'paper'],
      nvidia: 'echo "NVIDIA-SMI has failed: no driver"; exit 9',
      says: /the profile paper needs a GPU, but .* has none \(NVIDIA-SMI has failed: no driver\): choose --profile cpu, or/,
    },
    {
      what: 'an old driver',
      more: ['--profile', 'paper'],
      nvidia: 'echo "NVIDIA H200, 535.104.05"',
      says: /the driver 535\.104\.05 of NVIDIA H200 on .* is too old for the trainer's PyTorch: install 580 or newer there/,
    },
    {
      what: 'an unknown model',
      who: 'withHub',
      more: ['--model', 'unknown/none', '--set', 'dialect=compact'],
      says: /"unknown\/none" is neither smollm2, tiny, a folder with a model or adapter, nor a model that the Hugging Face hub knows: check the name/,
    },
    {
      what: 'a model that is not given out',
      who: 'withHub',
      more: ['--model', 'ada/gated', '--set', 'dialect=compact'],
      says: /the Hugging Face hub denies access to "ada\/gated": request access on its page, and set HF_TOKEN/,
    },
    {
      what: 'a server of tools that is not installed',
      domain: () => domainWith('missing', 'no-such-server'),
      says: /the MCP server files is started with no-such-server, which is not on the PATH of .*: install it there/,
    },
    {
      what: 'a variable that is not set',
      domain: () => domainWith('variable', '"sh"\n    env: { KEY: "${env:NO_SUCH_VARIABLE}" }'),
      says: /NO_SUCH_VARIABLE is not set in the environment here, and the domain's servers need it there/,
    },
  ];

  test.each(sampled(wrong, 6))('$what', async ({ who, target = (same) => same, domain, more = [], nvidia, says }) => {
    if (nvidia) server.install('nvidia-smi', nvidia);
    const environments = { ...server.strangers, noSsh: { ...process.env, PATH: scratch }, withHub: hubEnvironment() };
    const environment = who ? environments[who] : server.environment;
    const said = await train(environment, target(server.target), domain?.() ?? 'domains/parcel-desk', more);
    expect(said.at(-1)).toMatch(says);
    expect(said.filter((line) => line.startsWith('rehearsal train:'))).toHaveLength(1);
    expect(existsSync(join(scratch, 'run'))).toBe(false);
    expect(existsSync(server.folder) ? readdirSync(server.folder) : []).toEqual([]);
  });
});
