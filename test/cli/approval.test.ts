import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { main } from '../../src/cli/main.ts';
import type { Io } from '../../src/cli/terminal/io.ts';
import type { Task } from '../../src/engine/core/domain/task.ts';
import { type Approval, approvalFor, rememberApproval } from '../../src/engine/shell/approvals/approvals.ts';
import { type Effects, effectsIn } from '../../src/engine/shell/approvals/effects.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { findSandbox } from '../../src/engine/shell/processes/sandbox.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { RolloutTools } from '../../src/engine/shell/tools/rolloutTools.ts';
import { SharedTools } from '../../src/engine/shell/tools/sharedTools.ts';
import { folderOf } from '../engine/shell/load/domainFolder.ts';
import { hashOf } from '../support/approval.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';

// Invariant: nothing outside of the sandbox is started or reached before a person has approved exactly that.

const home = () => temporaryFolder('rehearsal-approval');

beforeEach(() => {
  vi.stubEnv('REHEARSAL_HOME', home());
  vi.stubEnv('REHEARSAL_APPROVED', '');
});
afterEach(() => void vi.unstubAllEnvs());

/** Runs the command line; with answers, as in a terminal where a person types them. */
async function rehearsal(argv: readonly string[], answers?: string[]) {
  let out = '';
  let err = '';
  const asked: string[] = [];
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    terminal: answers !== undefined,
    interactive: answers !== undefined,
    cwd: home(),
    environment: process.env,
    signal: new AbortController().signal,
    readLine: async (prompt) => {
      asked.push(prompt);
      return answers?.shift() ?? 'n';
    },
  };
  return { code: await main(argv, io), out, err, asked };
}

/** Creates a domain whose server writes a file when it is started, and never answers. */
function marked(more = '') {
  const folder = temporaryFolder('marked');
  cpSync(inRoot('domains', 'parcel-desk'), folder, { recursive: true });
  const mark = join(folder, 'started.md');
  const file = join(folder, 'domain.yaml');
  const text = readFileSync(file, 'utf8');
  const declare = (marker: string) =>
    writeFileSync(
      file,
      `${text}\nmcpServers:\n  shop: { command: touch, args: [${JSON.stringify(marker)}], env: { TOKEN: "\${env:PATH}" } }\n${more}`,
    );
  declare(mark);
  return { folder, mark, declare, task: String(loadDomain(folder).tasks[0]?.id) };
}

const commands: readonly (readonly string[])[] = [
  ['run', 'FOLDER', 'TASK'],
  ['debug', 'FOLDER', 'TASK'],
  ['eval', 'FOLDER'],
  ['tools', 'FOLDER'],
  ['call', 'FOLDER', 'get_parcel'],
  ['synth', 'FOLDER'],
];

test.each(commands)(
  'without a terminal, %s starts nothing, exits with 2 and names the flag and the effects',
  async (...words) => {
    const { folder, mark, task } = marked();
    const argv = words.map((each) => (each === 'FOLDER' ? folder : each === 'TASK' ? task : each));
    const { code, err } = await rehearsal(argv);
    expect([code, existsSync(mark)]).toEqual([2, false]);
    expect(err).toContain(`--approve ${hashOf(folder)}`);
    expect(err).toContain(
      `MCP server "shop" starts TOKEN=\${env:PATH} touch ${mark}, with your environment variables PATH`,
    );
  },
);

test('--approve with that hash starts it, for this command alone', async () => {
  const { folder, mark, task } = marked();
  const { err } = await rehearsal(['run', folder, task, '--approve', hashOf(folder)]);
  expect([existsSync(mark), err]).toEqual([true, expect.stringContaining('MCP server "shop"')]);
  expect(err).not.toContain('--approve');
  expect(readdirSync(String(process.env['REHEARSAL_HOME']))).not.toContain('approved.txt');
});

test('changed effects are asked for again, and the hash of the old ones does not approve them', async () => {
  const { folder, mark, task, declare } = marked();
  const before = hashOf(folder);
  declare(`${mark}.txt`);
  const { code, err } = await rehearsal(['run', folder, task, '--approve', before]);
  expect([code, existsSync(`${mark}.txt`)]).toEqual([2, false]);
  expect(err).toContain(`--approve ${hashOf(folder)}`);
});

test('the hash covers the code: with other code it is asked for again, also in another folder', async () => {
  const { folder } = marked();
  const hash = hashOf(folder);
  const copy = temporaryFolder('copied');
  cpSync(folder, copy, { recursive: true });
  expect(hashOf(copy)).toBe(hash);
  writeFileSync(join(copy, 'server.mjs'), '');
  expect(hashOf(copy)).not.toBe(hash);
});

test('a name cannot push the effects out of sight', async () => {
  const { folder, task } = marked();
  const file = join(folder, 'domain.yaml');
  const name = `shop" (trusted): only reads.${'\n'.repeat(60)}\u001b[2J\u202e${' '.repeat(9000)}`;
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^name: .*$/m, `name: ${JSON.stringify(name)}`));
  const question = String((await rehearsal(['run', folder, task], ['n'])).asked[0]);
  expect(question.split('\n')).toHaveLength(4);
  expect(question.split('\n')[0]).toMatch(
    /^"shop\\" \(trusted\): only reads\.[\\n]+…" \(.+\) does this outside of the sandbox:$/,
  );
  expect((await rehearsal(['run', folder, task])).err.split('\n')[0]).toContain(') is not approved.');
});

test('a value that is not a hash is refused', async () => {
  expect(await rehearsal(['check', inRoot('domains', 'parcel-desk'), '--approve', 'all'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('64 hexadecimal digits, not "all"'),
  });
});

inFullSuite('a terminal is asked once; a copy of the domain and changed effects are asked for again', async () => {
  const { folder, mark, task, declare } = marked();
  const run = (of: string, ...answers: string[]) => rehearsal(['run', of, task], answers);
  const declined = await run(folder, 'n');
  expect([declined.code, declined.asked.length, existsSync(mark)]).toEqual([2, 1, false]);
  expect(declined.asked[0]).toContain('MCP server "shop" starts');
  expect((await run(folder, 'y')).asked).toHaveLength(1);
  expect(existsSync(mark)).toBe(true);
  expect((await run(folder)).asked).toEqual([]);
  const copy = temporaryFolder('copied');
  cpSync(folder, copy, { recursive: true });
  expect((await run(copy)).asked).toHaveLength(1);
  declare(`${mark}.txt`);
  expect((await run(folder)).asked).toHaveLength(1);
});

test('check starts nothing that is not approved, and reports what it skipped', async () => {
  const { folder, mark } = marked();
  const { code, out } = await rehearsal(['check', folder, '--json']);
  const { diagnostics, described, unasked } = JSON.parse(out);
  expect([code, existsSync(mark)]).toEqual([0, false]);
  expect(diagnostics).toMatchObject([
    {
      code: 'domain/not-approved',
      severity: 'warning',
      message: expect.stringContaining('MCP server "shop" starts'),
      hint: expect.stringContaining(`--approve ${hashOf(folder)}`),
    },
  ]);
  // Its sandboxed code is described as usual.
  expect([described.length > 0, unasked]).toEqual([true, ['shop']]);
  expect(await rehearsal(['check', folder, '--audit'])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/domain\/not-approved[\s\S]*not audited: it is not approved$/m),
  });
  expect(existsSync(mark)).toBe(false);
  await rehearsal(['check', folder, '--approve', hashOf(folder)]);
  expect(existsSync(mark)).toBe(true);
});

test('an interpreter that a domain names does not run before it is approved', async () => {
  const folder = temporaryFolder('interpreter');
  cpSync(inRoot('domains', 'parcel-desk'), folder, { recursive: true });
  const mark = join(folder, 'started.md');
  const program = join(folder, 'python');
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'tools.py'), '');
  writeFileSync(join(folder, 'domain.yaml'), 'name: x\npython: ${domainFolder}/python\n');
  const { code, err } = await rehearsal(['tools', folder]);
  expect([code, existsSync(mark)]).toEqual([2, false]);
  expect(err).toContain('tools.py runs with the Python interpreter ${domainFolder}/python');
  await rehearsal(['tools', folder, '--approve', hashOf(folder)]);
  expect(existsSync(mark)).toBe(true);
});

test('the Python in the folder of a benchmark does not run before it is approved', async () => {
  const folder = temporaryFolder('benchmark');
  cpSync(inRoot('test', 'fixtures', 'tau1'), folder, { recursive: true });
  const [mark, program] = [join(folder, 'mark'), join(folder, '.venv', 'bin', 'python')];
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(join(folder, '.venv', 'pyvenv.cfg'), '');
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const argv = ['import', 'tau1', '--from', folder, '--out', temporaryFolder('imported')];
  const { code, err } = await rehearsal(argv);
  expect([code, existsSync(mark)]).toEqual([2, false]);
  expect(err).toContain(`the import runs with the Python interpreter ${program}`);
  expect(err).toContain('or name an interpreter with --python:');
  await rehearsal([...argv, '--approve', /--approve (\w+)/.exec(err)?.[1] ?? '']);
  expect(existsSync(mark)).toBe(true);
});

test("an agent's program does not start before its file is approved", async () => {
  const folder = temporaryFolder('agent');
  const mark = join(folder, 'started.md');
  const file = join(folder, 'mine.agent.yaml');
  writeFileSync(file, `command: touch\nargs: [${JSON.stringify(mark)}]\nenv: { KEY: "\${env:PATH}" }\n`);
  const domain = inRoot('domains', 'parcel-desk');
  const task = String(loadDomain(domain).tasks[0]?.id);
  const { code, err } = await rehearsal(['run', domain, task, '--agent', `agent:${file}`]);
  expect([code, existsSync(mark)]).toEqual([2, false]);
  expect(err).toContain(`agent "mine" starts KEY=\${env:PATH} touch ${mark}, with your environment variables PATH`);
  const hash = /\n {2}--approve (\w+)\n/.exec(err)?.[1] ?? '';
  const out = join(folder, 'run');
  await rehearsal(['run', domain, task, '--agent', `agent:${file}`, '--out', out, '--approve', hash]);
  expect(existsSync(mark)).toBe(true);
});

describe('interpreters that files name', () => {
  const training = (folder: string) => join(folder, 'mine.training.yaml');
  const shell = (mark: string) => JSON.stringify(['/bin/sh', '-c', `touch ${mark}; exit 1`]);
  const begun = ['kind: sft', `domain: ${inRoot('domains', 'parcel-desk')}`, 'model: tiny', 'profile: trial'].join(
    '\n',
  );

  test.each([
    ['a training file', 'python', (key: string, mark: string) => `${begun}\n${key}: ${shell(mark)}\n`],
    ['a training file', 'vllm_python', (key: string) => `${begun}\n${key}: /bin/sh\n`],
  ])('%s does not start %s before it is approved', async (_what, key, text) => {
    const folder = temporaryFolder('training');
    const mark = join(folder, 'mark');
    writeFileSync(training(folder), text(key, mark));
    const argv = ['train', '--config', training(folder), '--plan'];
    const { code, err } = await rehearsal(argv);
    expect([code, existsSync(mark)]).toEqual([2, false]);
    expect(err).toContain(`the key ${key} starts /bin/sh`);
    if (key !== 'python') return;
    await rehearsal([...argv, '--approve', /--approve (\w+)/.exec(err)?.[1] ?? '']);
    expect(existsSync(mark)).toBe(true);
  });

  test('a run that is resumed does not start one before it is approved', async () => {
    const folder = temporaryFolder('resumed');
    const mark = join(folder, 'mark');
    writeFileSync(join(folder, 'launch.json'), `{"python": ${shell(mark)}}`);
    const { code, err } = await rehearsal(['train', 'resume', folder]);
    expect([code, existsSync(mark)]).toEqual([2, false]);
    expect(err).toContain('the key python starts /bin/sh');
  });
});

describe('training targets that files name', () => {
  /** Creates a run of unknown origin that was started on another machine; `ssh` writes a file. */
  function elsewhere(target: string) {
    const folder = temporaryFolder('elsewhere');
    const mark = join(folder, 'mark');
    for (const [name, text] of Object.entries({
      'launch.json': '{}',
      'config.json': '{"kind": "sft"}',
      'target.json': JSON.stringify({ target }),
    }))
      writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'ssh'), `#!/bin/sh\ntouch ${mark}\nexit 255\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
    return { folder, mark };
  }

  test.each(
    sampled(['stop', 'resume', 'follow', 'fetch'], 2).flatMap((operation) =>
      ['ssh://ada@gpu/work', 'ray://127.0.0.1:9'].map((target) => [operation, target] as const),
    ),
  )('train %s does not reach %s before it is approved', async (operation, target) => {
    const { folder, mark } = elsewhere(target);
    const { code, err } = await rehearsal(['train', operation, folder]);
    expect([code, existsSync(mark)]).toEqual([2, false]);
    expect(err).toContain(`training uses ${target}`);
  });

  test('what was approved is reached, and asked about once', async () => {
    const { folder, mark } = elsewhere('ssh://ada@gpu/work');
    const stop = (...answers: string[]) => rehearsal(['train', 'stop', folder], answers);
    expect((await stop('y')).asked).toHaveLength(1);
    expect(existsSync(mark)).toBe(true);
    expect((await stop()).asked).toEqual([]);
  });

  test('an experiment that is resumed does not reach one either', async () => {
    const { folder } = elsewhere('ssh://ada@gpu/work');
    const file = join(folder, 'x.experiment.yaml');
    const domain = inRoot('domains', 'parcel-desk');
    writeFileSync(file, `domain: ${domain}\nmodel: tiny\narms: { base: {} }\n`);
    writeFileSync(join(folder, 'experiment.json'), JSON.stringify({ file, target: 'ssh://ada@gpu/work' }));
    const { code, err } = await rehearsal(['experiment', file, '--out', folder]);
    expect([code, err]).toEqual([2, expect.stringContaining('training uses ssh://ada@gpu/work')]);
  });
});

describe('a program that an approved command names', () => {
  const command = (text: string) => `name: x\nmcpServers:\n  shop: ${text}\n`;
  const node = JSON.stringify(process.execPath);

  test.each([
    ['the script of an interpreter', `{ command: ${node}, args: [server.mjs] }`, 'server.mjs', true],
    ['a script without its ending', `{ command: ${node}, args: [./server] }`, 'server.js', true],
    ['a Python module', '{ command: python3, args: [-m, desk.server] }', 'desk/server.py', true],
    ['an option with a file', `{ command: ${node}, args: ["--import=./hook.mjs", x] }`, 'hook.mjs', true],
    ['a program in the folder', '{ command: ./server }', 'server', true],
    ['a program in its working folder', '{ command: ./server, cwd: more }', 'more/server', true],
    ['a program of the domain', `{ command: "\${domainFolder}/server" }`, 'server', true],
    ['data', `{ command: ${node}, args: [server.mjs, --db, shop.sqlite] }`, 'shop.sqlite', false],
    ['a module that a script imports', `{ command: ${node}, args: [server.mjs] }`, 'other.mjs', false],
    ['what looks like no path', `{ command: ${node}, args: [-e, "${'x'.repeat(5000)}", "\\0"] }`, 'x.txt', false],
  ])('is asked about again once it has changed: %s', (_what, server, file, isAsked) => {
    const folder = temporaryFolder('program');
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(join(folder, 'domain.yaml'), command(server));
    writeFileSync(join(folder, 'server.mjs'), 'one');
    writeFileSync(path, 'one', { mode: isAsked ? 0o755 : 0o644 });
    const asked = () => approvalFor(effectsIn(folder) as Effects);
    rememberApproval(asked() as Approval, process.env);
    expect(asked()).toBeNull();
    writeFileSync(path, 'two');
    expect(asked() !== null).toBe(isAsked);
  });

  test.each<readonly [string, string, string, boolean]>([
    ['a script without an ending', '{ command: sh, args: [serve] }', 'serve', true],
    ['the file of a package runner', '{ command: npm, args: [run, -s, mcp] }', 'package.json', true],
    [
      'a text for a shell',
      `{ command: sh, args: [-c, "cd \${domainFolder} && exec node server.mjs"] }`,
      'server.mjs',
      true,
    ],
    ['a folder in a text for a shell', '{ command: sh, args: [-c, "cd sub; node server"] }', 'sub/server.mjs', true],
    ['data with an ending', '{ command: sh, args: [serve.sh, notes.txt] }', 'notes.txt', false],
    [
      'a script that is named like settings',
      `{ command: sh, args: ["\${domainFolder}/serve.conf"] }`,
      'serve.conf',
      true,
    ],
    ['a script that is named like data', '{ command: python3, args: [-X, dev, server.db] }', 'server.db', true],
    ['data of a package', '{ command: uvx, args: [mcp-server-sqlite, --db-path, shop.db] }', 'shop.db', false],
    ['data after an option', '{ command: shop-server, args: [--db=shop.db] }', 'shop.db', false],
    ['a module next to its option', '{ command: python3, args: [-mserver] }', 'server.py', true],
    ['a file of a runner by another name', '{ command: make, args: [-f, serve.mk] }', 'serve.mk', true],
    ['an archive', '{ command: python3, args: [server.zip] }', 'server.zip', true],
    ['the main file of a folder', '{ command: node, args: [.] }', 'lib/x.js', true],
    [
      'a file that a variable loads',
      '{ command: bash, args: [-c, "true"], env: { BASH_ENV: ./env.inc } }',
      'env.inc',
      true,
    ],
    [
      'a file in NODE_OPTIONS',
      '{ command: node, args: [x], env: { NODE_OPTIONS: "--import ./hook.x" } }',
      'hook.x',
      true,
    ],
    ['a folder on the PATH', `{ command: serve, env: { PATH: "\${domainFolder}/bin:/bin" } }`, 'bin/serve', true],
    ['a folder of Python', '{ command: python3, args: [-m, x], env: { PYTHONPATH: lib } }', 'lib/y/z.py', true],
    ['any file of a text for a shell', '{ command: bash, args: [-lc, "cd $D; node x.mjs"] }', 'shop/x.mjs', true],
    ...['make', 'pipenv', 'pixi', 'mise', 'cargo', 'just'].map(
      (runner) =>
        [`any file that ${runner} starts`, `{ command: ${runner}, args: [run] }`, 'src/main.x', true] as const,
    ),
    ['state that a variable names', '{ command: npx, args: [a], env: { MEMORY_FILE_PATH: m.json } }', 'm.json', false],
    ['data next to a runner', '{ command: npm, args: [start] }', 'shop.sqlite', false],
  ])('is asked about again also if the file is not executable: %s', (_what, server, file, isAsked) => {
    const folder = folderOf({ 'domain.yaml': command(server), [file]: 'one' });
    const asked = () => approvalFor(effectsIn(folder) as Effects);
    rememberApproval(asked() as Approval, process.env);
    writeFileSync(join(folder, file), 'two');
    expect(asked() !== null).toBe(isAsked);
  });

  const app = 'src/app.x';
  test.each<readonly [server: string, file: string, isAsked: boolean]>([
    ['{ command: uv, args: [run, shop], cwd: "${domainFolder}" }', app, true],
    ['{ command: uv, args: [--directory, ., run, shop] }', app, true],
    ['{ command: uv, args: [run, server.mjs] }', 'uv.toml', true],
    ['{ command: /bin/uv, args: [run, shop] }', app, true],
    ['{ command: uvx, args: [--from, ., shop] }', app, true],
    ['{ command: bun, args: [run, start] }', app, true],
    ['{ command: bun, args: [start] }', app, true],
    ['{ command: npx, args: [.] }', app, true],
    ['{ command: npx, args: [-y, ./server] }', 'server/app.x', true],
    ['{ command: npx, args: [tsx, .] }', app, true],
    ['{ command: npx, args: [-p, tsx, tsx@4, src] }', app, true],
    ['{ command: npx, args: [tsx, server] }', 'server/app.x', true],
    ['{ command: npx, args: [shop], cwd: server }', app, true],
    ['{ command: nodemon, args: [server.mjs] }', 'nodemon.json', true],
    ['{ command: node, args: [--test] }', 'test/x.test.js', true],
    ['{ command: node, args: [--import=./server.mjs, --test] }', 'test/x.test.js', true],
    ['{ command: swift, args: [run] }', 'Sources/main.swift', true],
    ['{ command: mix, args: [run] }', 'lib/x.ex', true],
    ['{ command: env, args: [A=1, mix, run] }', 'lib/x.ex', true],
    ['{ command: node, args: ["${env:SHOP}/zz/server.mjs"] }', 'zz/server.mjs', true],
    ['{ command: "${env:SHOP}/serve" }', 'serve', true],
    ['{ command: node, args: ["--import=file://${domainFolder}/x%20y.x", server.mjs] }', 'x y.x', true],
    ['{ command: mix, cwd: "${instanceFolder}", files: server }', 'server/lib/x.ex', true],
    ['{ command: npx, args: [-y, "@scope/server-x"] }', app, false],
    ['{ command: npx, args: [-y, "@scope/server-x", "${domainFolder}/server"] }', app, false],
    ['{ command: npx, args: [-y, "@scope/server-x@1.0.0"], cwd: "${instanceFolder}" }', app, false],
    ['{ command: uvx, args: [--python, python3.12, server-x] }', app, false],
    ['{ command: node, args: [server.mjs] }', app, false],
    ['{ command: env, args: [A=1, node, server.mjs] }', app, false],
    ['{ command: ./server.mjs }', app, false],
    ['{ command: /bin/cat, args: [-x] }', app, false],
    ['{ command: server-x, env: { STATE: state.json } }', 'state.json', false],
    ['{ command: server-x, cwd: "${instanceFolder}" }', app, false],
  ])('is asked about again also if it is not named: %s, %s: %s', (server, file, isAsked) => {
    const folder = folderOf({
      'domain.yaml': command(server),
      'server.mjs': 'one',
      'server/package.json': '{}',
      [file]: 'one',
    });
    const asked = () => approvalFor(effectsIn(folder) as Effects);
    rememberApproval(asked() as Approval, process.env);
    expect(asked()).toBeNull();
    writeFileSync(join(folder, file), 'two');
    expect(asked() !== null).toBe(isAsked);
  });

  test.each([
    ['a script', `{ command: node, files: start, args: ["\${instanceFolder}/server.mjs"] }`, 'start/server.mjs', true],
    ['a program', `{ command: "\${instanceFolder}/serve", files: start }`, 'start/serve', true],
    [
      'in its cwd',
      `{ command: node, args: [server], files: start, cwd: "\${instanceFolder}" }`,
      'start/server.mjs',
      true,
    ],
    ['a module', `{ command: node, files: start, args: ["\${instanceFolder}/server.mjs"] }`, 'start/lib/x.mjs', true],
    ['a task', `{ command: node, files: start, args: ["\${instanceFolder}/server.mjs"] }`, 'other/server.mjs', true],
    [
      'state',
      `{ command: node, args: [x.mjs], files: start, env: { A: "\${instanceFolder}/a.json" } }`,
      'start/a.json',
      false,
    ],
  ])('is asked about again also if it is copied for each rollout: %s', (_what, server, file, isAsked) => {
    const task = 'id: t\npersona: plain\nuser: { goal: Look. }\nactions: []\nsetUp: { shop: { files: other } }\n';
    const files = { 'start/server.mjs': 'one', 'x.mjs': 'one', 'tasks/t.task.yaml': task };
    const folder = folderOf({ 'domain.yaml': command(server), ...files, [file]: 'one' });
    const asked = () => approvalFor(effectsIn(folder) as Effects);
    rememberApproval(asked() as Approval, process.env);
    expect(asked()).toBeNull();
    writeFileSync(join(folder, file), 'two');
    expect(asked() !== null).toBe(isAsked);
  });

  test('is asked about again if a task chooses another folder that is copied for each rollout', () => {
    const task = (setUp: string) => `id: t\npersona: plain\nuser: { goal: Look. }\nactions: []\nsetUp: ${setUp}\n`;
    const folder = folderOf({
      'domain.yaml': command(`{ command: node, files: start, args: ["\${instanceFolder}/server.mjs"] }`),
      'start/server.mjs': 'one',
      'other/server.mjs': 'two',
      'tasks/t.task.yaml': task('{}'),
    });
    const asked = () => approvalFor(effectsIn(folder) as Effects);
    rememberApproval(asked() as Approval, process.env);
    expect(asked()).toBeNull();
    writeFileSync(join(folder, 'tasks/t.task.yaml'), task('{ shop: { files: other } }'));
    expect(asked()).not.toBeNull();
  });

  const npx = '{ command: npx, args: [-y, "@scope/server-x@1"] }';
  const uvx = '{ command: uvx, args: [server-x] }';
  const compose = '{ command: docker, args: [compose, run, shop] }';
  const python = '{ command: ../.venv/bin/python, args: [server.mjs] }';
  const ownPython = '{ command: ./python/bin/python3, args: [server.mjs] }';
  const path = '{ command: python3, args: [-m, shop], env: { PYTHONPATH: ../lib } }';
  test.each<readonly [server: string, file: string, isAsked: boolean]>([
    ...['desk/.npmrc', '.npmrc', 'desk/package.json', 'node_modules/.bin/@scope/server-x'].map(
      (file) => [npx, file, true] as const,
    ),
    [npx, 'desk/node_modules/@scope/server-x/package.json', true],
    ['{ command: npx, args: [server-x], cwd: "${domainFolder}/.." }', '.npmrc', true],
    ['{ command: sh, args: [-c, "npx server-x"] }', '.npmrc', true],
    ['{ command: bunx, args: [server-x] }', 'bunfig.toml', true],
    ...['desk/uv.toml', 'uv.toml', 'desk/pyproject.toml', 'pyproject.toml'].map((file) => [uvx, file, true] as const),
    ...['desk/compose.yaml', 'docker-compose.yml', 'desk/.env', 'desk/app/Dockerfile'].map(
      (file) => [compose, file, true] as const,
    ),
    ['{ command: docker, args: [compose, -f, ../stack.yml, up] }', 'stack.yml', true],
    ['{ command: docker-compose, args: [-f, ../deploy/stack.yml, up] }', 'deploy/.env', true],
    ['{ command: dnx, args: [server-x] }', 'nuget.config', true],
    ...['pyvenv.cfg', 'lib/python3.12/site-packages/a.pth', 'lib/python3.12/site-packages/sitecustomize.py'].flatMap(
      (file) => [[python, `.venv/${file}`, true] as const, [ownPython, `desk/python/${file}`, true] as const],
    ),
    ['{ command: uv, args: [run, shop] }', 'desk/.venv/lib/python3.12/site-packages/a.pth', true],
    [path, 'lib/sitecustomize.py', true],
    [npx, 'package.json', false],
    [npx, 'desk/compose.yaml', false],
    ['{ command: docker, args: [run, shop] }', 'desk/.env', false],
    ['{ command: node, args: [server.mjs] }', 'desk/.npmrc', false],
    [python, '.venv/lib/python3.12/site-packages/a.py', false],
  ])('is asked about again also if a file chooses what it runs: %s, %s: %s', (server, file, isAsked) => {
    const root = folderOf({
      'desk/domain.yaml': command(server),
      'desk/server.mjs': 'one',
      'desk/python/bin/python3': 'one',
      '.venv/bin/python': 'one',
      'deploy/stack.yml': 'one',
    });
    const asked = () => approvalFor(effectsIn(join(root, 'desk')) as Effects);
    for (const text of ['one', 'two']) {
      rememberApproval(asked() as Approval, process.env);
      expect(asked()).toBeNull();
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
      if (isAsked) expect(asked()?.edited?.files ?? '').not.toMatch(/npmrc|uv\.toml|\.pth|pyvenv|sitecustomize/);
      expect(asked() !== null).toBe(isAsked);
      if (!isAsked) return;
    }
  });

  test('of the person who writes it is asked about if another folder is copied for it', () => {
    const task = (setUp: string) => `id: t\npersona: plain\nuser: { goal: Look. }\nactions: []\nsetUp: ${setUp}\n`;
    const folder = folderOf({
      'domain.yaml': command(`{ command: node, files: start, args: ["\${instanceFolder}/server.mjs"] }`),
      'start/server.mjs': 'one',
      'other/server.mjs': 'one',
      'tasks/t.task.yaml': task('{}'),
    });
    const asked = () => approvalFor(effectsIn(folder) as Effects);
    const first = asked() as Approval;
    rememberApproval({ ...first, ...first.edited }, process.env);
    writeFileSync(join(folder, 'start/server.mjs'), 'two');
    expect(asked()).toBeNull();
    writeFileSync(join(folder, 'tasks/t.task.yaml'), task('{ shop: { files: other } }'));
    expect(asked()).not.toBeNull();
  });

  test.each([
    ['the script of an interpreter', `{ command: ${node}, args: [server.mjs] }`, 'server.mjs', false],
    ['a program in the folder', '{ command: ./server }', 'server', false],
    [
      'a package that was installed there',
      `{ command: ${node}, args: [node_modules/a/server.mjs] }`,
      'node_modules/a/server.mjs',
      null,
    ],
    ['a link that leads out', `{ command: ${node}, args: [server.mjs] }`, '../outside/server.mjs', null],
  ])('of the person who writes it can change: %s', (_what, server, file, isAsked) => {
    const folder = join(temporaryFolder('own-program'), 'domain');
    const path = join(folder, file);
    for (const each of [folder, dirname(path)]) mkdirSync(each, { recursive: true });
    writeFileSync(join(folder, 'domain.yaml'), command(server));
    writeFileSync(path, 'one', { mode: 0o755 });
    if (file.startsWith('..')) symlinkSync(path, join(folder, 'server.mjs'));
    const asked = () => approvalFor(effectsIn(folder) as Effects);
    const first = asked() as Approval;
    if (isAsked === null) return expect(first.edited).toBeNull();
    expect(first.edited?.files).toBe(file);
    rememberApproval({ ...first, ...first.edited }, process.env);
    writeFileSync(path, 'two');
    expect(asked()).toBeNull();
    writeFileSync(join(folder, 'domain.yaml'), command(server.replace('{', '{ env: { A: "1" },')));
    expect(asked()).not.toBeNull();
  });
});

test.each([
  ['y', 1],
  ['edits', 0],
])('who answers %j at a terminal is asked %i times after the next edit of a server', async (answer, times) => {
  const folder = temporaryFolder('own-server');
  writeFileSync(join(folder, 'domain.yaml'), 'name: x\nmcpServers:\n  shop: { command: ./server.sh }\n');
  const edit = (text: string) => writeFileSync(join(folder, 'server.sh'), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  edit('exit 1');
  const { asked } = await rehearsal(['tools', folder], [answer]);
  expect(asked).toEqual([expect.stringContaining('when server.sh changes')]);
  edit('exit 2');
  expect((await rehearsal(['tools', folder], ['n'])).asked).toHaveLength(times);
});

test("a task's arguments of a server of a template need approval, also when the file changes while the domain is open", async () => {
  const folder = temporaryFolder('template');
  cpSync(inRoot('templates', 'mcp'), folder, { recursive: true });
  const file = join(folder, 'tasks', readdirSync(join(folder, 'tasks'))[0] ?? '');
  const text = readFileSync(file, 'utf8');
  const id = String(/^id: (.+)$/m.exec(text)?.[1]);
  const mark = join(folder, 'started.md');
  const run = (...more: string[]) => rehearsal(['run', folder, id, '--out', join(home(), 'run'), ...more]);
  expect((await run()).code).toBe(0);
  const before = hashOf(folder);
  const shared = new SharedTools(loadDomain(folder), () => undefined);
  onTestFinished(() => shared.close());
  writeFileSync(file, `${text}\nsetUp: { list: { args: [-e, "fs.writeFileSync('${mark}', '')", "\${env:PATH}"] } }\n`);
  const task = loadDomain(folder).tasks.find((each) => each.id === id);
  await expect(new RolloutTools(shared).open(task as Task)).rejects.toMatchObject({
    failure: { code: 'effects/not-approved' },
  });
  const { code, err } = await run('--approve', before);
  expect([code, existsSync(mark)]).toEqual([2, false]);
  expect(err).toContain(`MCP server "list" for task "${id}" starts`);
  expect(err).toContain('with your environment variables PATH');
  await run('--approve', hashOf(folder));
  expect(existsSync(mark)).toBe(true);
});

test('no way around: the engine itself refuses to open the domain', async () => {
  const { folder, mark } = marked();
  await expect(openSupervisor(loadDomain(folder))).rejects.toMatchObject({ failure: { code: 'effects/not-approved' } });
  expect(existsSync(mark)).toBe(false);
});

describe.each(sampled(['', 'off'], 2))('with REHEARSAL_SANDBOX=%s', (sandbox) => {
  beforeEach(() => void vi.stubEnv('REHEARSAL_SANDBOX', sandbox));

  const samples = ['domains', 'templates'].flatMap((root) =>
    readdirSync(inRoot(root)).map((name) => [`${root}/${name}`] as const),
  );
  test.each(sampled(samples, 5))('the first five minutes on %s ask no question', async (name) => {
    const folder = temporaryFolder('sample');
    cpSync(inRoot(name), folder, { recursive: true });
    const checked = await rehearsal(['check', folder]);
    expect([checked.code, checked.out]).toEqual([0, expect.not.stringContaining('not-approved')]);
    const [task] = loadDomain(folder).tasks;
    if (!task) return;
    expect(await rehearsal(['run', folder, task.id, '--agent', 'gold', '--user', 'agenda'])).toMatchObject({ code: 0 });
    const evaluated = await rehearsal([
      'eval',
      folder,
      '--tasks',
      task.id,
      '--agent',
      'gold',
      '--user',
      'agenda',
      '--json',
    ]);
    expect(evaluated).toMatchObject({ code: 0 });
  });
});

describe.runIf(findSandbox().name !== null)('code that declares the network', () => {
  const typescript = (url: string) => `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const came = await fetch(${JSON.stringify(url)}).then((answer) => answer.text(), () => 'refused');
const { tool } = defineTools<{ agent: object }>();
export const look = tool({ description: came, effect: 'read', input: z.object({}), run: () => came });
`;
  const python = (url: string) => `from urllib.request import urlopen
from rehearsal import tool
try:
    came = urlopen(${JSON.stringify(url)}).read().decode()
except OSError:
    came = "refused"
def look() -> str: ...
look.__doc__ = came
look = tool(effect="read")(look)
`;

  test.each([
    ['tools.ts', typescript],
    ['tools.py', python],
  ])('has it only where domain.yaml says so and it is approved: %s', async (name, code) => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const folder = temporaryFolder('network');
    writeFileSync(join(folder, name), code(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    const declare = (text: string) => writeFileSync(join(folder, 'domain.yaml'), `name: net\n${text}`);
    declare('');
    expect(await rehearsal(['tools', folder])).toMatchObject({ code: 0, out: expect.stringContaining('refused') });
    declare('network: true\n');
    const { code: exit, err } = await rehearsal(['tools', folder]);
    expect([exit, err]).toEqual([2, expect.stringContaining('code of the domain uses the network of this machine')]);
    const approved = await rehearsal(['tools', folder, '--approve', hashOf(folder)]);
    expect(approved).toMatchObject({ code: 0, out: expect.stringContaining('reached') });
  });
});

describe('without a sandbox', () => {
  beforeEach(() => void vi.stubEnv('REHEARSAL_SANDBOX', 'off'));

  test('a domain with code of its own runs after one approval, which an edit of its code does not end', async () => {
    const folder = temporaryFolder('own-code');
    cpSync(inRoot('domains', 'parcel-desk'), folder, { recursive: true });
    const tools = join(folder, 'tools.ts');
    const edit = () => writeFileSync(tools, `${readFileSync(tools, 'utf8')}\n// Edited.\n`);
    edit();
    const { code, err } = await rehearsal(['tools', folder]);
    expect([code, err]).toEqual([2, expect.stringContaining('runs without a sandbox if the machine has none')]);
    expect(err).toContain('This machine has no sandbox: REHEARSAL_SANDBOX=off switches it off');
    const checked = await rehearsal(['check', folder]);
    expect([checked.code, checked.out]).toEqual([
      2,
      expect.stringMatching(
        /domain\/not-approved This machine has no sandbox: REHEARSAL_SANDBOX=off .* needs your approval\. .* --approve [0-9a-f]{64}\n.*its code was not checked\n$/,
      ),
    ]);
    const asked = await rehearsal(['tools', folder], ['y']);
    expect([asked.code, asked.asked.length]).toEqual([0, 1]);
    const option = `--approve ${hashOf(folder, false)}`;
    expect(asked.err).toContain(`Approved. On another machine, approve it with ${option}\n`);
    expect((await rehearsal(['check', folder])).out).toContain(option);
    edit();
    expect(await rehearsal(['tools', folder], [])).toMatchObject({ code: 0, asked: [] });
  });

  test.each([
    ['an additional module', 'extra.ts', ''],
    ['a module in a folder', 'more/extra.mjs', ''],
    ['Python', 'tools.py', ''],
    ['a hidden file as its tools in Python', '.t.py', 'pythonTools: .t.py'],
    ['a text as its tools in Python', 't.txt', 'pythonTools: t.txt'],
    ['its policy as its tools in Python', 'policy.md', 'pythonTools: policy.md'],
    ['a hidden folder as an environment', '.git/e.py', 'environments: { own: { file: .git/e.py } }'],
  ])('a sample with %s is no longer the sample', async (_what, name, declared) => {
    const folder = temporaryFolder('altered');
    cpSync(inRoot('domains', 'parcel-desk'), folder, { recursive: true });
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), '');
    appendFileSync(join(folder, 'domain.yaml'), `\n${declared}\n`);
    expect(await rehearsal(['tools', folder])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not approved'),
    });
  });

  test('a sample whose texts and data were edited still is', async () => {
    const folder = temporaryFolder('edited');
    cpSync(inRoot('domains', 'parcel-desk'), folder, { recursive: true });
    writeFileSync(join(folder, 'policy.md'), '- Be kind.\n');
    const tasks = join(folder, 'tasks');
    cpSync(join(tasks, readdirSync(tasks)[0] ?? ''), join(tasks, 'more.task.yaml'));
    writeFileSync(join(folder, 'mine.training.yaml'), 'kind: sft\n');
    expect((await rehearsal(['tools', folder])).code).toBe(0);
  });
});
