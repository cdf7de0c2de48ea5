/** Runs one step of `npm test` in the process that `scripts/runSteps.ts` starts: `testStep.ts run|again NAME FILTER…` */
import { type Counts, failedWith } from './results.ts';
import { sendCounts } from './stepProcess.ts';
import { Failure, runMain, style } from './terminal.ts';
import { steps } from './testSteps.ts';

/** Runs a step. What it throws is one failure. */
async function countsOf([mode = '', name = '', ...filters]: string[]): Promise<Counts> {
  const step = steps.find((each) => each.name === name);
  const { secondRun } = step ?? {};
  const run = mode === 'again' ? secondRun && (() => secondRun.run(filters[0] ?? '')) : step?.run;
  if (!run) throw new Error(`The step ${name} cannot ${mode}.`);
  try {
    return await run(filters);
  } catch (error) {
    const { message, stack } = error as Error;
    console.error(style('red', error instanceof Failure ? message : String(stack)));
    return failedWith(message.split('\n', 1)[0] ?? '');
  }
}

await runMain(async (args) => {
  await sendCounts(countsOf(args));
  return 0;
});
