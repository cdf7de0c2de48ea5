// Makes a domain of published MCP servers and plays it. `npm run test:servers` calls it.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDocument } from 'yaml';
import { type Copy, npmFolder, obstacleOf, pythonWith } from '../../scripts/benchmarks/copy.ts';
import { ensureBuilt } from '../../scripts/build.ts';
import { runCommand } from '../../scripts/process.ts';
import { announce, Failure, runMain, warn } from '../../scripts/terminal.ts';
import { type ProcessGroup, startGroup } from '../../src/engine/shell/processes/processGroup.ts';
import { readRecording } from '../../src/engine/shell/records/recording.ts';
import { commandLine } from '../support/commandLine.ts';
import { freePort } from '../support/freePort.ts';
import { markdownTable } from '../support/markdownTable.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type PublishedServer, servers } from './servers.ts';

const usage = `Usage: npm run test:servers -- [PACKAGE ...]

Installs published MCP servers into the cache folder, makes a domain of each with \`rehearsal new\`, and plays its task: the
gold agent must get reward 1 and the wrong agent reward 0. Prints the table of docs/mcp-cookbook.md. Needs npm, and Python
for servers of PyPI. The packages: ${servers.map((each) => each.package).join(', ')}.`;

type Row = {
  readonly seconds: number;
  readonly questions: number;
  readonly domainLines: number;
  readonly taskLines: number;
};

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const stranger = positionals.find((name) => servers.every((each) => each.package !== name));
  if (stranger !== undefined) throw new Failure(`${stranger} is not one of the packages.\n\n${usage}`);
  await ensureBuilt();
  const rows: string[][] = [];
  let failures = 0;
  for (const server of servers) {
    if (positionals.length > 0 && !positionals.includes(server.package)) continue;
    const copy = copyOf(server);
    const obstacle = await obstacleOf(copy);
    if (obstacle !== null) {
      warn(`${server.package} is skipped: ${obstacle}`);
      continue;
    }
    try {
      rows.push(rowOf(server, await played(server, copy)));
    } catch (error) {
      failures += 1;
      warn(`${server.package} failed: ${messageOf(error)}`);
    }
  }
  console.log(markdownTable([columns, ...rows]));
  return failures > 0 ? 1 : 0;
}

const columns = [
  'server',
  'over',
  'state',
  'seconds',
  'questions',
  'lines in domain.yaml',
  'lines of the task',
  'the reward reads',
];

function rowOf(server: PublishedServer, { seconds, questions, domainLines, taskLines }: Row): string[] {
  return [
    `${server.registry} \`${server.package}\` ${server.version}`,
    server.http ? 'HTTP' : 'stdio',
    server.state,
    seconds.toFixed(0),
    String(questions),
    String(domainLines),
    String(taskLines),
    server.reads,
  ];
}

/** Makes a domain of a server and plays its task with the gold agent and a wrong agent. Throws a `Failure`. */
async function played(server: PublishedServer, copy: Copy): Promise<Row> {
  announce(`${server.package} ${server.version}`);
  const work = temporaryFolder('server');
  const start = join(work, 'start');
  for (const [path, text] of Object.entries(server.start ?? {})) write(join(start, path), text);
  const running = server.http ? await startHttp(server, copy, start) : null;
  try {
    const started = performance.now();
    const command = [programOf(server, copy), ...(server.args ?? [])].map((word) => JSON.stringify(word)).join(' ');
    const env = Object.entries(server.env ?? {}).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const from = running ? ['--mcp-url', running.url] : ['--mcp', command, ...env];
    const files = !running && server.start ? ['--files', start] : [];
    const domain = join(work, 'domain');
    let questions = 0;
    const rehearsal = async (...args: readonly string[]) => {
      const { asked, ...finished } = await approved(work, args);
      questions += asked;
      return finished;
    };
    const made = await rehearsal('new', domain, ...from, ...files, ...(server.flags ?? []));
    // The exit code is 1 if a draft needs work.
    if (!existsSync(join(domain, 'domain.yaml')))
      throw new Failure(`rehearsal new ended with ${made.code}:\n${made.output}`);
    const { lines: domainLines, name } = edit(join(domain, 'domain.yaml'), server);
    const task = `id: try\npersona: ${personaOf(domain)}\n${server.task.replaceAll('SERVER', name)}`;
    write(join(domain, 'tasks', 'try.task.yaml'), task);
    for (const [agent, reward] of [
      ['gold', 1],
      ['scripted', 0],
    ] as const) {
      const run = join(work, agent);
      const { output } = await rehearsal('run', domain, 'try', '--agent', agent, '--out', run);
      const recording = join(run, 'try.0.traj.jsonl');
      if (!existsSync(recording) || rewardOf(recording) !== reward)
        throw new Failure(`the agent ${agent} did not get reward ${reward}:\n${output}`);
      for (const check of [
        ['verify', run],
        ['replay', recording, '--domain', domain, '--quiet'],
      ]) {
        const { code, output: found } = await rehearsal(...check);
        if (code !== 0) throw new Failure(`rehearsal ${check[0]} ended with ${code}:\n${found}`);
      }
    }
    const seconds = (performance.now() - started) / 1000;
    return { seconds, questions, domainLines, taskLines: task.trimEnd().split('\n').length };
  } finally {
    await running?.group.end();
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns the message of a `Failure`. Throws any other error. */
function messageOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  throw error;
}

function rewardOf(recording: string): number | null | undefined {
  const last = readRecording(recording).lines.at(-1)?.event;
  return last?.type === 'rewarded' ? last.reward : undefined;
}

/** Runs the command line and approves its requests. Returns the number of requests. */
async function approved(cwd: string, args: readonly string[]) {
  const hashes: string[] = [];
  for (;;) {
    const approvals = hashes.flatMap((hash) => ['--approve', hash]);
    const env = { ...process.env, REHEARSAL_HOME: join(cwd, 'home') };
    const finished = await runCommand(process.execPath, [commandLine, ...args, ...approvals], { cwd, env });
    const hash = /--approve ([0-9a-f]{64})/.exec(finished.output)?.[1];
    if (finished.code === 0 || hash === undefined || hashes.includes(hash))
      return { ...finished, asked: hashes.length };
    hashes.push(hash);
  }
}

/** Makes the edits of the author in domain.yaml. Returns the name of the server, and how many lines the edits change. */
function edit(file: string, { edits = {} }: PublishedServer): { readonly lines: number; readonly name: string } {
  const before = readFileSync(file, 'utf8');
  const document = parseDocument(before);
  const [name = ''] = Object.keys((document.toJS() as { mcpServers: object }).mcpServers);
  for (const [key, value] of Object.entries(edits))
    document.setIn(['mcpServers', name, key], document.createNode(value, { flow: true }));
  const after = Object.keys(edits).length === 0 ? before : document.toString({ lineWidth: 0 });
  writeFileSync(file, after);
  const [old, now] = [before.split('\n'), after.split('\n')];
  const added = now.filter((line) => !old.includes(line)).length;
  const removed = old.filter((line) => !now.includes(line)).length;
  return { lines: Math.max(added, removed), name };
}

function copyOf({ registry, package: name, version, beside = [], bytes }: PublishedServer): Copy {
  const plain = name.replaceAll(/[^\w.-]+/g, '-').replace(/^-/, '');
  const source = {
    name: `server-${plain}-${version}`,
    variable: `REHEARSAL_SERVER_${plain.toUpperCase().replaceAll(/\W/g, '_')}`,
    bytes,
  };
  return registry === 'npm'
    ? npmFolder([`${name}@${version}`], source)
    : pythonWith([`${name}==${version}`, ...beside], source);
}

const programOf = ({ registry, program }: PublishedServer, copy: Copy) =>
  registry === 'npm' ? join(copy.path(), 'node_modules', '.bin', program) : join(dirname(copy.path()), program);

/** Starts a server over HTTP in its start folder, and waits until it answers. */
async function startHttp(
  server: PublishedServer,
  copy: Copy,
  cwd: string,
): Promise<{ url: string; group: ProcessGroup }> {
  const { http } = server;
  if (!http) throw new Failure(`${server.package} is not started over HTTP`);
  mkdirSync(cwd, { recursive: true });
  const port = String(await freePort());
  const env = { ...process.env, ...http.env?.(port) } as Record<string, string>;
  const group = startGroup({ command: programOf(server, copy), args: http.args(port, cwd), env, cwd });
  const { child } = group;
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  const url = `http://127.0.0.1:${port}${http.path}`;
  const waiting = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new Failure(`the server could not be started (${error.message})`)));
    child.once('exit', (code, signal) =>
      reject(new Failure(`the server ended with ${code ?? signal} before it answered`)),
    );
  });
  try {
    await Promise.race([answering(url, waiting.signal), ended]);
    return { url, group };
  } catch (error) {
    await group.end();
    throw error;
  } finally {
    waiting.abort();
    ended.catch(() => undefined);
  }
}

/** Waits until a server answers. Throws a `Failure` after a minute. */
async function answering(url: string, signal: AbortSignal): Promise<void> {
  const end = performance.now() + 60_000;
  while (!signal.aborted && performance.now() < end) {
    const answers = await fetch(url, { signal: AbortSignal.timeout(2000) }).then(
      ({ body }) => body?.cancel().then(() => true) ?? true,
      () => false,
    );
    if (answers) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Failure('the server did not answer within 60 s');
}

function personaOf(domain: string): string {
  const [file = ''] = readdirSync(join(domain, 'personas'));
  return file.replace(/\.persona\.yaml$/, '');
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

await runMain(main);
