import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { killTree } from '../../scripts/processTree.ts';
import { inRoot } from '../../scripts/repository.ts';
import { programPath } from '../../src/engine/shell/processes/sandbox.ts';
import { hashOf } from '../support/approval.ts';
import { killIfRunning } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary.ts';
import type { Attack, Scene } from './attacks.ts';

/** The protection against an attack: the sandbox and Node's flags, Node's flags alone, or nothing, as a control. */
export type Mode = 'sandbox' | 'flags' | 'nothing';

/** The result of an attack, as observed from outside. */
export type Observed = { readonly isReached: boolean; readonly text: string };

/** The result that an attack's code reports: whether it returned, and its value, or its error code if it threw. */
type Answer = readonly [returned: boolean, what: string];

type Victim = { readonly child: ChildProcess; readonly said: () => string };

/** A prepared attack, the state before it, and the means to detect its effect. */
type Prepared = {
  readonly attack: Attack;
  readonly scene: Scene;
  readonly token: string;
  readonly victim: Victim | null;
  readonly before: readonly string[];
  readonly connections: () => number;
  readonly close: () => void;
};

/** The output and exit of the processes that ran some attacks. */
type Ended = {
  readonly said: string;
  readonly signal: string | null;
  /** The code of the command line's failure. */
  readonly code: string | undefined;
  readonly answers: readonly Answer[];
};

const program = inRoot('dist', 'rehearsal.mjs');
const toolsFile = { TypeScript: 'tools.ts', Python: 'tools.py' };
/** A descriptor that a parent leaves open. Node closes those below the first gap by itself. */
const leftOpen = 40;
let root: string | undefined;

/**
 * Runs attacks; those that cannot hide each other share a process. Each attack is in a domain that is really loaded.
 */
export async function observe(attacks: readonly Attack[], mode: Mode): Promise<ReadonlyMap<Attack, Observed>> {
  const groups = Map.groupBy(attacks, (attack) => (attack.isAlone ? attack : attack.language)).values();
  const waiting = [...groups];
  const observed = new Map<Attack, Observed>();
  const runNext = async (): Promise<void> => {
    for (let group = waiting.shift(); group; group = waiting.shift())
      for (const [attack, what] of await runGroup(group, mode)) observed.set(attack, what);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, runNext));
  return observed;
}

async function runGroup(group: readonly Attack[], mode: Mode): Promise<readonly (readonly [Attack, Observed])[]> {
  root ??= temporaryFolder('attacks');
  const place = mkdtempSync(join(root, 'a-'));
  const folder = join(place, group[0]?.folderName ?? 'domain');
  mkdirSync(folder);
  writeFileSync(join(folder, 'domain.yaml'), 'name: attack\n');
  const descriptor = openSync(join(place, 'open.txt'), 'w+');
  const port = await freePort();
  const prepared = await Promise.all(
    group.map((attack, at) => prepare(attack, join(folder, `a${at}`), join(place, `o${at}`), descriptor, port)),
  );
  try {
    const language = group[0]?.language ?? 'TypeScript';
    writeFileSync(join(folder, toolsFile[language]), sourceOf(language, prepared));
    const ended = await run(mode, folder, language, [`--inspect-port=${port}`], descriptor);
    return await Promise.all(
      prepared.map(async (each, at) => [each.attack, await found(each, ended, ended.answers[at])] as const),
    );
  } finally {
    closeSync(descriptor);
    for (const { close } of prepared) close();
  }
}

async function prepare(
  attack: Attack,
  folder: string,
  outside: string,
  descriptor: number,
  port: number,
): Promise<Prepared> {
  const { code } = attack;
  const token = randomBytes(8).toString('hex');
  for (const each of [folder, outside]) mkdirSync(each);
  writeFileSync(join(folder, 'notes.txt'), 'kept\n');
  symlinkSync('/', join(folder, 'link'));
  if (code.includes('unpacked')) unpackLink(folder);
  writeFileSync(join(outside, token), '');
  writeFileSync(join(outside, 'secret.js'), `export const text = '${token}';\n`);
  const database = join(outside, 'data.db');
  if (code.includes('PackageJSON')) writeFileSync(join(outside, 'package.json'), '{}\n');
  if (code.includes('scene.database'))
    new DatabaseSync(database).exec(`create table t (x); insert into t values ('${token}')`);
  const net = /scene\W+(?:tcp|udp|socket|abstract)/.test(code) ? await listen(token, outside) : null;
  const victim = code.includes('victim') ? await startVictim() : null;
  const scene: Scene = {
    secret: join(outside, 'secret.js'),
    database,
    outside,
    folder,
    tcp: net?.tcp ?? 0,
    udp: net?.udp ?? 0,
    socket: join(outside, 's'),
    abstract: `rehearsal-${token}`,
    victim: victim?.child.pid ?? 0,
    inspector: code.includes('ppid') || code.includes('_debugProcess') ? port : await freePort(),
    inode: fstatSync(descriptor).ino,
    mark: `mark-${token}`,
  };
  const close = () => {
    net?.close();
    victim?.child.kill('SIGKILL');
  };
  const before = contents(scene, attack);
  return { attack, scene, token, victim, before, connections: () => net?.connections() ?? 0, close };
}

/** Creates in a folder what an archive with a link to the root folder contains. */
function unpackLink(folder: string): void {
  const [packed, unpacked] = [join(folder, 'packed'), join(folder, 'unpacked')];
  for (const each of [packed, unpacked]) mkdirSync(each);
  symlinkSync('/', join(packed, 'link'));
  const archive = join(folder, 'archive.tar');
  execFileSync('tar', ['-cf', archive, '-C', packed, 'link']);
  execFileSync('tar', ['-xf', archive, '-C', unpacked]);
}

/** Starts the servers of an attack, which answer every connection with HTTP and close it. */
async function listen(token: string, outside: string) {
  let connections = 0;
  const came = () => {
    connections += 1;
  };
  const udp = createSocket('udp4').on('message', (_, { port, address }) => {
    came();
    udp.send('y', port, address);
  });
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  const places = [{ port: 0, host: '127.0.0.1' }, { path: join(outside, 's') }, { path: `\0rehearsal-${token}` }];
  const servers = places.map((place) =>
    createServer((connection) => {
      came();
      connection.on('error', () => undefined).end('HTTP/1.1 200 OK\r\n\r\n');
    }).listen(place),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return {
    tcp: ((servers[0] as Server).address() as AddressInfo).port,
    udp: udp.address().port,
    connections: () => connections,
    close: () => {
      udp.close();
      for (const server of servers) server.close();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a Node process that echoes its input. */
async function startVictim(): Promise<Victim> {
  const code = 'console.log("up"); process.stdin.pipe(process.stdout)';
  const child = spawn(process.execPath, ['--inspect-port=0', '-e', code], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  child.stdin.on('error', () => undefined);
  await once(child.stdout, 'data');
  return { child, said: () => said };
}

/** Returns a tools file that runs all attacks when it is loaded, and reports their results in its last error. */
function sourceOf(language: Attack['language'], prepared: readonly Prepared[]): string {
  if (language === 'Python') {
    const functions = prepared.map(({ attack, scene }, at) => {
      const body = attack.code.split('\n').map((line) => `    ${line}`);
      return `def attack${at}(scene=json.loads(${JSON.stringify(JSON.stringify(scene))})):\n${body.join('\n')}\n`;
    });
    return `import errno, json, os, socket, sys
${functions.join('')}
answers = []
for attack in [${functions.map((_, at) => `attack${at}`).join(', ')}]:
    try:
        answers.append([True, str(attack())[:200]])
    except BaseException as error:
        code = errno.errorcode.get(getattr(error, "errno", None))
        answers.append([False, code or str(error) or type(error).__name__])
raise RuntimeError("@@" + json.dumps(answers) + "@@")
`;
  }
  const functions = prepared.map(
    ({ attack, scene }) => `[${JSON.stringify(scene)}, async (scene) => { ${attack.code} }],\n`,
  );
  return `const answers = [];
for (const [scene, attack] of [${functions.join('')}]) {
  try {
    answers.push([true, String(await attack(scene)).slice(0, 200)]);
  } catch (error) {
    answers.push([false, String(error.code ?? (error.name === 'Error' ? error.message : error.name))]);
  }
}
throw new Error('@@' + JSON.stringify(answers) + '@@');
`;
}

/** Starts the program in its arguments, and ends with it. */
const host = `const { spawn } = process.getBuiltinModule('node:child_process');
spawn(process.argv[1], process.argv.slice(2), { stdio: 'inherit' }).on('exit', () => process.exit());`;

/** The time for attacks that share a process, in ms. Node.js hangs in rare cases when it has no room for memory. */
const limitMs = 150_000;

/** Loads a domain with the command line, or its tools with a plain runtime. */
async function run(
  mode: Mode,
  folder: string,
  language: Attack['language'],
  flags: readonly string[],
  descriptor: number,
): Promise<Ended> {
  const file = join(folder, toolsFile[language]);
  const runtime = language === 'Python' ? (programPath('python3') ?? 'python3') : process.execPath;
  // Without a sandbox, a domain's code does not run before it is approved.
  const approved = mode === 'flags' ? ['--approve', hashOf(folder, false)] : [];
  const args = mode === 'nothing' ? ['-e', host, runtime, file] : [program, 'tools', folder, '--json', ...approved];
  const stdio = Array.from({ length: leftOpen + 1 }, (_, at) => (at === 0 || at > 2 ? 'ignore' : 'pipe') as 'pipe');
  const child = spawn(process.execPath, [...flags, ...args], {
    cwd: folder,
    stdio: [...stdio.slice(0, leftOpen), descriptor],
    env: { ...process.env, OPENAI_API_KEY: 'sk-planted', REHEARSAL_SANDBOX: mode === 'sandbox' ? 'on' : 'off' },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const isLate = Promise.withResolvers<'late'>();
  const timer = setTimeout(isLate.resolve, limitMs, 'late');
  const ended = await Promise.race([once(child, 'close') as Promise<[number | null, string | null]>, isLate.promise]);
  clearTimeout(timer);
  if (ended === 'late') {
    killTree(child.pid ?? 0);
    throw new Error(`${file} did not end within ${limitMs / 1000} s`);
  }
  const [, signal] = ended;
  const line = said.split('\n').find((each) => each.startsWith('{"error":')) ?? '{}';
  const { error } = JSON.parse(line) as { readonly error?: { readonly code: string; readonly message: string } };
  const answers = /@@(\[.*?\])@@/s.exec(error?.message ?? said)?.[1] ?? '[]';
  return { said, signal, code: error?.code, answers: JSON.parse(answers) as Answer[] };
}

/** Returns the result of an attack, as observed from outside. */
async function found(prepared: Prepared, ended: Ended, answer: Answer | undefined): Promise<Observed> {
  const { attack, token, victim } = prepared;
  const reached = (text: string): Observed => ({ isReached: true, text: `possible: ${text}` });
  switch (attack.canary) {
    case 'secret':
      if (ended.said.includes(token)) return reached('it is read');
      break;
    case 'files': {
      const changed = changes(prepared.before, contents(prepared.scene, attack));
      if (changed) return reached(changed);
      break;
    }
    case 'network':
      if (prepared.connections() > 0) return reached('the server is reached');
      break;
    case 'parent':
      if (ended.signal) return reached(`${ended.signal} ends the parent`);
      break;
    case 'victim': {
      const harm = victim && (await harmTo(victim, answer?.[0] === true));
      if (harm) return reached(harm);
      break;
    }
    case 'remains':
      if (await remains(prepared.scene.mark, answer?.[0] === true)) return reached('the process remains');
      break;
    case 'answer':
      if (answer?.[0]) return reached('it succeeds');
  }
  if (answer) return { isReached: false, text: answer[0] ? 'no effect' : `refused: ${answer[1]}` };
  return { isReached: false, text: `ended: ${ended.code ?? ended.said}` };
}

/** Returns the files, links and sizes of an attack's folders, and of the file that its parents have open. */
function contents({ folder, outside }: Scene, { code }: Attack): readonly string[] {
  const inFolder = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) return inFolder(inside);
      return [entry.isFile() ? `${inside} ${statSync(inside).size}` : inside];
    });
  const open = join(outside, '..', 'open.txt');
  const left = code.includes('inode') ? [`${open} ${statSync(open).size}`] : [];
  return [...inFolder(folder), ...inFolder(outside), ...left];
}

/** Describes the files that were added or removed. */
function changes(before: readonly string[], after: readonly string[]): string | null {
  const name = (path: string) => path.replace(/^.*\/| \d+$/g, '');
  const came = after.filter((each) => !before.includes(each)).map(name);
  const gone = before.filter((each) => !after.includes(each)).map(name);
  if (came.length > 0) return `${came.join(', ')} is written`;
  return gone.length > 0 ? `${gone.join(', ')} is gone` : null;
}

/** Returns the harm to another process, or null if it still answers. */
async function harmTo({ child, said }: Victim, isHit: boolean): Promise<string | null> {
  const seen = () => {
    if (child.signalCode !== null) return `${child.signalCode} ends it`;
    if (said().includes('Debugger listening')) return 'its inspector is open';
    return / T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8')) ? 'it is stopped' : null;
  };
  if (!isHit) child.stdin?.write('ping\n');
  const what = await waitFor(() => seen() ?? (!isHit && said().includes('ping') ? 'alive' : null));
  if (what === 'alive') return null;
  return what ?? (isHit ? null : 'it does not answer');
}

/** Reports whether a process with this mark in its command line remains, and ends it. */
async function remains(mark: string, isStarted: boolean): Promise<boolean> {
  const pid = isStarted ? await waitFor(() => processWith(mark)) : processWith(mark);
  if (pid === null) return false;
  killIfRunning(pid);
  return true;
}

async function waitFor<Value>(find: () => Value | null, ms = 60_000): Promise<Value | null> {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const value = find();
    if (value !== null) return value;
  }
  return null;
}

function processWith(mark: string): number | null {
  const isMarked = (pid: number) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).find(isMarked) ?? null;
}
