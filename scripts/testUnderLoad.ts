#!/usr/bin/env node
/**
 * `npm run test:load`: runs `npm test` ten times in a row while four busy processes compete for the CPU, and prints
 * the time and the counts of each run.
 *
 *     npm run test:load                       ten runs
 *     npm run test:load -- --runs 3 --busy 8  three runs beside eight busy processes
 *
 * The results are appended to dist/test/load.jsonl. A series that was interrupted continues at the next missing run of
 * the same commit beside as many processes. The exit code is 1 when a run of the series failed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type LoadedRun, readSeries, slowestIn } from './loadedRuns.ts';
import { runCommand } from './process.ts';
import { inRoot, root } from './repository.ts';
import { announce, runMain } from './terminal.ts';

/** Starts processes that do nothing but compute. They end with this process. */
function startBusyProcesses(count: number): () => void {
  const endsWithParent = `process.on('disconnect', () => process.exit()); setInterval(() => {}, 1e9);
    const spin = () => { for (const end = Date.now() + 50; Date.now() < end; ); setImmediate(spin); }; spin();`;
  const busy: ChildProcess[] = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', endsWithParent], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
  );
  return () => {
    for (const each of busy) each.kill('SIGKILL');
  };
}

async function runTests(log: string): Promise<Pick<LoadedRun, 'at' | 'minutes' | 'last' | 'slowest'>> {
  const at = new Date().toISOString();
  const started = performance.now();
  const out = openSync(log, 'w');
  const child = spawn(process.execPath, [inRoot('scripts', 'bootstrap.mjs'), 'test', '--slowest'], {
    cwd: root,
    stdio: ['ignore', out, out],
  });
  await new Promise((resolve) => child.once('close', resolve));
  closeSync(out);
  const output = readFileSync(log, 'utf8');
  const last = output.trim().split('\n').at(-1) ?? '';
  return { at, minutes: (performance.now() - started) / 60_000, last, slowest: slowestIn(output) };
}

function described({ run, minutes, last }: LoadedRun, count: number): string {
  return `run ${run} of ${count}: ${minutes.toFixed(1)} min, ${last}`;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { runs: { type: 'string', default: '10' }, busy: { type: 'string', default: '4' } },
  });
  const folder = inRoot('dist', 'test', 'load');
  mkdirSync(folder, { recursive: true });
  const commit = (await runCommand('git', ['rev-parse', '--short', 'HEAD'], { cwd: root })).output.trim();
  const count = Number(values.runs);
  const busy = Number(values.busy);
  announce(`${count} runs of npm test at ${commit} beside ${busy} busy processes on ${availableParallelism()} cores`);
  const file = inRoot('dist', 'test', 'load.jsonl');
  const series = readSeries(file, commit, busy).filter(({ run }) => run <= count);
  for (const run of series) announce(`${described(run, count)} (from ${run.at})`);
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter((run) =>
    series.every((each) => each.run !== run),
  );
  const stop = missing.length > 0 ? startBusyProcesses(busy) : () => undefined;
  try {
    for (const run of missing) {
      const result = await runTests(inRoot('dist', 'test', 'load', `${commit}-${run}.log`));
      const finished: LoadedRun = { commit, busy, run, ...result };
      appendFileSync(file, `${JSON.stringify(finished)}\n`);
      announce(described(finished, count));
      series.push(finished);
    }
  } finally {
    stop();
  }
  const failures = series.filter(({ last }) => !/^\d+ passed, 0 failed$/.test(last)).length;
  console.log(`${count - failures} passed, ${failures} failed`);
  return failures > 0 ? 1 : 0;
}

await runMain(main);
