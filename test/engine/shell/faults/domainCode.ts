import { domain, type FaultRow, play, refused, scored, toolsHead, unscored, untouched } from './scene.ts';

const broken = (run: string, timeoutMs: number) =>
  `${toolsHead}export const broken = tool({ description: 'Breaks.', effect: 'write', timeoutMs: ${timeoutMs}, input,\n  run: ${run} });\n`;

/** A tool in TypeScript whose function is this. */
const code = (fault: string, injected: string, run: string, kept: FaultRow['kept'], timeoutMs = 500): FaultRow => ({
  fault: `a tool that ${fault}`,
  injected,
  sees: kept === scored ? /^error / : /^ended: /,
  kept,
  inject: () => play(domain(['broken'], { 'tools.ts': broken(run, timeoutMs) })),
});

const load = (fault: string, injected: string, more: string): FaultRow => ({
  fault,
  injected,
  sees: /^rehearsal eval: /,
  kept: untouched,
  inject: () => refused(domain([], { 'tools.ts': `${toolsHead}${more}` })),
});

export const domainCode: readonly FaultRow[] = [
  code('never ends', 'for (;;) {} in the tool, and its time-out is 0.5 s', '() => { for (;;) {} }', unscored),
  code('never settles', 'the tool returns a promise that stays open', '() => new Promise(() => undefined)', unscored),
  code(
    'needs more memory than a worker has',
    'the tool keeps arrays forever',
    '() => { const hoard = []; for (;;) hoard.push(new Array(1000).fill(0)); }',
    unscored,
    60_000,
  ),
  code('calls process.exit', 'process.exit(3) in the tool', '() => process.exit(3)', unscored),
  code('aborts', 'process.abort() in the tool', '() => process.abort()', unscored),
  code(
    'leaves a rejection unhandled',
    'a rejected promise without a handler',
    "() => new Promise(() => { void Promise.reject(new Error('this is unhandled')); })",
    unscored,
  ),
  code(
    'throws later',
    'an exception in a timer of the tool',
    "() => new Promise(() => { setTimeout(() => { throw new Error('too late'); }, 1); })",
    unscored,
  ),
  code(
    'throws in the middle of its writes',
    'an exception after a write to the database',
    "(_, { db }) => { db.chairs.A1.colour = 'red'; throw new Error('half done'); }",
    scored,
  ),
  code('throws what is not an error', "throw 'just words' in the tool", "() => { throw 'just words'; }", scored),
  code('throws nothing', 'throw undefined in the tool', '() => { throw undefined; }', scored),
  code('returns what is not JSON', 'the tool returns a bigint', '() => 10n', scored),
  code(
    'returns a circle',
    'the tool returns an object that holds itself',
    '() => { const a: { a?: object } = {}; a.a = a; return a; }',
    scored,
  ),
  code(
    'writes a file',
    'writeFileSync in the tool',
    "() => process.getBuiltinModule('node:fs').writeFileSync('x', 'y')",
    scored,
  ),
  code(
    'starts a process',
    'execFileSync in the tool',
    "() => process.getBuiltinModule('node:child_process').execFileSync('/bin/true')",
    scored,
  ),
  load('a syntax error in tools.ts', 'half a line of code', 'const = 1;\n'),
  load('code that throws while it is loaded', 'an exception at the top of tools.ts', "throw new Error('no luck');\n"),
];
