import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { findSandbox, programPath, spawnConfined } from '../../src/engine/shell/processes/sandbox.ts';
import { askInterpreter } from '../../src/engine/shell/tools/interpreter.ts';

const path = programPath('python3');
const asked = path === null ? null : await askInterpreter(path, process.cwd(), process.env);
const python = asked && 'program' in asked ? asked : null;
const megabytes = 512;

/** Returns the value of a Python expression in the sandbox, as printed, or the name of its error. */
async function inside(expression: string): Promise<string> {
  const code = `import ctypes, mmap, os, resource, socket
def call(*args):
    if ctypes.CDLL(None, use_errno=True).syscall(*args) < 0: raise OSError(ctypes.get_errno(), '')
def refusal(act, *args):
    try: act(*args)
    except OSError as error: return error.strerror
def used(block):
    for at in range(0, len(block), 4096): block[at] = 1
try: print(${expression})
except BaseException as error: print(os.strerror(error.errno) if isinstance(error, OSError) else type(error).__name__)`;
  const { process: child } = spawnConfined(
    python?.program ?? '',
    ['-I', '-c', code],
    { readable: python?.readable ?? [], memoryMb: megabytes },
    { stdio: ['ignore', 'pipe', 'inherit'], env: {} },
  );
  return (await text(child.stdout as NonNullable<typeof child.stdout>)).trim();
}

/** The numbers are those of asm/unistd_64.h. */
const calls = {
  'a key of the kernel (add_key)': 248,
  'a key of the kernel (request_key)': 249,
  'a key of the kernel (keyctl)': 250,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  bpf: 321,
  perf_event_open: 298,
  kcmp: 312,
  userfaultfd: 323,
  ptrace: 101,
  memfd_secret: 447,
  pidfd_getfd: 438,
  'System V shared memory': 29,
  'System V messages': 68,
};
const large = `${2 * megabytes} << 20`;
const memory = 'Cannot allocate memory';

const rows: readonly (readonly [what: string, expression: string, refusal: string])[] = [
  ...Object.entries(calls).map(
    ([name, call]) => [name, `call(${call}, 0, 0, 0, 0, 0)`, 'Function not implemented'] as const,
  ),
  ['memfd_create', 'os.memfd_create("a")', 'Function not implemented'],
  ['AF_VSOCK', 'socket.socket(40, socket.SOCK_STREAM)', 'Address family not supported by protocol'],
  ['AF_ALG', 'socket.socket(38, socket.SOCK_SEQPACKET)', 'Address family not supported by protocol'],
  ['memory that is shared', `used(mmap.mmap(-1, ${large}))`, memory],
  [
    'memory of /dev/zero that is shared',
    `used(mmap.mmap(os.open('/dev/zero', os.O_RDWR), ${large}))`,
    'Permission denied',
  ],
  ['memory that is a stack', `mmap.mmap(-1, ${large}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100)`, memory],
  ['memory that is private', `mmap.mmap(-1, ${large}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)`, memory],
  ['a larger stack', 'resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, 1 << 30))', 'ValueError'],
];

describe.runIf(findSandbox().name === 'bubblewrap' && python && process.arch === 'x64')('the sandbox refuses', () => {
  test.each(rows)('%s', async (_, expression, refusal) => {
    expect(await inside(expression)).toBe(refusal);
  });
});

test.runIf(findSandbox().name === 'bubblewrap' && python).each([
  ['a thread', "__import__('concurrent.futures').futures.ThreadPoolExecutor().submit(lambda: 'runs').result()", 'runs'],
  [
    'a socket of each usual family',
    '[socket.socket(each, socket.SOCK_DGRAM).family.value for each in (1, 2)]',
    '[1, 2]',
  ],
  ['its share of memory', 'len(bytearray(64 << 20))', String(64 << 20)],
])('the sandbox lets a program have %s', async (_, expression, answer) => {
  expect(await inside(expression)).toBe(answer);
});

// The kernel lets root write to its settings without any capability.
test.runIf(findSandbox().name === 'bubblewrap' && python)('no file of /proc can be opened for writing', async () => {
  const opens = '(lambda path: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)))';
  const files =
    '(path for folder, _, names in os.walk("/proc") for path in (folder + "/" + each for each in names) if not os.path.islink(path))';
  expect(await inside(`[path for path in ${files} if not refusal(${opens}, path)]`)).toBe('[]');
});
