import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { describeEffects } from '../../src/engine/shell/approvals/effects.ts';
import { describeExternalTools } from '../../src/engine/shell/describe.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { machineProgram, neutralFolder } from '../../src/engine/shell/processes/machineProgram.ts';
import { programPath } from '../../src/engine/shell/processes/sandbox.ts';
import { askInterpreter } from '../../src/engine/shell/tools/interpreter.ts';
import { approveDomain } from '../support/approval.ts';
import { temporaryFolder } from '../support/temporary.ts';

// Invariant: no file of a domain, or of a folder above it, chooses a program of the machine.

const python = spawnSync(programPath('python3') ?? 'python3', ['-c', 'import sys; print(sys.executable)'], {
  cwd: neutralFolder,
  encoding: 'utf8',
}).stdout.trim();

beforeEach(() => vi.stubEnv('REHEARSAL_HOME', temporaryFolder('home')));
afterEach(() => void vi.unstubAllEnvs());

function executable(path: string, script: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/**
 * Creates a folder whose .tool-versions chooses a program that leaves a mark, with a copy of a domain in it, and puts a
 * shim on the PATH that reads .tool-versions as those of asdf and mise do.
 */
function hostile(domain: string, plugin: string, name: string, real: string) {
  const above = temporaryFolder('above');
  const shims = temporaryFolder('shims');
  const folder = join(above, 'domain');
  cpSync(domain, folder, { recursive: true });
  const mark = join(temporaryFolder('mark'), 'started');
  writeFileSync(join(above, '.tool-versions'), `${plugin} path:evil\n`);
  executable(join(above, 'evil', 'bin', name), `: > '${mark}'\nexec '${real}' "$@"`);
  executable(
    join(shims, name),
    `folder=$PWD
while [ "$folder" != / ]; do
  chosen=$(sed -n 's/^${plugin} path://p' "$folder/.tool-versions" 2> /dev/null)
  [ -n "$chosen" ] && exec "$folder/$chosen/bin/${name}" "$@"
  folder=$(dirname "$folder")
done
exec '${real}' "$@"`,
  );
  vi.stubEnv('PATH', `${shims}:/usr/bin:/bin`);
  return { folder, mark, shims };
}

const library = inRoot('test', 'engine', 'shell', 'python', 'library');
const template = inRoot('templates', 'mcp');

describe.skipIf(process.platform === 'win32')('a .tool-versions above a domain chooses', () => {
  test.runIf(python).each(['', 'off'])('no Python of its tools, with REHEARSAL_SANDBOX=%j', async (sandbox) => {
    vi.stubEnv('REHEARSAL_SANDBOX', sandbox);
    vi.stubEnv('REHEARSAL_APPROVED', '');
    const { folder, mark } = hostile(library, 'python', 'python3', python);
    const tools = await describeExternalTools(loadDomain(approveDomain(folder)));
    expect(tools.map(({ name }) => name)).toContain('add_note');
    expect(existsSync(mark)).toBe(false);
  });

  test('no node of a copy of a template, which needs no approval', async () => {
    const { folder, mark } = hostile(template, 'node', 'node', process.execPath);
    const tools = await describeExternalTools(loadDomain(folder));
    expect(tools.map(({ name }) => name)).toContain('list_books');
    expect(existsSync(mark)).toBe(false);
  });

  test.runIf(python)('no program that doctor asks for its version', () => {
    const { folder, mark } = hostile(library, 'python', 'python3', python);
    const flags = ['--disable-warning=ExperimentalWarning', inRoot('src', 'cli', 'rehearsal.ts')];
    const { stdout } = spawnSync(process.execPath, [...flags, 'doctor'], { cwd: folder, encoding: 'utf8' });
    expect(stdout).toContain('python3 is 3.');
    expect(existsSync(mark)).toBe(false);
  });
});

describe.skipIf(process.platform === 'win32')('a program behind a shim', () => {
  const server = { type: 'command', by: 'MCP server "a"', args: [], cwd: null, env: {} } as const;

  test('is asked for without the variables that a domain gives to it', () => {
    const { mark } = hostile(template, 'node', 'node', process.execPath);
    const code = join(temporaryFolder('code'), 'code.cjs');
    writeFileSync(code, `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '')`);
    const NODE_OPTIONS = `--require ${code}`;
    const { command } = machineProgram('node', { PATH: `${process.env['PATH']}:/none`, NODE_OPTIONS });
    describeEffects({ effects: [{ ...server, command: 'node', env: { NODE_OPTIONS, PATH: dirname(code) } }] });
    expect([command, existsSync(mark)]).toEqual([process.execPath, false]);
  });

  test('is named where a person approves the command', () => {
    hostile(template, 'node', 'node', process.execPath);
    const effects = [
      { ...server, command: 'node' },
      { ...server, command: '/usr/bin/env' },
    ];
    expect(describeEffects({ effects })).toEqual([
      `MCP server "a" starts node, where node is ${process.execPath}`,
      'MCP server "a" starts /usr/bin/env',
    ]);
  });

  test.each([
    [
      'a script of asdf or pyenv',
      (shim: string, manager: string) => executable(shim, `exec "${manager}" exec "uvx" "$@"`),
    ],
    [
      'a link to mise',
      (shim: string, manager: string) => {
        mkdirSync(dirname(shim), { recursive: true });
        symlinkSync(manager, shim);
      },
    ],
  ])('is found by %s, in a folder that no domain controls', (_, make) => {
    const folder = temporaryFolder('manager');
    const real = executable(join(folder, 'versions', '1.0', 'bin', 'uvx'), 'exit 0');
    const manager = executable(
      join(folder, 'mise'),
      `pwd > '${folder}/asked'\n[ "$1 $2" = "which uvx" ] && echo '${real}'`,
    );
    make(join(folder, 'shims', 'uvx'), manager);
    const PATH = `bin:${folder}/shims:/usr/bin:/bin`;
    expect(machineProgram('uvx', { PATH })).toEqual({
      command: real,
      env: { PATH: `${dirname(real)}:${folder}/shims:/usr/bin:/bin` },
    });
    expect(readFileSync(join(folder, 'asked'), 'utf8').trim()).toBe(neutralFolder);
  });

  test('is not started where the shim has no version outside of the domain', () => {
    const folder = temporaryFolder('manager');
    const manager = executable(join(folder, 'asdf'), 'echo "No version is set" >&2; exit 126');
    executable(join(folder, 'shims', 'uvx'), `exec ${manager} exec "uvx" "$@"`);
    expect(() => machineProgram('uvx', { PATH: `${folder}/shims` })).toThrow(
      /Set a version of uvx for your user account/,
    );
  });
});

test.skipIf(process.platform === 'win32')(
  'an interpreter that reports a folder with the home or the keys of a person opens only its installed parts',
  async () => {
    const keys = String(process.env['REHEARSAL_HOME']);
    const own = temporaryFolder('prefix');
    const reported = ['/', homedir(), userInfo().homedir, dirname(keys), keys, join(keys, 'x'), own];
    mkdirSync(join(keys, 'x'));
    const folder = temporaryFolder('interpreter');
    const lines = ['/usr/bin/false', '', ...reported].map((each) => `echo '${each}'`).join('\n');
    const asked = await askInterpreter('./python3', dirname(executable(join(folder, 'python3'), lines)), process.env);
    const readable = asked !== null && 'readable' in asked ? asked.readable : [];
    expect(readable).toContain(own);
    expect(readable.filter((each) => reported.slice(0, -1).includes(each))).toEqual([]);
    expect(readable.filter((each) => !/^\/(?:bin|lib|lib64)$/.test(each) && each !== own)).toEqual([]);
  },
);
