import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { runStepProcess } from '../../scripts/stepProcess.ts';
import { isRunning, killIfRunning } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const folder = temporaryFolder('steps');

/** Runs a script as a step. */
function started(
  name: string,
  script: string,
  more: { limitMs?: number; interruption?: AbortSignal; outputMs?: number } = {},
) {
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, script);
  const defaults = { limitMs: 600_000, interruption: new AbortController().signal };
  return runStepProcess({ script: file, args: [], name, isLive: false, ...defaults, ...more });
}

const send = `import { sendCounts } from ${JSON.stringify(inRoot('scripts', 'stepProcess.ts'))};`;
const hangs = 'setInterval(() => {}, 1e9);';

test.concurrent.each([
  [
    'reports',
    `${send} console.log('done'); await sendCounts(Promise.resolve({ passed: 2, failed: 0, skipped: 0 }));`,
    {},
    { output: 'done\n', counts: { passed: 2, failed: 0, skipped: 0 } },
  ],
  [
    'ends early',
    'process.exit(3);',
    {},
    { counts: { failed: 1, failures: [{ text: 'the step exited with code 3 before it reported a result' }] } },
  ],
  [
    'hangs',
    hangs,
    { limitMs: 1 },
    { counts: { failed: 1, failures: [{ text: 'stopped at its time limit of 0.0 s' }] } },
  ],
  ['is interrupted', hangs, { interruption: AbortSignal.abort() }, { counts: undefined }],
])('a step that %s is counted', async (name, script, more, expected) => {
  expect(await started(name, script, more)).toMatchObject(expected);
});

test('a step that leaves a process behind with its output passes, and names it', async () => {
  const { output, counts } = await started(
    'leaves',
    `${send} import { spawn } from 'node:child_process';
    const { pid } = spawn(process.execPath, ['-e', '${hangs}'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
    console.log(pid);
    await sendCounts(Promise.resolve({ passed: 1, failed: 0, skipped: 0 }));
    process.exit();`,
    { outputMs: 100 },
  );
  killIfRunning(Number(output));
  const leftovers = ['a process of leaves, which keeps its output open'];
  expect(counts).toEqual({ passed: 1, failed: 0, skipped: 0, leftovers });
});

test.skipIf(process.platform !== 'linux')('a stopped step takes along what left its process group', async () => {
  const pidFile = join(folder, 'pid');
  const interruption = new AbortController();
  const finished = started(
    'spawns',
    `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const { pid } = spawn(process.execPath, ['-e', '${hangs}'], { detached: true, stdio: 'ignore' });
    writeFileSync(${JSON.stringify(pidFile)}, \`\${pid}\\n\`);`,
    { interruption: interruption.signal },
  );
  await until('the pid of what it starts', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'));
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect(isRunning(pid)).toBe(true);
  interruption.abort();
  await finished;
  try {
    // The signal is sent; a process takes a moment to end.
    await until('the end of what it started', () => !isRunning(pid));
  } finally {
    killIfRunning(pid);
  }
});

test.skipIf(process.platform !== 'linux')('a step ends when the process that started it is killed', async () => {
  const pidFile = join(folder, 'pids');
  const script = join(folder, 'orphaned.ts');
  writeFileSync(
    script,
    `${send}
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const { pid } = spawn(process.execPath, ['-e', '${hangs}'], { detached: true, stdio: 'ignore' });
    const sent = sendCounts(new Promise(() => {}));
    writeFileSync(${JSON.stringify(pidFile)}, \`\${process.pid} \${pid}\\n\`);
    await sent;`,
  );
  const step = { script, args: [], name: 'orphaned', limitMs: 600_000, isLive: false };
  const starter = join(folder, 'starter.ts');
  writeFileSync(
    starter,
    `import { runStepProcess } from ${JSON.stringify(inRoot('scripts', 'stepProcess.ts'))};
    await runStepProcess({ ...${JSON.stringify(step)}, interruption: new AbortController().signal });`,
  );
  const parent = spawn(process.execPath, [starter]);
  const text = () => (existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : '');
  await until('the pids of the step and of what it started', () => text().endsWith('\n'));
  const pids = text().split(' ').map(Number);
  parent.kill('SIGKILL');
  try {
    await until('the end of both', () => !pids.some(isRunning));
  } finally {
    for (const pid of pids) killIfRunning(pid);
  }
});
