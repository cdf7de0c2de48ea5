/** System calls that start a thread or a process, and the number of the architecture in a filter's data. */
const architectures: Readonly<Record<string, { arch: number; clone: number; clone3: number; forks: number[] }>> = {
  x64: { arch: 0xc000003e, clone: 56, clone3: 435, forks: [57, 58] },
  arm64: { arch: 0xc00000b7, clone: 220, clone3: 435, forks: [] },
};

/** Of linux/sched.h: the new task is a thread of its caller. */
const cloneThread = 0x00010000;
/** System calls of the x32 interface have this bit. */
const x32 = 0x40000000;
const [tryAgain, notImplemented] = [11, 38];

const [load, jumpIfEqual, jumpIfAtLeast, jumpIfSet, give] = [0x20, 0x15, 0x35, 0x45, 0x06];
const [allow, killProcess, failWith] = [0x7fff0000, 0x80000000, 0x00050000];
/** Where `struct seccomp_data` has the system call, its architecture, and the lower half of its first argument. */
const [atCall, atArchitecture, atFlags] = [0, 4, 16];

/**
 * Returns a seccomp filter that lets a program start threads but no other process, since Linux limits the number of
 * root's processes in no other way without cgroups. A program finds `fork` refused as if the limit were reached. It
 * finds no `clone3`, whose flags a filter cannot read, and uses `clone`. Null for an architecture that it does not know.
 * @returns `struct sock_filter[]`, as `bwrap --seccomp` reads it (linux/seccomp.h, linux/filter.h)
 */
export function processFilter(architecture: string = process.arch): Buffer | null {
  const known = architectures[architecture];
  if (!known) return null;
  const { arch, clone, clone3, forks } = known;
  /** Goes to the next instruction if the condition holds, and over `past` instructions if not. */
  const unless = (condition: number, value: number, past: number) => [condition, 0, past, value] as const;
  return encoded([
    [load, 0, 0, atArchitecture],
    [jumpIfEqual, 1, 0, arch],
    [give, 0, 0, killProcess],
    [load, 0, 0, atCall],
    unless(jumpIfAtLeast, x32, 1),
    [give, 0, 0, failWith | notImplemented],
    ...forks.flatMap((call) => [unless(jumpIfEqual, call, 1), [give, 0, 0, failWith | tryAgain] as const]),
    unless(jumpIfEqual, clone3, 1),
    [give, 0, 0, failWith | notImplemented],
    unless(jumpIfEqual, clone, 3),
    [load, 0, 0, atFlags],
    [jumpIfSet, 1, 0, cloneThread],
    [give, 0, 0, failWith | tryAgain],
    [give, 0, 0, allow],
  ]);
}

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

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
