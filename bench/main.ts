import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAgainst } from './against.ts';
import { bundleBench } from './bundle.ts';
import { isOnce, type Measured, Skipped } from './measure.ts';
import { parts, runPart } from './parts.ts';

const usage = `Usage: npm run bench -- [--only PART,PART] [--once] [--out FILE]
       npm run bench -- --against COMMIT [--only PART,PART] [--rounds N]

Measures every number that docs/performance.md quotes, and writes a table and JSON. Requires Linux. A part that cannot run on
this machine is skipped, with the command that installs what it needs. The exit code is 1 if a part fails, not if a
number is worse than promised.

  --only A,B        measure these parts only
  --once            run each part as briefly as possible, to show that it works
  --out FILE        where the JSON is written (dist/bench.json)
  --against COMMIT  measure that commit and this checkout in turns
  --rounds N        how often, with --against (5)

The parts: ${Object.keys(parts).join(', ')}`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    only: { type: 'string' },
    once: { type: 'boolean', default: false },
    out: { type: 'string', default: 'dist/bench.json' },
    against: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    /** Used by the bench itself: runs one part and prints its rows as JSON lines. */
    part: { type: 'string' },
  },
});
const chosen = values.only?.split(',') ?? Object.keys(parts);
if (values.help) print(usage);
else if (values.part !== undefined) await runHere(values.part);
else if (values.against === undefined) await runAll(chosen, values.out);
else
  await measureAgainst({ commit: values.against, parts: chosen, rounds: roundsOf(values.rounds) }, (row) =>
    print(lineOf(row)),
  );

function roundsOf(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--rounds must be a whole number from 1: ${text}`);
  return count;
}

async function runHere(name: string): Promise<void> {
  const write = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
  // Building and packing print to standard output, which is reserved for the rows.
  console.log = (...words: unknown[]) => console.error(...words);
  try {
    const load = parts[name];
    if (!load) throw new Error(`this part does not exist; the parts are ${Object.keys(parts).join(', ')}`);
    if (process.platform !== 'linux')
      throw new Skipped(`CPU time and memory come from /proc, which ${process.platform} does not have`);
    const measure = await load();
    for (const row of await measure(write)) write(row);
  } catch (error) {
    const absent = error instanceof Error ? error.message : String(error);
    const isSkipped = error instanceof Skipped;
    write({ absent, isSkipped, ...(isSkipped && { install: error.install }) });
  }
}

/** A part that did not run to its end. `seconds` of the JSON lists every part that ran. */
type Absent = {
  readonly part: string;
  readonly what: 'SKIPPED' | 'FAILED';
  readonly why: string;
  readonly install?: string;
};

async function runAll(chosen: readonly string[], out: string): Promise<void> {
  const measured: Measured[] = [];
  const absent: Absent[] = [];
  const seconds: Record<string, number> = {};
  const load = [loadavg()[0] ?? 0];
  const machine = { cores: cpus().length, model: cpus()[0]?.model, node: process.version, load };
  print(`${machine.cores} cores (${machine.model}), load ${load[0]?.toFixed(1)}, Node ${machine.node}\n`);
  const program = await bundleBench();
  for (const part of chosen) {
    const started = performance.now();
    const absence = await runPart(program, part, (row) => {
      measured.push(row);
      print(lineOf(row));
    });
    seconds[part] = Math.round((performance.now() - started) / 1000);
    print(`${part}: ${seconds[part]} s`);
    if (!absence) continue;
    const { absent: why, isSkipped, install } = absence;
    const what = isSkipped ? 'SKIPPED' : 'FAILED';
    absent.push({ part, what, why, ...(install && { install }) });
    print(`${what} ${part}: ${why}${install ? `. Install it with: ${install}` : ''}`);
  }
  load.push(loadavg()[0] ?? 0);
  const promised = measured.filter(({ promise }) => promise);
  const broken = promised.filter((row) => !isKept(row)).map(({ name }) => `; not: ${name}`);
  print(`\n${promised.length - broken.length} of ${promised.length} promises kept here${broken.join('')}.`);
  print(`Load ${load.map((each) => each.toFixed(1)).join(' to ')} on ${machine.cores} cores.`);
  mkdirSync(dirname(out), { recursive: true });
  const at = new Date().toISOString();
  writeFileSync(out, `${JSON.stringify({ at, machine, isOnce, seconds, measured, absent }, null, 2)}\n`);
  print(out);
  if (absent.some(({ what }) => what === 'FAILED')) process.exitCode = 1;
}

function lineOf(row: Measured): string {
  const { name, value, unit, note, promise } = row;
  const shown = value >= 100 ? value.toFixed(0) : value.toPrecision(3);
  const promised = promise ? `(at ${promise.at} ${promise.value}: ${isKept(row) ? 'kept' : 'NOT kept'}) ` : '';
  return `${name.padEnd(46)} ${shown.padStart(8)} ${unit.padEnd(9)} ${promised}${note}`;
}

function isKept({ value, promise }: Measured): boolean {
  if (!promise) return true;
  return promise.at === 'most' ? value <= promise.value : value >= promise.value;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
