import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { findSandbox } from '../../src/engine/shell/sandbox.ts';
import { hashOf } from '../support/approval.ts';
import { killIfRunning } from '../support/processes.ts';
import { oneOfEachKind, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Attack, attacks, type Scene } from './attacks.ts';

// Each attack is a domain that the command line loads for real, as `rehearsal tools DOMAIN`: once in the sandbox, once
// without. attackTables.test.ts writes the table of docs/security-attacks.md.

const program = inRoot('dist', 'rehearsal.mjs');
const root = temporaryFolder('rehearsal-attacks');
const abstract = `rehearsal-${process.pid}`;
const socket = join(root, 'socket');
const servers: Server[] = [];
const udp = createSocket('udp4');
let tcp = 0;

/** A server that answers every connection as HTTP would, and closes it. */
async function listening(at: { port: number; host: string } | { path: string }): Promise<Server> {
  const server = createServer((connection) => connection.on('error', () => undefined).end('HTTP/1.1 200 OK\r\n\r\n'));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(at, resolve));
  return server;
}

beforeAll(async () => {
  const server = await listening({ port: 0, host: '127.0.0.1' });
  tcp = (server.address() as { readonly port: number }).port;
  await listening({ path: socket });
  await listening({ path: `\0${abstract}` });
  udp.on('message', (_, { port, address }) => udp.send('y', port, address));
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
});
afterAll(() => {
  udp.close();
  for (const server of servers) server.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

type Victim = { readonly child: ChildProcess; readonly said: () => string };

/** A Node process that is up, and what it prints on standard error. */
async function startVictim(): Promise<Victim> {
  const code = 'console.log("up"); setInterval(() => 0, 1000)';
  const child = spawn(process.execPath, ['--inspect-port=0', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child.stdout, 'data');
  return { child, said: () => said };
}

/** Of the attacks that do nothing to it. */
const bystander = startVictim();
afterAll(async () => (await bystander).child.kill('SIGKILL'));

const domain = { TypeScript: 'tools.ts', Python: 'tools.py' };

function source({ language, code }: Attack, scene: Scene): string {
  if (language === 'Python') {
    const body = code.split('\n').map((line) => `    ${line}`);
    return `import json, os, socket, sys
scene = json.loads(${JSON.stringify(JSON.stringify(scene))})
def attack():
${body.join('\n')}
try:
    result = "reached: %s" % (attack(),)
except BaseException as error:
    result = "refused: %r" % (error,)
raise RuntimeError(result)
`;
  }
  return `const scene = ${JSON.stringify(scene)} as any;
let result: string;
try {
  result = 'reached: ' + (await (async () => { ${code} })());
} catch (error: any) {
  result = 'refused: ' + (error?.code ?? error?.message);
}
throw new Error(result);
`;
}

/** Lets the command line load a hostile domain. Returns what the attack achieved, or null. */
async function achieved(attack: Attack, sandbox: 'on' | 'off'): Promise<string | null> {
  const place = mkdtempSync(join(root, 'attack-'));
  const folder = join(place, attack.folderName ?? 'domain');
  const victim = await (attack.code.includes('victim') ? startVictim() : bystander);
  const scene: Scene = {
    secret: join(place, 'secret.txt'),
    database: join(place, 'data.db'),
    outside: place,
    folder,
    tcp,
    udp: udp.address().port,
    socket,
    abstract,
    victim: victim.child.pid as number,
    mark: `mark-${process.pid}-${place.slice(-6)}`,
  };
  mkdirSync(folder);
  symlinkSync('/', join(folder, 'link'));
  writeFileSync(scene.secret, 'secret');
  new DatabaseSync(scene.database).exec("create table t (x); insert into t values ('secret')");
  writeFileSync(join(folder, 'domain.yaml'), 'name: attack\n');
  writeFileSync(join(folder, 'notes.txt'), 'kept\n');
  writeFileSync(join(folder, domain[attack.language]), source(attack, scene));
  const before = filesIn(place);
  // Without a sandbox, nothing of a domain runs before it is approved.
  const approved = sandbox === 'on' ? [] : ['--approve', hashOf(folder, false)];
  const child = spawn(process.execPath, [program, 'tools', folder, ...approved], {
    cwd: place,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, OPENAI_API_KEY: 'sk-planted', REHEARSAL_SANDBOX: sandbox },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  try {
    const report = /(?:reached|refused): .*/.exec(said)?.[0];
    if (attack.judged === 'parent')
      return signal === null && report ? null : `the command line ended with ${signal ?? said}`;
    if (attack.judged === 'victim') return report?.startsWith('refused') ? null : await harmTo(victim);
    if (attack.judged === 'left-behind') return await leftBehind(scene.mark);
    if (attack.judged === 'disk') return filesIn(place) === before ? null : `the files are now ${filesIn(place)}`;
    expect(signal, said).toBeNull();
    return report?.startsWith('reached') ? report : null;
  } finally {
    if (victim !== (await bystander)) victim.child.kill('SIGKILL');
  }
}

/** Waits for what a signal does that was sent. */
async function harmTo({ child, said }: Victim): Promise<string> {
  const isOver = () => child.signalCode !== null;
  await expect.poll(() => said().includes('Debugger listening') || isOver(), { timeout: 60_000 }).toBe(true);
  return isOver() ? `the other process ended with ${child.signalCode}` : 'its inspector is open';
}

/** Every file and link of a folder. */
function filesIn(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [entry.name, filesIn(join(folder, entry.name))] : [entry.name]))
    .toSorted()
    .join();
}

/** Waits until no process has this mark in its command line. Ends the one that remains after 10 s. */
async function leftBehind(mark: string): Promise<string | null> {
  await vi.waitUntil(() => processWith(mark) === undefined, { timeout: 10_000 }).catch(() => undefined);
  const pid = processWith(mark);
  if (pid === undefined) return null;
  killIfRunning(pid);
  return 'a process is still running';
}

function processWith(mark: string): number | undefined {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(mark);
      } catch {
        return false;
      }
    });
}

const tried = oneOfEachKind(attacks, ({ language, promise }) => `${language} ${promise}`);
const named = tried.map((attack) => [`${attack.language}: ${attack.name}`, attack] as const);

describe.runIf(process.platform === 'linux' && findSandbox().name !== null)('in the sandbox', () => {
  test.each(named)('%s', async (_, attack) => {
    expect(await achieved(attack, 'on')).toBeNull();
  });
});

describe.runIf(process.platform === 'linux')('without a sandbox', () => {
  test.each(sampled(named, 6))('%s', async (_, attack) => {
    const what = await achieved(attack, 'off');
    if (attack.holdsWithout) expect(what).toBeNull();
    else expect(what).not.toBeNull();
  });
});
