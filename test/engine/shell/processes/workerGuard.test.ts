import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine } from '../../../support/commandLine.ts';
import { killIfRunning } from '../../../support/processes.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { until } from '../../../support/until.ts';

const root = temporaryFolder('rehearsal-guard');
const tools = `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: object }>();
export const loop = tool({ description: 'Never ends.', effect: 'read', timeoutMs: 60_000, input: z.object({}),
  run: () => { console.log('in the loop'); for (;;) {} } });
`;

/** A domain whose scripted agent calls a tool that never ends, and that may take a minute. */
function writeDomain(): string {
  const folder = join(root, 'desk');
  for (const name of ['personas', 'tasks']) mkdirSync(join(folder, name), { recursive: true });
  const files: Record<string, string> = {
    'domain.yaml': 'name: desk\n',
    'database.json': '{}',
    'policy.md': '- Be kind.\n',
    'tools.ts': tools,
    'personas/plain.persona.yaml': 'id: plain\ndescription: Plain.\n',
    'tasks/hangs.task.yaml':
      'id: hangs\npersona: plain\nuser: { goal: Hang. }\nactions: []\nscript: [[{ tool: loop, arguments: {} }], Done.]\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

type Row = { readonly pid: number; readonly parent: number; readonly state: string; readonly args: string };

function processes(): Row[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8', maxBuffer: 1e8 });
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, state = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid ? [{ pid: Number(pid), parent: Number(parent), state, args }] : [];
  });
}

/** Reports whether a process runs. A zombie process does not count as running. */
const isRunning = (pid: number) => processes().some((row) => row.pid === pid && !row.state.startsWith('Z'));

/** Starts a command line whose worker is in an endless loop. */
async function hanging(): Promise<{ readonly parent: ChildProcess; readonly worker: number; readonly guard: number }> {
  const args = [commandLine, 'run', writeDomain(), 'hangs', '--agent', 'scripted', '--out', join(root, 'run')];
  const env = { ...process.env, REHEARSAL_HOME: join(root, 'home') };
  const parent = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [parent.stdout, parent.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  await until('the loop', () => said.includes('in the loop')).catch((error: Error) => {
    throw new Error(`${error.message}; it said: ${said}`);
  });
  const children = processes().filter((row) => row.parent === parent.pid);
  const [worker, guard] = [/worker\.(?:ts|mjs)/, /read -r sign pid/].map(
    (words) => children.find(({ args }) => words.test(args))?.pid,
  );
  if (!worker || !guard) throw new Error(`the worker or its guard is not among ${JSON.stringify(children)}`);
  return { parent, worker, guard };
}

test.skipIf(process.platform === 'win32')('a worker in an endless loop ends when its parent is killed', async () => {
  const { parent, worker, guard } = await hanging();
  expect(isRunning(worker)).toBe(true);
  parent.kill('SIGKILL');
  await until('the end of the worker', () => !isRunning(worker)).finally(() => killIfRunning(worker));
  await until('the end of the guard', () => !isRunning(guard));
});
