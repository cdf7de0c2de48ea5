/** What an attack finds outside of its domain. Its code reads this as `scene`. */
export type Scene = {
  /** A file outside of the domain, and what is in it. */
  readonly secret: string;
  /** An SQLite database outside of the domain. */
  readonly database: string;
  /** A folder outside of the domain that this user may write to. */
  readonly outside: string;
  /** The domain's folder. */
  readonly folder: string;
  /** A TCP server and a UDP socket on loopback. */
  readonly tcp: number;
  readonly udp: number;
  /** A Unix socket by its path, and one by an abstract name. */
  readonly socket: string;
  readonly abstract: string;
  /** A Node process of the same user. */
  readonly victim: number;
  /** Marks processes that the attack leaves behind. */
  readonly mark: string;
};

/** What decides: the code's own report, the files that are left, or what became of a process. */
type Judged = 'report' | 'disk' | 'parent' | 'victim' | 'left-behind';

export type Attack = {
  readonly name: string;
  readonly promise: string;
  readonly language: 'TypeScript' | 'Python';
  /** The body of a function. It returns when the attack succeeded, and throws when it did not. */
  readonly code: string;
  readonly judged: Judged;
  /** Whether the promise holds without a sandbox: by Node's permission flags, or by nothing in Python. */
  readonly holdsWithout: boolean;
  /** A name of the domain's folder that is a part of the attack. */
  readonly folderName?: string;
};

type Row = readonly [name: string, code: string, judged?: Judged];

const rows =
  (language: Attack['language'], promise: string, holdsWithout: boolean) =>
  (...given: readonly Row[]): readonly Attack[] =>
    given.map(([name, code, judged = promise === write ? 'disk' : 'report']) => ({
      name,
      code,
      judged,
      language,
      promise,
      holdsWithout,
    }));

const read = 'It reads no file outside its folder.';
const write = 'It changes no file.';
const net = 'It has no network.';
const others = 'It reaches no other process.';
const start = 'It starts no process and no thread.';
const alone = 'It starts no other process.';
const load = 'It loads no native code.';
const limit = 'It uses no more than its share of memory, files and processes.';
const inspector = 'It opens no inspector, in no process.';
const keys = 'It sees no key and no environment.';

const connect = (to: string) => `const net = await import('node:net');
await new Promise((resolve, reject) => { net.connect(${to}).on('connect', resolve).on('error', reject); });`;
const viaLink = (path: string) =>
  `const fs = await import('node:fs'); return fs.readFileSync(scene.folder + '/link' + ${path}, 'utf8');`;
const sqlite = `const { DatabaseSync } = await import('node:sqlite');`;
const internal = `const { default: Module } = await import('node:module');`;

/** Tries to reach the inspector of the parent, for a second. */
const reachInspector = `for (let i = 0; i < 20; i++) {
  try { return (await fetch('http://127.0.0.1:9229/json')).status; } catch {}
  await new Promise((resolve) => setTimeout(resolve, 50));
}
throw new Error('no inspector');`;

const typeScript: readonly Attack[] = [
  ...rows('TypeScript', read, true)(
    ['read a file by its path', `return (await import('node:fs')).readFileSync(scene.secret, 'utf8');`],
    [
      'read a file by a path that leaves the folder',
      `return (await import('node:fs')).readFileSync(scene.folder + '/../' + scene.secret.split('/').at(-1));`,
    ],
    ['read a file by a path in bytes', `return (await import('node:fs')).readFileSync(Buffer.from(scene.secret));`],
    ['read a file by its URL', `return (await import('node:fs')).readFileSync(new URL('file://' + scene.secret));`],
    ['read a file as a blob', `return await (await (await import('node:fs')).openAsBlob(scene.secret)).text();`],
    ['list the root folder', `return (await import('node:fs')).readdirSync('/').join();`],
    [
      'change the working directory, then list it',
      `process.chdir('/'); return (await import('node:fs')).readdirSync('.').join();`,
    ],
    [
      'copy a file into the domain',
      `return (await import('node:fs')).copyFileSync(scene.secret, scene.folder + '/copy');`,
    ],
    ['make a hard link to a file', `return (await import('node:fs')).linkSync(scene.secret, scene.folder + '/hard');`],
    [
      'make a symbolic link to the root folder',
      `return (await import('node:fs')).symlinkSync('/', scene.folder + '/made');`,
    ],
    ['import a file as a module', `return await import('file://' + scene.secret);`],
    [
      'import a data: URL that reads a file',
      `return await import('data:text/javascript,' + encodeURIComponent('import { readFileSync } from "node:fs"; export const text = readFileSync(' + JSON.stringify(scene.secret) + ');'));`,
    ],
    [
      'read a file through WASI',
      `const { WASI } = await import('node:wasi'); return new WASI({ version: 'preview1', preopens: { '/': '/' } });`,
    ],
    [
      "read the parent's environment",
      `return (await import('node:fs')).readFileSync('/proc/' + process.ppid + '/environ', 'utf8');`,
    ],
    [
      'read a file through internal bindings',
      `const { internalBinding } = process.binding('natives'); return process.binding('fs').readFileUtf8(scene.secret, 0);`,
    ],
  ),
  ...rows('TypeScript', read, false)(
    ['follow a link in the domain to a file', viaLink('scene.secret')],
    [
      "follow a link in the domain to the parent's environment",
      `${`const text = (await import('node:fs')).readFileSync(scene.folder + '/link/proc/' + process.ppid + '/environ', 'utf8');`} if (!text.includes('sk-planted')) throw new Error('not the parent'); return text;`,
    ],
    [
      'open an SQLite database',
      `${sqlite} return JSON.stringify(new DatabaseSync(scene.database, { readOnly: true }).prepare('select * from t').all());`,
    ],
  ),
  ...rows('TypeScript', write, true)(
    ['write to the domain', `return (await import('node:fs')).writeFileSync(scene.folder + '/new.txt', 'x');`],
    ['write outside', `return (await import('node:fs')).writeFileSync(scene.outside + '/new.txt', 'x');`],
    ['delete the domain', `return (await import('node:fs')).rmSync(scene.folder + '/domain.yaml');`],
    ['write a heap snapshot', `return (await import('node:v8')).writeHeapSnapshot(scene.outside + '/heap');`],
    ['write a diagnostic report', `return process.report.writeReport(scene.outside + '/report');`],
    ['write to its own memory by file', `return (await import('node:fs')).openSync('/proc/self/mem', 'r+');`],
    [
      'let V8 write its logs',
      `const v8 = await import('node:v8');
for (const flag of ['--trace-turbo-cfg-file=' + scene.outside + '/cfg', '--trace-turbo-path=' + scene.outside, '--trace-turbo'])
  v8.setFlagsFromString(flag);
const add = (a, b) => a + b; let sum = 0; for (let i = 0; i < 5e6; i++) sum = add(sum, i) | 0; return sum;`,
    ],
  ),
  ...rows('TypeScript', write, false)(
    [
      'create an SQLite database in the domain',
      `${sqlite} return new DatabaseSync(scene.folder + '/new.db').exec('create table t (x)');`,
    ],
    [
      'make a Unix socket in the domain',
      `const net = await import('node:net'); await new Promise((resolve, reject) => {
  net.createServer().listen(scene.folder + '/socket').on('listening', resolve).on('error', reject); });
process.reallyExit(0);`,
    ],
    [
      'write an SQLite database by attach',
      `${sqlite} return new DatabaseSync(':memory:').exec("attach '" + scene.outside + "/attached.db' as a; create table a.t (x)");`,
    ],
  ),
  ...rows('TypeScript', net, false)(
    ['connect by TCP', connect(`scene.tcp, '127.0.0.1'`)],
    [
      'send by UDP',
      `const socket = (await import('node:dgram')).createSocket('udp4');
const answer = new Promise((resolve, reject) => { socket.on('message', resolve).on('error', reject); setTimeout(() => reject(new Error('no answer')), 2000); });
socket.send('x', scene.udp, '127.0.0.1'); await answer; socket.close();`,
    ],
    ['fetch a URL', `return (await fetch('http://127.0.0.1:' + scene.tcp)).status;`],
    ['connect to a Unix socket', connect('scene.socket')],
    ['connect to an abstract Unix socket', connect(`'\\0' + scene.abstract`)],
  ),
  ...rows(
    'TypeScript',
    net,
    true,
  )(['import a module from a URL', `return await import('http://127.0.0.1:' + scene.tcp + '/x.js');`]),
  ...rows('TypeScript', others, false)(
    ['SIGTERM to another process', `process.kill(scene.victim, 'SIGTERM');`, 'victim'],
    ['SIGKILL to another process', `process.kill(scene.victim, 'SIGKILL');`, 'victim'],
    ['SIGKILL to the parent', `process.kill(process.ppid, 'SIGKILL');`, 'parent'],
    ['SIGALRM to the parent', `process.kill(process.ppid, 'SIGALRM');`, 'parent'],
    ['SIGABRT to the parent', `process.kill(process.ppid, 'SIGABRT');`, 'parent'],
    ['see whether a process exists', `process.kill(scene.victim, 0);`],
    ['change the priority of another process', `(await import('node:os')).setPriority(scene.victim, 19);`],
  ),
  ...rows(
    'TypeScript',
    inspector,
    false,
  )(
    ['SIGUSR1 to another Node process', `process.kill(scene.victim, 'SIGUSR1');`, 'victim'],
    ['process._debugProcess on another Node process', `process._debugProcess(scene.victim);`, 'victim'],
  ),
  ...rows('TypeScript', inspector, true)(
    ['SIGUSR1 to the parent, then its inspector', `process.kill(process.ppid, 'SIGUSR1'); ${reachInspector}`],
    ['process._debugProcess on the parent', `process._debugProcess(process.ppid); ${reachInspector}`],
    ['SIGUSR1 to itself, then its inspector', `process.kill(process.pid, 'SIGUSR1'); ${reachInspector}`],
    ['import node:inspector', `return (await import('node:inspector')).open(0);`],
    [
      'open its inspector on all interfaces by Module._load',
      `${internal} const it = Module._load('inspector'); it.open(0, '0.0.0.0'); if (!it.url()) throw new Error('closed'); return it.url();`,
    ],
  ),
  ...rows('TypeScript', start, true)(
    ['child_process', `return (await import('node:child_process')).execSync('id').toString();`],
    [
      'child_process by Module._load',
      `${internal} return Module._load('child_process').spawnSync('id').stdout.toString();`,
    ],
    [
      'spawn through process.binding',
      `const { Process } = process.binding('process_wrap'); const it = new Process(); const code = it.spawn({ file: '/usr/bin/id', args: ['id'], stdio: [] }); if (code) throw new Error('code ' + code); return code;`,
    ],
    ['cluster', `return (await import('node:cluster')).default.fork();`],
    [
      'worker_threads',
      `const { Worker } = await import('node:worker_threads'); return new Worker('0', { eval: true });`,
    ],
    [
      'replace its own program by process.execve',
      `return process.execve('/bin/sh', ['sh', '-c', 'echo reached: shell']);`,
    ],
  ),
  ...rows('TypeScript', load, true)(
    ['process.dlopen', `return process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6');`],
    ['require an addon', `${internal} return Module.createRequire(scene.folder + '/x.js')('./addon.node');`],
    [
      'load an SQLite extension',
      `${sqlite} return new DatabaseSync(':memory:', { allowExtension: true }).loadExtension('/lib/x86_64-linux-gnu/libc.so.6');`,
    ],
  ),
  ...rows(
    'TypeScript',
    keys,
    true,
  )([
    'environment variables',
    `if (!Object.values(process.env).some((each) => each.includes('sk-planted'))) throw new Error('no key'); return 'key';`,
  ]),
  ...rows(
    'TypeScript',
    limit,
    true,
  )(['fill the heap', `const all = []; for (;;) all.push(new Array(1e6).fill(all.length));`, 'report']),
  ...rows('TypeScript', limit, false)(
    [
      'allocate 4 GB of array buffers',
      `const all = []; for (let i = 0; i < 40; i++) all.push(new ArrayBuffer(1e8)); return all.length;`,
    ],
    [
      'allocate 4 GB of WebAssembly memory',
      `const all = []; for (let i = 0; i < 40; i++) all.push(new WebAssembly.Memory({ initial: 1600 })); return all.length;`,
    ],
    [
      'allocate 4 GB of shared array buffers',
      `const all = []; for (let i = 0; i < 40; i++) { const one = new SharedArrayBuffer(1e8); new Uint8Array(one).fill(1); all.push(one); } return all.length;`,
    ],
    [
      'allocate 4 GB of shared WebAssembly memory',
      `const all = []; for (let i = 0; i < 40; i++) { const one = new WebAssembly.Memory({ initial: 1600, maximum: 1600, shared: true }); new Uint8Array(one.buffer).fill(1); all.push(one); } return all.length;`,
    ],
    [
      'open 2000 files',
      `const fs = await import('node:fs'); for (let i = 0; i < 2000; i++) fs.openSync(scene.folder + '/domain.yaml'); return 'open';`,
    ],
  ),
  ...rows(
    'TypeScript',
    'It writes to no descriptor that it inherits except its channel.',
    true,
  )([
    'write to descriptors of its parent',
    `const fs = await import('node:fs'); for (let fd = 5; fd < 30; fd++) { try { if (fs.fstatSync(fd).isSocket() || fs.fstatSync(fd).isFile()) return String(fs.writeSync(fd, 'garbage')); } catch {} } throw new Error('none');`,
  ]),
  {
    name: 'read a folder beside a domain whose own folder is named *',
    promise: read,
    language: 'TypeScript',
    code: `return (await import('node:fs')).readFileSync(scene.secret, 'utf8');`,
    judged: 'report',
    holdsWithout: true,
    folderName: '*',
  },
];

const python: readonly Attack[] = [
  ...rows('Python', read, false)(
    ['read a file', 'return open(scene["secret"]).read()'],
    ['follow a link in the domain', 'return open(scene["folder"] + "/link" + scene["secret"]).read()'],
    ["list this user's processes", 'if str(scene["victim"]) not in os.listdir("/proc"): raise OSError("not there")'],
  ),
  ...rows(
    'Python',
    keys,
    false,
  )([
    "read the parent's environment",
    'text = open("/proc/%d/environ" % os.getppid()).read()\nif "sk-planted" not in text: raise OSError("no key")',
  ]),
  ...rows(
    'Python',
    keys,
    true,
  )([
    'environment variables',
    'if not any("sk-planted" in each for each in os.environ.values()): raise OSError("no key")',
  ]),
  ...rows('Python', write, false)(
    ['write to the domain', 'open(scene["folder"] + "/new.txt", "w")'],
    ['write outside', 'open(scene["outside"] + "/new.txt", "w")'],
    ['delete the domain', 'os.remove(scene["folder"] + "/notes.txt")'],
    ['make a hard link to a file', 'os.link(scene["secret"], scene["folder"] + "/hard")'],
    ['make a symbolic link to the root folder', 'os.symlink("/", scene["folder"] + "/made")'],
    ['mount the root folder writable', 'os.chmod(scene["folder"], 0o777)\nopen(scene["folder"] + "/new.txt", "w")'],
  ),
  ...rows('Python', net, false)(
    ['connect by TCP', 'socket.create_connection(("127.0.0.1", scene["tcp"]), 2)'],
    ['connect to a Unix socket', 'socket.socket(socket.AF_UNIX).connect(scene["socket"])'],
    ['connect to an abstract Unix socket', 'socket.socket(socket.AF_UNIX).connect("\\0" + scene["abstract"])'],
  ),
  ...rows('Python', others, false)(
    ['SIGKILL to another process', 'os.kill(scene["victim"], 9)', 'victim'],
    ['SIGALRM to the parent', 'os.kill(os.getppid(), 14)', 'parent'],
    [
      'attach to another process by ptrace',
      'import ctypes\nif ctypes.CDLL(None).ptrace(16, scene["victim"], 0, 0) != 0: raise OSError("ptrace")',
    ],
    [
      'leave a process behind',
      'if os.fork() == 0:\n    os.setsid()\n    for fd in range(3): os.close(fd)\n    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", scene["mark"]])',
      'left-behind',
    ],
  ),
  ...rows('Python', alone, false)(
    ['start a program', 'import subprocess\nsubprocess.run([sys.executable, "-c", ""], check=True)'],
    ['fork', 'if os.fork() == 0: os._exit(0)'],
    [
      'fork by the system call clone3',
      'import ctypes\nargs = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)\npid = ctypes.CDLL(None).syscall(435, args, 88)\nif pid == 0: os._exit(0)\nif pid < 0: raise OSError("clone3")',
    ],
  ),
  ...rows('Python', inspector, false)(['SIGUSR1 to a Node process', 'os.kill(scene["victim"], 10)', 'victim']),
  ...rows('Python', limit, false)(
    ['open 2000 files', 'return len([open(__file__) for _ in range(2000)])'],
    ['allocate 5 GB', 'return len([bytearray(1 << 28) for _ in range(20)])'],
    ['allocate 5 GB of shared memory', 'import mmap\nreturn len(mmap.mmap(-1, 5 << 30))'],
    [
      'allocate shared memory by /dev/zero',
      'import mmap\nreturn len(mmap.mmap(os.open("/dev/zero", os.O_RDWR), 5 << 30))',
    ],
    ['allocate memory without a name', 'file = os.memfd_create("memory")\nos.ftruncate(file, 5 << 30)\nreturn file'],
    [
      'fill the temporary folder with 200 MB',
      'with open("/tmp/" + scene["mark"], "wb") as file:\n    for _ in range(200): file.write(bytes(1 << 20))',
    ],
  ),
];

const named: readonly Attack[] = [
  {
    name: 'start 400 processes (fork bomb)',
    promise: limit,
    language: 'Python',
    code: `def child():
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
    judged: 'report',
    holdsWithout: false,
  },
  {
    name: 'read a folder beside a domain whose own folder is named *',
    promise: read,
    language: 'Python',
    code: 'return open(scene["secret"]).read()',
    judged: 'report',
    holdsWithout: false,
    folderName: '*',
  },
];

export const attacks: readonly Attack[] = [...typeScript, ...python, ...named];
