import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findPython } from '../../../../scripts/pythonTests.ts';
import { inRoot } from '../../../../scripts/repository.ts';
import { listMcpTools } from '../../../../src/engine/shell/tools/mcp.ts';
import { sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { until } from '../../../support/until.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const python = findPython() ?? 'python3';
const [node, script] = [fixture('stubbornServer.mjs'), fixture('stubbornServer.py')];

/** A folder of a test. A server that is started with its path can be found among the processes. */
function mark(): string {
  const folder = temporaryFolder('rehearsal-group');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the running processes that have the mark in their arguments. */
function running(marked: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(marked) &&
          !/^\S+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
        );
      } catch {
        return false;
      }
    });
}

const servers: readonly (readonly [what: string, command: string, args: (marked: string) => readonly string[]])[] = [
  ['Node', process.execPath, (marked) => [node, marked]],
  ['Python', python, (marked) => [script, marked]],
  ['a wrapper script that waits', '/bin/sh', (marked) => ['-c', `"${process.execPath}" "${node}" "${marked}"; true`]],
  [
    'a wrapper script that starts it in the background',
    '/bin/sh',
    (marked) => ['-c', `exec 3<&0; "${python}" "${script}" "${marked}" <&3 & wait`],
  ],
  [
    'a wrapper that ignores the first signals, as uvx does',
    '/bin/sh',
    (marked) => ['-c', `trap '' INT TERM; "${python}" "${script}" "${marked}"; true`],
  ],
  ['two wrappers', '/bin/sh', (marked) => ['-c', `/bin/sh -c '"${python}" "${script}" "${marked}"; true'; true`]],
];

const declared = (command: string, args: readonly string[]) => ({
  type: 'stdio' as const,
  command,
  args: [...args],
  env: {},
  state: 'none' as const,
  writes: [],
  idempotent: [],
  timeoutMs: 20_000,
  tools: {},
});

test.runIf(existsSync('/proc')).each(sampled(servers, 3))(
  'a server that ignores the end of its input ends with all processes that it started: %s',
  async (_, command, args) => {
    const marked = mark();
    const tools = await listMcpTools('stubborn', declared(command, args(marked)), marked);
    expect(tools.map(({ tool }) => tool.name)).toEqual(['look']);
    await until('the end of its processes', () => running(marked).length === 0);
  },
);

/** Starts a process that opens the server and then waits. */
function opening(marked: string, command: string, args: readonly string[]) {
  const program = join(marked, 'open.ts');
  const url = (file: string) => JSON.stringify(inRoot('src/engine/shell', file));
  writeFileSync(
    program,
    `import { startMcpServer } from ${url('tools/mcp.ts')};
await startMcpServer('stubborn', ${JSON.stringify(declared(command, args))}, ${JSON.stringify(marked)});
process.stdout.write('open\\n');
setInterval(() => undefined, 60_000);
`,
  );
  // Files that it cannot remove when it is killed are in a folder of the tests.
  const env = { ...process.env, TMPDIR: marked };
  return spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

test.runIf(existsSync('/proc')).each(sampled(['SIGKILL', 'SIGTERM', 'SIGINT'] as const, 2))(
  'no server outlives a process that %s ends',
  async (signal) => {
    const marked = mark();
    const [, command, args] = servers[3] ?? ['', '', () => []];
    await endsWith(signal, marked, command, args(marked));
  },
);

/** Opens a server in a process, ends this one with a signal, and waits until no process of the server is left. */
async function endsWith(signal: NodeJS.Signals, marked: string, command: string, args: readonly string[]) {
  const opened = opening(marked, command, args);
  await new Promise((resolve, reject) => {
    opened.stdout.once('data', resolve);
    opened.once('exit', () => reject(new Error('it ended before the server was open')));
  });
  expect(running(marked).length).toBeGreaterThan(1);
  opened.kill(signal);
  await until('the end of its processes', () => running(marked).length === 0);
}

/** Programs that start a server of a package. */
const launchers = {
  npx: (marked: string) => {
    const bin = join(marked, 'node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'stubborn'), `#!/bin/sh\nexec "${process.execPath}" "${node}" "$@"\n`, { mode: 0o755 });
    return ['--offline', '--no', '--cache', join(marked, 'npm'), 'stubborn', marked];
  },
  uvx: (marked: string) => ['--offline', '--python', python, 'python', script, marked],
} as const;

const isInstalled = (command: string) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

test.for(
  sampled(
    (['npx', 'uvx'] as const).flatMap((launcher) =>
      (['exit', 'SIGINT', 'SIGKILL'] as const).map((end) => [launcher, end] as const),
    ),
    4,
  ),
)('a server that %s started ends with its launcher: %s', async ([launcher, end], { skip }) => {
  skip(!existsSync('/proc'), 'there is no /proc');
  skip(!isInstalled(launcher), `${launcher} is not installed`);
  const marked = mark();
  const args = launchers[launcher](marked);
  if (end !== 'exit') await endsWith(end, marked, launcher, args);
  else {
    const tools = await listMcpTools('stubborn', declared(launcher, args), marked);
    expect(tools.map(({ tool }) => tool.name)).toEqual(['look']);
    await until('the end of its processes', () => running(marked).length === 0);
  }
});
