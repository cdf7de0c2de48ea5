// npm run bench [-- --only part,part] [--out FILE]: every number that the README quotes, in one run, as a table and as
// JSON. Linux. A part that can't run says so and why; one that should have run and failed ends the bench with 1.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleBench } from './bundle.ts';
import { type Measured, Skipped } from './measure.ts';
import { parts, runPart } from './parts.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    out: { type: 'string', default: 'dist/bench.json' },
    /** Used by the bench itself: one part, its rows as JSON lines. */
    part: { type: 'string' },
  },
});
if (values.part === undefined) await runAll(values.only?.split(',') ?? Object.keys(parts), values.out);
else await runHere(values.part);

async function runHere(name: string): Promise<void> {
  const write = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
  // Building and packing speak on standard output; this process writes rows there and nothing else.
  console.log = (...words: unknown[]) => console.error(...words);
  try {
    const load = parts[name];
    if (!load) throw new Error(`there is no such part; there are ${Object.keys(parts).join(', ')}`);
    if (process.platform !== 'linux')
      throw new Skipped(`CPU time and memory come from /proc, which ${process.platform} does not have`);
    const measure = await load();
    for (const row of await measure(write)) write(row);
  } catch (error) {
    const absent = error instanceof Error ? error.message : String(error);
    write({ absent, isSkipped: error instanceof Skipped });
  }
}

async function runAll(chosen: readonly string[], out: string): Promise<void> {
  const measured: Measured[] = [];
  const absent: { readonly part: string; readonly what: 'SKIPPED' | 'FAILED'; readonly why: string }[] = [];
  const load = [loadavg()[0] ?? 0];
  const machine = { cores: cpus().length, model: cpus()[0]?.model, node: process.version, load };
  print(`${machine.cores} cores (${machine.model}), load ${load[0]?.toFixed(1)}, Node ${machine.node}\n`);
  const program = await bundleBench();
  for (const part of chosen) {
    const absence = await runPart(program, part, (row) => {
      measured.push(row);
      print(lineOf(row));
    });
    if (!absence) continue;
    absent.push({ part, what: absence.isSkipped ? 'SKIPPED' : 'FAILED', why: absence.absent });
    print(`${absence.isSkipped ? 'SKIPPED' : 'FAILED'} ${part}: ${absence.absent}`);
  }
  load.push(loadavg()[0] ?? 0);
  const promised = measured.filter(({ promise }) => promise);
  const broken = promised.filter((row) => !isKept(row)).map(({ name }) => `; not: ${name}`);
  print(`\n${promised.length - broken.length} of ${promised.length} promises kept here${broken.join('')}.`);
  print(`Load ${load.map((each) => each.toFixed(1)).join(' to ')} on ${machine.cores} cores.`);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify({ at: new Date().toISOString(), machine, measured, absent }, null, 2)}\n`);
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
