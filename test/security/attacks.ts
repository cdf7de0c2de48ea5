/** The targets of an attack outside of its domain. Its code reads this as `scene`. Each attack has its own. */
export type Scene = {
  /** A JavaScript module outside of the domain, with a text that is nowhere else. */
  readonly secret: string;
  /** An SQLite database outside of the domain, with the same text. */
  readonly database: string;
  /** The folder of both, which this user may write to. */
  readonly outside: string;
  /** Its own folder in the domain, with `notes.txt` and `link`, a link to the root folder. */
  readonly folder: string;
  /** A TCP server and a UDP socket on loopback. */
  readonly tcp: number;
  readonly udp: number;
  /** A Unix socket by its path, and one by an abstract name. */
  readonly socket: string;
  readonly abstract: string;
  /** A Node process of the same user. */
  readonly victim: number;
  /** A port for an inspector: that of the parent, or of the attack itself. */
  readonly inspector: number;
  /** Identifies a file that the process which starts Rehearsal has open. */
  readonly inode: number;
  /** Marks processes that the attack starts. */
  readonly mark: string;
};

/**
 * The sign that an attack succeeded: the secret in the output of the command line, changed files, a server that was
 * reached, another process that ended, stopped or opened its inspector, the parent that ended, a process that remains,
 * or the answer of the code itself.
 */
type Canary = 'secret' | 'files' | 'network' | 'victim' | 'parent' | 'remains' | 'answer';

export type Attack = {
  readonly name: string;
  readonly promise: string;
  readonly language: 'TypeScript' | 'Python';
  /** The body of a function, which returns if the attack succeeded, and throws otherwise. */
  readonly code: string;
  readonly canary: Canary;
  /** Whether the promise holds without a sandbox: by Node's permission flags, or by nothing in Python. */
  readonly holdsWithout: boolean;
  /** Whether it runs in its own process, because it ends the process or its parent, or exhausts shared resources. */
  readonly isAlone: boolean;
  /** A name of the domain's folder that is a part of the attack. */
  readonly folderName?: string;
  /** Why it cannot succeed in an unconfined process either. */
  readonly impossible?: string;
};

type Options = Partial<Pick<Attack, 'canary' | 'isAlone' | 'folderName' | 'impossible'>>;
type Row = readonly [name: string, code: string, options?: Options];

const rows =
  (language: Attack['language'], promise: string, holdsWithout: boolean, canary: Canary) =>
  (...given: readonly Row[]): readonly Attack[] =>
    given.map(([name, code, options]) => ({
      ...{ name, code, canary, language, promise, holdsWithout, isAlone: false },
      ...options,
    }));

const read = 'It reads no file outside its folder.';
const write = 'It changes no file.';
const network = 'It has no network.';
const others = 'It reaches no other process.';
const start = 'It starts neither a process nor a thread.';
const startProcess = 'It starts no other process.';
const load = 'It loads no native code.';
const limit = 'It uses no more than its share of memory, files and processes.';
const inspector = 'It opens no inspector, in no process.';
const keys = 'It sees no key and no environment.';
const descriptors = 'It writes to no descriptor that it inherits except its channel.';

const alone = { isAlone: true } as const;

const fs = `const fs = await import('node:fs');`;
const sqlite = `const { DatabaseSync } = await import('node:sqlite');`;
const internal = `const { default: Module } = await import('node:module');`;
const readLink = (path: string) => `${fs} return fs.readFileSync(scene.folder + ${path}, 'utf8');`;
const connect = (to: string) => `const net = await import('node:net');
await new Promise((resolve, reject) => { net.connect(${to}).on('connect', resolve).on('error', reject); });`;
/** Loads the C library. The error that it is not an addon shows that native code may be loaded. */
const loadLibrary = (
  code: string,
) => `const library = process.report.getReport().sharedObjects.find((each) => /libc\\.so/.test(each));
try { ${code} } catch (error) { if (!/self-regist|undefined symbol/.test(error.message)) throw error; }`;
/** Finds the key of the person in a text that names environment variables. */
const findKey = (text: string) =>
  `const text = ${text}; if (!text.includes('sk-planted')) throw new Error('no key'); return 'a key';`;

/** Tries to reach an inspector for a second. */
const reachInspector = `for (let i = 0; i < 20; i++) {
  try { return (await fetch('http://127.0.0.1:' + scene.inspector + '/json')).status; } catch {}
  await new Promise((resolve) => setTimeout(resolve, 50));
}
throw new Error('no inspector');`;

const typeScript: readonly Attack[] = [
  ...rows('TypeScript', read, true, 'secret')(
    ['read a file by its path', `${fs} return fs.readFileSync(scene.secret, 'utf8');`],
    [
      'read a file by a path that leaves the folder',
      `${fs} return fs.readFileSync(scene.folder + '/../../' + scene.secret.split('/').slice(-2).join('/'));`,
    ],
    ['read a file by a path as bytes', `${fs} return fs.readFileSync(Buffer.from(scene.secret));`],
    ['read a file by its URL', `${fs} return fs.readFileSync(new URL('file://' + scene.secret));`],
    ['read a file as a blob', `${fs} return await (await fs.openAsBlob(scene.secret)).text();`],
    ['read a file with Module._load', `${internal} return Module._load('fs').readFileSync(scene.secret);`],
    [
      'read a file as environment variables',
      `process.loadEnvFile(scene.secret); return Object.entries(process.env).find(([name]) => name.includes('text'));`,
    ],
    ['require a file', `${internal} return Module.createRequire(scene.folder + '/x.js')(scene.secret).text;`],
    ['import a file', `return (await import('file://' + scene.secret)).text;`],
    [
      'import a data: URL that reads a file',
      `return (await import('data:text/javascript,' + encodeURIComponent('import { readFileSync } from "node:fs"; export const text = readFileSync(' + JSON.stringify(scene.secret) + ');'))).text;`,
    ],
    ['read a file through process.binding', `return process.binding('fs').readFileUtf8(scene.secret, 0);`],
    ['list a folder outside its own', `${fs} return fs.readdirSync(scene.outside).join();`],
    [
      'change the working directory, then list it',
      `${fs} process.chdir(scene.outside); try { return fs.readdirSync('.').join(); } finally { process.chdir(scene.folder); }`,
    ],
    [
      'read a folder next to a domain whose folder is named *',
      `${fs} return fs.readFileSync(scene.secret, 'utf8');`,
      { ...alone, folderName: '*' },
    ],
  ),
  ...rows(
    'TypeScript',
    read,
    true,
    'answer',
  )(
    [
      'let WebAssembly read files through WASI',
      `const { WASI } = await import('node:wasi'); return new WASI({ version: 'preview1', preopens: { '/': '/' } });`,
    ],
    [
      "read the parent's environment",
      `${fs} ${findKey(`fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8')`)}`,
    ],
  ),
  ...rows(
    'TypeScript',
    read,
    false,
    'secret',
  )(
    ['follow a link in the domain to a file', readLink(`'/link' + scene.secret`)],
    ['follow a link that an archive unpacked', readLink(`'/unpacked/link' + scene.secret`)],
    [
      'open an SQLite database',
      `${sqlite} return JSON.stringify(new DatabaseSync(scene.database, { readOnly: true }).prepare('select * from t').all());`,
    ],
  ),
  ...rows(
    'TypeScript',
    read,
    false,
    'answer',
  )(
    [
      "follow a link in the domain to the parent's environment",
      `${fs} ${findKey(`fs.readFileSync(scene.folder + '/link/proc/' + process.ppid + '/environ', 'utf8')`)}`,
    ],
    [
      'find a package.json outside its folder',
      `const { findPackageJSON } = await import('node:module');
const found = findPackageJSON('./secret.js', 'file://' + scene.outside + '/x.js'); if (!found?.startsWith(scene.outside)) throw new Error('not found'); return found;`,
    ],
    [
      'test with require.resolve whether a file exists',
      `${internal} return Module.createRequire('/x.js').resolve(scene.secret);`,
    ],
  ),
  ...rows('TypeScript', write, true, 'files')(
    ['write to the domain', `${fs} return fs.writeFileSync(scene.folder + '/new.txt', 'x');`],
    ['write outside its folder', `${fs} return fs.writeFileSync(scene.outside + '/new.txt', 'x');`],
    ['delete a file of the domain', `${fs} return fs.rmSync(scene.folder + '/notes.txt');`],
    ['copy a file into the domain', `${fs} return fs.copyFileSync(scene.secret, scene.folder + '/copy');`],
    ['create a hard link to a file', `${fs} return fs.linkSync(scene.secret, scene.folder + '/hard');`],
    ['create a symbolic link to the root folder', `${fs} return fs.symlinkSync('/', scene.folder + '/made');`],
    ['write a heap snapshot', `return (await import('node:v8')).writeHeapSnapshot(scene.outside + '/heap');`],
    ['write a diagnostic report', `return process.report.writeReport(scene.outside + '/report');`],
    [
      'change the time of a file that is open for reading',
      `${fs} const file = fs.openSync(scene.folder + '/notes.txt'); fs.futimesSync(file, 1000, 1000);`,
      { canary: 'answer' },
    ],
    [
      'write to its own memory through /proc',
      `${fs} return fs.openSync('/proc/self/mem', 'r+');`,
      { canary: 'answer' },
    ],
    [
      'let V8 write its logs',
      `const v8 = await import('node:v8');
for (const flag of ['--trace-turbo-cfg-file=' + scene.outside + '/cfg', '--trace-turbo-path=' + scene.outside, '--trace-turbo'])
  v8.setFlagsFromString(flag);
const add = (a, b) => a + b; let sum = 0; for (let i = 0; i < 5e6; i++) sum = add(sum, i) | 0; return sum;`,
      alone,
    ],
  ),
  ...rows(
    'TypeScript',
    write,
    false,
    'files',
  )(
    [
      'create an SQLite database in the domain',
      `${sqlite} return new DatabaseSync(scene.folder + '/new.db').exec('create table t (x)');`,
    ],
    [
      'create a Unix socket in the domain',
      `const net = await import('node:net'); await new Promise((resolve, reject) => {
  net.createServer().listen(scene.folder + '/socket').on('listening', resolve).on('error', reject); });
process.reallyExit(0);`,
      alone,
    ],
    [
      'write an SQLite database with ATTACH',
      `${sqlite} return new DatabaseSync(':memory:').exec("attach '" + scene.outside + "/attached.db' as a; create table a.t (x)");`,
    ],
  ),
  ...rows('TypeScript', network, false, 'network')(
    ['connect over TCP', connect(`scene.tcp, '127.0.0.1'`)],
    [
      'send over UDP',
      `const socket = (await import('node:dgram')).createSocket('udp4');
const answer = new Promise((resolve, reject) => { socket.on('message', resolve).on('error', reject); setTimeout(() => reject(new Error('no answer')), 2000); });
try { await new Promise((resolve, reject) => socket.send('x', scene.udp, '127.0.0.1', (error) => error ? reject(error) : resolve())); await answer; } finally { socket.close(); }`,
    ],
    ['fetch a URL', `return (await fetch('http://127.0.0.1:' + scene.tcp)).status;`],
    [
      'open a WebSocket',
      `await new Promise((resolve, reject) => { Object.assign(new WebSocket('ws://127.0.0.1:' + scene.tcp), { onopen: resolve, onerror: () => reject(new Error('closed')) }); });`,
    ],
    [
      'query a name server',
      `const { Resolver } = (await import('node:dns')).promises; const resolver = new Resolver({ timeout: 500, tries: 1 });
resolver.setServers(['127.0.0.1:' + scene.udp]); return await resolver.resolve4('a.example');`,
    ],
    ['connect to a Unix socket', connect('scene.socket')],
    ['connect to an abstract Unix socket', connect(`'\\0' + scene.abstract`)],
  ),
  ...rows(
    'TypeScript',
    network,
    true,
    'network',
  )([
    'import a module from a URL',
    `return (await import('http://127.0.0.1:' + scene.tcp + '/x.js')).text;`,
    { impossible: 'Node imports no module from a URL.' },
  ]),
  ...rows(
    'TypeScript',
    others,
    false,
    'victim',
  )(
    ...(['SIGTERM', 'SIGKILL', 'SIGSTOP'] as const).map(
      (signal) => [`${signal} to another process`, `process.kill(scene.victim, '${signal}');`] as const,
    ),
  ),
  ...rows(
    'TypeScript',
    others,
    false,
    'parent',
  )(
    ...(['SIGKILL', 'SIGALRM', 'SIGABRT'] as const).map(
      (signal) => [`${signal} to the parent`, `process.kill(process.ppid, '${signal}');`, alone] as const,
    ),
  ),
  ...rows(
    'TypeScript',
    others,
    false,
    'answer',
  )(
    ['see whether a process exists', `process.kill(scene.victim, 0);`],
    ['change the priority of another process', `(await import('node:os')).setPriority(scene.victim, 19);`],
  ),
  ...rows(
    'TypeScript',
    inspector,
    false,
    'victim',
  )(
    ['SIGUSR1 to another Node process', `process.kill(scene.victim, 'SIGUSR1');`],
    ['process._debugProcess on another Node process', `process._debugProcess(scene.victim);`],
  ),
  ...rows('TypeScript', inspector, true, 'answer')(
    ['SIGUSR1 to the parent, then its inspector', `process.kill(process.ppid, 'SIGUSR1'); ${reachInspector}`, alone],
    ['process._debugProcess on the parent', `process._debugProcess(process.ppid); ${reachInspector}`, alone],
    [
      'import node:inspector',
      `const it = await import('node:inspector'); it.open(0); const url = it.url(); it.close(); return url;`,
    ],
    [
      'open its inspector on all interfaces with Module._load',
      `${internal} const it = Module._load('inspector'); it.open(0, '0.0.0.0'); const url = it.url(); if (!url) throw new Error('closed'); it.close(); return url;`,
    ],
    [
      'SIGUSR1 to itself, then its inspector',
      `process.debugPort = scene.inspector; process.kill(process.pid, 'SIGUSR1'); ${reachInspector}`,
    ],
  ),
  ...rows('TypeScript', start, true, 'answer')(
    ['child_process', `return (await import('node:child_process')).execSync('id').toString();`],
    [
      'child_process with Module._load',
      `${internal} return Module._load('child_process').execFileSync('id').toString();`,
    ],
    [
      'spawn through process.binding',
      `const { Process } = process.binding('process_wrap'); const ignore = { type: 'ignore' };
const error = new Process().spawn('/usr/bin/id', ['id'], undefined, undefined, [ignore, ignore, ignore], 0); if (error) throw new Error('error ' + error);`,
    ],
    [
      'cluster',
      `const { default: cluster } = await import('node:cluster'); cluster.setupPrimary({ exec: '/dev/null' }); return cluster.fork().id;`,
    ],
    [
      'worker_threads',
      `const { Worker } = await import('node:worker_threads'); return new Worker('0', { eval: true }).threadId;`,
    ],
    [
      'replace its own program with process.execve',
      `return process.execve('/bin/sh', ['sh', '-c', "echo '@@[[true,\\"shell\\"]]@@'"]);`,
      alone,
    ],
  ),
  ...rows(
    'TypeScript',
    load,
    true,
    'answer',
  )(
    ['process.dlopen', loadLibrary(`process.dlopen({ exports: {} }, library);`)],
    [
      'load an addon with Module._extensions',
      `${internal} ${loadLibrary(`Module._extensions['.node']({ exports: {} }, library);`)}`,
    ],
    [
      'load an SQLite extension',
      `${sqlite} ${loadLibrary(`new DatabaseSync(':memory:', { allowExtension: true }).loadExtension(library);`)}`,
    ],
  ),
  ...rows('TypeScript', keys, true, 'answer')(['environment variables', findKey('Object.values(process.env).join()')]),
  ...rows(
    'TypeScript',
    limit,
    true,
    'answer',
  )(
    [
      'fill 800 MB of the heap',
      `const all = []; for (let i = 0; i < 100; i++) all.push(new Array(1e6).fill(i)); return all.length;`,
      alone,
    ],
    [
      'write 400 MB to the marker of its process',
      `${fs} const chunk = Buffer.alloc(8e6);
for (let i = 0; i < 50; i++) { fs.writeSync(4, chunk); await new Promise((resolve) => setTimeout(resolve, 30)); }`,
      { ...alone, impossible: 'A process that is not a worker has no marker.' },
    ],
  ),
  ...rows('TypeScript', limit, false, 'answer')(
    [
      'allocate 4 GB of array buffers',
      `const all = []; for (let i = 0; i < 40; i++) all.push(new ArrayBuffer(1e8)); return all.length;`,
      alone,
    ],
    [
      'allocate 4 GB of WebAssembly memory',
      `const all = []; for (let i = 0; i < 40; i++) all.push(new WebAssembly.Memory({ initial: 1600 })); return all.length;`,
      alone,
    ],
    [
      'allocate 4 GB of shared array buffers',
      `const all = []; for (let i = 0; i < 40; i++) { all.push(new SharedArrayBuffer(1e8)); } return all.length;`,
      alone,
    ],
    [
      'allocate 4 GB of shared WebAssembly memory',
      `const all = []; for (let i = 0; i < 40; i++) { all.push(new WebAssembly.Memory({ initial: 1600, maximum: 1600, shared: true })); } return all.length;`,
      alone,
    ],
    [
      'open 2000 files',
      `${fs} for (let i = 0; i < 2000; i++) fs.openSync(scene.folder + '/notes.txt'); return 'open';`,
      alone,
    ],
  ),
  ...rows(
    'TypeScript',
    descriptors,
    true,
    'files',
  )([
    'write to a descriptor that its parents left open',
    `${fs} for (let fd = 5; fd < 60; fd++) { try { const { ino } = fs.fstatSync(fd); if (ino === scene.inode) return fs.writeSync(fd, 'garbage'); } catch {} } throw new Error('none');`,
  ]),
];

const python: readonly Attack[] = [
  ...rows('Python', read, false, 'secret')(
    ['read a file', 'return open(scene["secret"]).read()'],
    ['follow a link in the domain', 'return open(scene["folder"] + "/link" + scene["secret"]).read()'],
    [
      'follow a link that an archive unpacked',
      'return open(scene["folder"] + "/unpacked/link" + scene["secret"]).read()',
    ],
    [
      'read a folder next to a domain whose folder is named *',
      'return open(scene["secret"]).read()',
      { ...alone, folderName: '*' },
    ],
  ),
  ...rows(
    'Python',
    read,
    false,
    'answer',
  )(["list this user's processes", 'if str(scene["victim"]) not in os.listdir("/proc"): raise OSError("not there")']),
  ...rows(
    'Python',
    keys,
    false,
    'answer',
  )([
    "read the parent's environment",
    'text = open("/proc/%d/environ" % os.getppid()).read()\nif "sk-planted" not in text: raise OSError("no key")',
  ]),
  ...rows(
    'Python',
    keys,
    true,
    'answer',
  )([
    'environment variables',
    'if not any("sk-planted" in each for each in os.environ.values()): raise OSError("no key")',
  ]),
  ...rows('Python', write, false, 'files')(
    ['write to the domain', 'open(scene["folder"] + "/new.txt", "w")'],
    ['write outside its folder', 'open(scene["outside"] + "/new.txt", "w")'],
    ['delete a file of the domain', 'os.remove(scene["folder"] + "/notes.txt")'],
    ['create a hard link to a file', 'os.link(scene["secret"], scene["folder"] + "/hard")'],
    ['create a symbolic link to the root folder', 'os.symlink("/", scene["folder"] + "/made")'],
    ['make its folder writable', 'os.chmod(scene["folder"], 0o777)\nopen(scene["folder"] + "/new.txt", "w")'],
  ),
  ...rows(
    'Python',
    network,
    false,
    'network',
  )(
    ['connect over TCP', 'socket.create_connection(("127.0.0.1", scene["tcp"]), 2)'],
    ['connect to a Unix socket', 'socket.socket(socket.AF_UNIX).connect(scene["socket"])'],
    ['connect to an abstract Unix socket', 'socket.socket(socket.AF_UNIX).connect("\\0" + scene["abstract"])'],
  ),
  ...rows('Python', others, false, 'victim')(['SIGKILL to another process', 'os.kill(scene["victim"], 9)']),
  ...rows('Python', others, false, 'parent')(['SIGALRM to the parent', 'os.kill(os.getppid(), 14)', alone]),
  ...rows(
    'Python',
    others,
    false,
    'answer',
  )([
    'attach to another process with ptrace',
    'import ctypes\nif ctypes.CDLL(None).ptrace(16, scene["victim"], 0, 0) != 0: raise OSError("ptrace")',
  ]),
  ...rows(
    'Python',
    others,
    false,
    'remains',
  )([
    'leave a process running',
    'if os.fork() == 0:\n    os.setsid()\n    for fd in range(3): os.close(fd)\n    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", scene["mark"]])',
  ]),
  ...rows(
    'Python',
    startProcess,
    false,
    'answer',
  )(
    ['start a program', 'import subprocess\nsubprocess.run([sys.executable, "-c", ""], check=True)'],
    ['fork', 'if os.fork() == 0: os._exit(0)'],
    [
      'fork with the system call clone3',
      'import ctypes\nargs = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)\npid = ctypes.CDLL(None, use_errno=True).syscall(435, args, 88)\nif pid == 0: os._exit(0)\nif pid < 0: raise OSError(ctypes.get_errno(), "clone3")',
    ],
  ),
  ...rows('Python', inspector, false, 'victim')(['SIGUSR1 to a Node process', 'os.kill(scene["victim"], 10)']),
  ...rows('Python', limit, false, 'answer')(
    ['open 2000 files', 'return len([open(__file__) for _ in range(2000)])'],
    ['allocate 5 GB', 'return len([bytearray(1 << 28) for _ in range(20)])'],
    ['allocate 5 GB of shared memory', 'import mmap\nreturn len(mmap.mmap(-1, 5 << 30))'],
    [
      'allocate shared memory with /dev/zero',
      'import mmap\nreturn len(mmap.mmap(os.open("/dev/zero", os.O_RDWR), 5 << 30))',
    ],
    [
      'allocate anonymous memory with memfd_create',
      'file = os.memfd_create("memory")\nos.ftruncate(file, 5 << 30)\nreturn file',
    ],
    [
      'fill the temporary folder with 200 MB',
      `path = "/tmp/" + scene["mark"]
try:
    with open(path, "wb") as file:
        for _ in range(200): file.write(bytes(1 << 20))
finally:
    os.remove(path)`,
    ],
    [
      'start 400 processes (fork bomb)',
      `def child():
    os.close(write)
    os.read(read, 1)
    os._exit(0)
read, write = os.pipe()
pids = []
try:
    for _ in range(400):
        pid = os.fork()
        if pid == 0: child()
        pids.append(pid)
    return len(pids)
finally:
    os.close(write)
    for pid in pids: os.waitpid(pid, 0)`,
    ],
  ),
];

export const attacks: readonly Attack[] = [...typeScript, ...python];
