#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBusyProcesses } from './busyProcesses.ts';
import { endOf, interruptionSignal } from './process.ts';
import { inRoot, root } from './repository.ts';
import { announce, elapsed, Failure, runMain } from './terminal.ts';
import { isFinding } from './testSummary.ts';

const usage = `Usage: npm run test:load -- [options] [-- ARGUMENT...]

Runs npm test -- --strict several times in a row while other processes keep the CPU busy, and prints the time and the
result of each run. The output of each run is in dist/test/load. The exit code is 1 if a run failed.
An ARGUMENT is passed to npm test: npm run test:load -- -- --only unit

  --runs N   how often npm test runs (3)
  --busy N   how many processes keep the CPU busy (4)`;

function countIn(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Failure(`--${option} must be a whole number from 1: ${text}`);
  return count;
}

/** Runs `npm test` with its output in a file. Returns whether it passed and what it reported, in one line each. */
async function runTests(log: string, args: readonly string[], interruption: AbortSignal) {
  const out = openSync(log, 'w');
  const command = [inRoot('scripts', 'bootstrap.mjs'), 'test', '--strict', '--slowest', ...args];
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', out, out] });
  interruption.addEventListener('abort', () => child.kill('SIGTERM'));
  const { code } = await endOf(child);
  closeSync(out);
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  return {
    isPassed: code === 0,
    total: lines.at(-1) ?? '',
    findings: lines.filter(isFinding),
  };
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '3' },
      busy: { type: 'string', default: '4' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const runs = countIn('runs', values.runs);
  const busyCount = countIn('busy', values.busy);
  const folder = inRoot('dist', 'test', 'load');
  mkdirSync(folder, { recursive: true });
  announce(`${runs} runs of npm test beside ${busyCount} busy processes on ${availableParallelism()} cores`);
  const interruption = interruptionSignal();
  const busy = startBusyProcesses(busyCount);
  let passed = 0;
  try {
    for (let run = 1; run <= runs && !interruption.aborted; run += 1) {
      const started = performance.now();
      const log = join(folder, `run-${run}.log`);
      const { isPassed, total, findings } = await runTests(log, positionals, interruption);
      if (isPassed) passed += 1;
      announce(`run ${run} of ${runs}: ${isPassed ? 'passed' : 'failed'} after ${elapsed(started)}: ${total}`);
      for (const finding of findings) console.log(`    ${finding}`);
    }
  } finally {
    busy.stop();
  }
  console.log(`${passed} of ${runs} runs passed`);
  return passed === runs ? 0 : 1;
}

await runMain(main);
