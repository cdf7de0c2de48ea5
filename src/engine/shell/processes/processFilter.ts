type Architecture = {
  /** Its number in a filter's data. */
  readonly arch: number;
  /** System calls by name. Those of `newCalls` have the same number everywhere. */
  readonly calls: Readonly<Record<string, readonly number[]>>;
};

/** Numbers of system calls: asm/unistd_64.h, asm-generic/unistd.h. */
const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    arch: 0xc000003e,
    calls: {
      mmap: [9],
      clone: [56],
      forks: [57, 58],
      sockets: [41, 53],
      // add_key, request_key, keyctl
      keys: [248, 249, 250],
      // ptrace, process_vm_readv, process_vm_writev, kcmp
      others: [101, 310, 311, 312],
      // bpf, perf_event_open, userfaultfd
      kernel: [321, 298, 323],
      // memfd_create, shmget, semget, msgget
      memory: [319, 29, 64, 68],
    },
  },
  arm64: {
    arch: 0xc00000b7,
    calls: {
      mmap: [222],
      clone: [220],
      forks: [],
      sockets: [198, 199],
      keys: [217, 218, 219],
      others: [117, 270, 271, 272],
      kernel: [280, 241, 282],
      memory: [279, 194, 190, 186],
    },
  },
};

const clone3 = 435;
/** io_uring_setup, io_uring_enter, io_uring_register, pidfd_getfd, memfd_secret: the same on every architecture. */
const newCalls = [425, 426, 427, 438, 447];

/** Of linux/sched.h: the new task is a thread of its caller. */
const cloneThread = 0x00010000;
/** Of asm-generic/mman.h. The kernel does not count these mappings as data: shared ones without a file, and stacks. */
const [mapSharedAnonymous, mapGrowsDown] = [0x21, 0x100];
/** Of linux/socket.h: AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK, which lists the network's interfaces. */
const families = [1, 2, 10, 16];
/** System calls of the x32 interface have this bit. */
const x32 = 0x40000000;
/** Of asm-generic/errno.h. */
const [tryAgain, noMemory, notImplemented, noFamily] = [11, 12, 38, 97];

const [load, mask, jumpIfEqual, jumpIfAtLeast, jumpIfSet, give] = [0x20, 0x54, 0x15, 0x35, 0x45, 0x06];
const [allow, killProcess, failWith] = [0x7fff0000, 0x80000000, 0x00050000];
/** Offsets in `struct seccomp_data` of the system call, its architecture, and the lower half of an argument. */
const [atCall, atArchitecture] = [0, 4];
const atArgument = (index: number) => 16 + 8 * index;

/**
 * Returns a seccomp filter for a confined program:
 *
 * - It starts threads but no other process, since Linux limits the number of root's processes in no other way without
 *   cgroups. It finds `fork` refused as if the limit were reached. It finds no `clone3`, whose flags a filter cannot
 *   read, and uses `clone`.
 * - It gets no memory that the limit of its data does not count.
 * - It finds no system call that it does not need and that reaches far into the kernel or has no namespace: keys,
 *   io_uring, bpf, performance events, and sockets of rare families (AF_VSOCK reaches the host of a virtual machine).
 *
 * Null for an architecture that it does not know.
 * @returns `struct sock_filter[]`, as `bwrap --seccomp` reads it (linux/seccomp.h, linux/filter.h)
 */
export function processFilter(architecture: string = process.arch): Buffer | null {
  const known = architectures[architecture];
  if (!known) return null;
  const { arch, calls } = known;
  const { mmap = [], clone = [], forks = [], sockets = [], keys = [], others = [], kernel = [], memory = [] } = calls;
  return encoded([
    [load, 0, 0, atArchitecture],
    [jumpIfEqual, 1, 0, arch],
    [give, 0, 0, killProcess],
    [load, 0, 0, atCall],
    ...when(jumpIfAtLeast, x32, [fail(notImplemented)]),
    ...forks.flatMap((call) => when(jumpIfEqual, call, [fail(tryAgain)])),
    ...[clone3, ...newCalls, ...keys, ...others, ...kernel, ...memory].flatMap((call) =>
      when(jumpIfEqual, call, [fail(notImplemented)]),
    ),
    ...clone.flatMap((call) =>
      when(jumpIfEqual, call, [
        [load, 0, 0, atArgument(0)],
        [jumpIfSet, 1, 0, cloneThread],
        fail(tryAgain),
        [give, 0, 0, allow],
      ]),
    ),
    ...sockets.flatMap((call) =>
      when(jumpIfEqual, call, [
        [load, 0, 0, atArgument(0)],
        ...families.flatMap((family) => when(jumpIfEqual, family, [[give, 0, 0, allow]])),
        fail(noFamily),
      ]),
    ),
    ...mmap.flatMap((call) =>
      when(jumpIfEqual, call, [
        [load, 0, 0, atArgument(3)],
        ...when(jumpIfSet, mapGrowsDown, [fail(noMemory)]),
        [mask, 0, 0, mapSharedAnonymous],
        ...when(jumpIfEqual, mapSharedAnonymous, [fail(noMemory)]),
      ]),
    ),
    [give, 0, 0, allow],
  ]);
}

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const fail = (error: number): Instruction => [give, 0, 0, failWith | error];

/** Goes through these instructions if the condition holds, and over them if not. */
const when = (condition: number, value: number, then: readonly Instruction[]): readonly Instruction[] => [
  [condition, 0, then.length, value],
  ...then,
];

function encoded(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * instructions.length);
  for (const [at, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, 8 * at);
    bytes.writeUInt8(ifTrue, 8 * at + 2);
    bytes.writeUInt8(ifFalse, 8 * at + 3);
    bytes.writeUInt32LE(value >>> 0, 8 * at + 4);
  }
  return bytes;
}
