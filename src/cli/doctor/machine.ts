import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describeCodeTools } from '../../engine/shell/describe.ts';
import { loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { requireWritable } from '../../engine/shell/files/disk.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { workFolders } from '../../engine/shell/files/workFolders.ts';
import { withoutKeys } from '../../engine/shell/processes/childEnvironment.ts';
import { neutralFolder } from '../../engine/shell/processes/machineProgram.ts';
import { findSandbox } from '../../engine/shell/processes/sandbox.ts';
import { ownPublicKey, signingKeyPath } from '../../engine/shell/records/ledger.ts';
import { pythonNames } from '../../engine/shell/tools/bridgeProcess.ts';
import { approveOwn } from '../options/approveMade.ts';
import { setupScript } from '../python/pythonEnvironment.ts';
import type { Io } from '../terminal/io.ts';
import { broken, type Condition, fine, lacking } from './condition.ts';
import { oldestNode, runtimeObstacle } from './runtime.ts';

const gigabyte = 2 ** 30;
const quickMs = 20_000;

/** Everything that Rehearsal needs of this machine, in the order in which a person meets it. */
export async function machineConditions(io: Io): Promise<readonly Condition[]> {
  return [
    nodeCondition(),
    await workerCondition(),
    sandboxCondition(),
    await loopbackCondition(),
    runFolderCondition(io.cwd),
    diskCondition(io.cwd),
    signingKeyCondition(io),
    ...keyConditions(io.environment),
    bridgeCondition(),
    trainerCondition(),
    editorCondition(),
  ];
}

function nodeCondition(): Condition {
  const obstacle = runtimeObstacle();
  if (obstacle) return broken('Node', process.version, obstacle);
  return fine('Node', `${process.version} (${oldestNode} or newer is needed)`);
}

/** A domain whose only tool reports whether it could read a file outside its folder. */
const prying = (secret: string) => `import { defineTools } from 'rehearsal';
import * as z from 'zod';
import { readFileSync } from 'node:fs';
let came = 'allowed';
try { readFileSync(${JSON.stringify(secret)}); } catch (error) { came = error.code ?? 'refused'; }
const { tool } = defineTools();
export const pry = tool({ description: came, effect: 'read', input: z.object({}), run: () => came });
`;

/** Starts a real worker whose code tries to read a file that it must not read. */
async function workerCondition(): Promise<Condition> {
  const scratch = mkdtempSync(join(tmpdir(), 'rehearsal-doctor-'));
  const folder = join(scratch, 'domain');
  try {
    mkdirSync(folder);
    writeFileSync(join(scratch, 'secret.txt'), 'not for domains');
    writeFileSync(join(folder, 'domain.yaml'), 'name: doctor\n');
    writeFileSync(join(folder, 'tools.ts'), prying(join(scratch, 'secret.txt')));
    approveOwn(folder);
    const [tool] = await describeCodeTools(loadDomain(folder));
    if (tool?.description === 'ERR_ACCESS_DENIED') return fine('workers', 'they start, and see only their domain');
    const advice =
      'Run only domains that you trust, or use Node 24, whose permission model keeps a domain in its folder.';
    return lacking('workers', 'they start, but this runtime lets a domain read the whole disk', advice);
  } catch (error) {
    const advice = 'Allow processes to start here; the message says what prevented it.';
    return broken('workers', messageOf(error), advice);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The operating system's part in confining a domain's code. */
function sandboxCondition(): Condition {
  const sandbox = findSandbox();
  if (sandbox.name !== null) return fine('sandbox', `${sandbox.name} confines the code of domains`);
  const risk = 'Until then, run only domains that you trust: Python is not confined, and TypeScript only by Node.';
  return lacking('sandbox', sandbox.reason, `${sandbox.advice} ${risk}`);
}

/** Debug adapter, gateway and servers of tools are reached on loopback. */
async function loopbackCondition(): Promise<Condition> {
  const server = createServer();
  try {
    const port = await new Promise<number>((found, fail) => {
      server.once('error', fail);
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        found(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    return fine('loopback', `a free port is available (127.0.0.1:${port})`);
  } catch (error) {
    const advice = 'Allow listening on 127.0.0.1; Rehearsal listens nowhere else.';
    return broken('loopback', messageOf(error), advice);
  } finally {
    server.close();
  }
}

/** The nearest folder that is there already. */
function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path));
}

function runFolderCondition(cwd: string): Condition {
  const runs = join(cwd, workFolders.runs);
  const probe = join(existing(runs), `.doctor-${process.pid}`);
  try {
    requireWritable(probe, cwd);
    writeFileSync(probe, '');
    rmSync(probe);
    return fine('run folder', `${runs} can be written`);
  } catch (error) {
    const advice = 'Start in a folder that you may write to, or name one with --out.';
    return broken('run folder', messageOf(error), advice);
  }
}

function diskCondition(cwd: string): Condition {
  const { bavail, bsize } = statfsSync(cwd);
  const free = (bavail * bsize) / gigabyte;
  const found = `${free.toFixed(1)} GB free`;
  if (free < 0.2) return broken('disk', found, 'Free disk space: a run of a thousand rollouts takes about 100 MB.');
  if (free < 4) return lacking('disk', found, "Enough to evaluate. The trainer's environment takes about 3 GB.");
  return fine('disk', found);
}

function signingKeyCondition({ environment }: Io): Condition {
  const path = signingKeyPath(environment);
  const advice = 'Set REHEARSAL_HOME to a folder outside of any repository.';
  if (isInRepository(dirname(path))) return lacking('signing key', `${path} is in a git repository`, advice);
  if (!existsSync(path)) return fine('signing key', `is made on first use (${path})`);
  if (!isSigningKey(path)) {
    const mend = 'Restore it, or move it away: the next run creates a new one.';
    return broken('signing key', `${path} is not a readable Ed25519 private key`, mend);
  }
  const isPrivate = process.platform === 'win32' || (statSync(path).mode & 0o077) === 0;
  if (isPrivate) return fine('signing key', path);
  return lacking('signing key', `${path} can be read by others`, `chmod 600 ${path}`);
}

function isSigningKey(path: string): boolean {
  try {
    return ownPublicKey(path) !== null;
  } catch {
    return false;
  }
}

const isInRepository = (folder: string): boolean =>
  existsSync(join(folder, '.git')) || (dirname(folder) !== folder && isInRepository(dirname(folder)));

/** Whether a key is there. Its value is never read into a message. */
function keyConditions(environment: NodeJS.ProcessEnv): readonly Condition[] {
  const key = environment['OPENAI_API_KEY'] ? 'present' : 'absent';
  const url = environment['OPENAI_BASE_URL'];
  const address = url === undefined ? '' : `, used at ${originOf(url)}`;
  if (key === 'present') return [fine('OPENAI_API_KEY', `${key}${address}`)];
  const advice = 'Set it if your model needs one. The seats gold, agenda, scripted and human do not need it.';
  return [lacking('OPENAI_API_KEY', `${key}${address}`, advice)];
}

/** An address may carry a password. */
const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : 'an address that is not a URL');

function pythonVersion(command: string): string | null {
  const script = 'import sys; print(".".join(map(str, sys.version_info[:3])))';
  const { status, stdout } = spawnSync(command, ['-c', script], {
    cwd: neutralFolder,
    encoding: 'utf8',
    timeout: quickMs,
    env: withoutKeys(),
  });
  return status === 0 ? stdout.trim() : null;
}

function bridgeCondition(): Condition {
  const [name, version] =
    pythonNames.map((command) => [command, pythonVersion(command)] as const).find(([, found]) => found !== null) ?? [];
  const advice = 'Install Python 3.10 or newer, or name one with python: in domain.yaml.';
  if (name === undefined || !version) return lacking('Python', 'none, so tools.py and environments do not run', advice);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 3 || (major === 3 && minor < 10)) return lacking('Python', `${name} is ${version}`, advice);
  return fine('Python', `${name} is ${version}`);
}

function trainerCondition(): Condition {
  const script = setupScript();
  const make = `Run "${pythonNames[0]} ${script}", or start a training: it makes what it needs.`;
  if (!existsSync(script)) return broken('trainer', `${script} is missing`, 'Install Rehearsal again.');
  for (const command of pythonNames) {
    const { status, stdout } = spawnSync(command, [script, '--check'], {
      cwd: neutralFolder,
      encoding: 'utf8',
      timeout: quickMs,
      env: withoutKeys(),
    });
    if (status !== 0 && status !== 1) continue;
    const said = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { python?: string; ready?: boolean };
    if (said.ready) return fine('trainer', `its environment is there (${said.python})`);
    return lacking('trainer', 'its environment is not made yet', make);
  }
  return lacking('trainer', 'no Python 3.11 or newer', 'Install one; only training needs it.');
}

function editorCondition(): Condition {
  for (const command of ['code', 'code-insiders', 'codium', 'code-server']) {
    const { status, stdout } = spawnSync(command, ['--version'], {
      cwd: neutralFolder,
      encoding: 'utf8',
      timeout: quickMs,
      env: withoutKeys(),
    });
    if (status === 0) return fine('VS Code', `${command} ${stdout.split(/\s/)[0]}`);
  }
  const advice = 'The command line works without VS Code. In a clone, npm start opens VS Code in the browser.';
  return lacking('VS Code', 'no code or code-server on the PATH', advice);
}
