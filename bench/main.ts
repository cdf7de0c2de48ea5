// npm run bench: every number that the README quotes, in one run. Linux; a step that can't run says so.
import { measureDebugger } from './debugger.ts';
import type { Measured } from './measure.ts';
import { measureLive, measureRollouts, measureWrite } from './rollouts.ts';

const steps: readonly {
  readonly name: string;
  readonly run: () => Promise<readonly Measured[]> | readonly Measured[];
}[] = [
  { name: 'database', run: measureWrite },
  { name: 'rollouts', run: () => measureRollouts(50) },
  { name: 'memory', run: () => measureLive(256, 20) },
  { name: 'debugger', run: measureDebugger },
];

for (const { name, run } of steps) {
  try {
    for (const { name: what, value, unit, note } of await run()) {
      const shown = value >= 100 ? value.toFixed(0) : value.toPrecision(3);
      process.stdout.write(`${what.padEnd(46)} ${shown.padStart(8)} ${unit.padEnd(14)} ${note}\n`);
    }
  } catch (error) {
    process.stdout.write(`SKIPPED ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
