/** Rewards of this engine against the verdicts of BFCL's own checker, on every multi-turn entry and on mutations of it. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { parsedArguments, wholeFloats } from '../src/engine/core/message.ts';
import { runCommand } from './process.ts';
import { findPython } from './pythonTests.ts';
import { inRoot, root } from './repository.ts';
import { type Counts, gateCounts, sumCounts } from './results.ts';
import { announce, Failure } from './terminal.ts';
import { cacheFolder, installOnce, isComplete } from './vscode/cacheFolder.ts';

/** The package without what only models' clients need, and the two that its checker imports. */
const requirements = ['--no-deps', 'bfcl-eval==2026.3.23', 'mpmath==1.3.0'];
export const bfclCategories: readonly string[] = ['base', 'miss_func', 'miss_param', 'long_context'];
const entriesEach = 200;

const home = () => join(cacheFolder(), 'benchmarks', 'bfcl-2026.3.23');
const own = () => join(home(), process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');

/** A Python that has bfcl_eval: the one that REHEARSAL_BENCH_BFCL names, or the one of the cache. */
function bfclPython(): string {
  return process.env['REHEARSAL_BENCH_BFCL'] ?? own();
}

export function isBfclReady(): boolean {
  return process.env['REHEARSAL_BENCH_BFCL'] !== undefined || isComplete(home());
}

async function setUp(): Promise<void> {
  if (isBfclReady()) return;
  announce(`Installing ${requirements.slice(1).join(' and ')} into ${home()} (once)`);
  await installOnce(home(), async (folder) => {
    await must(findPython() ?? 'python3', '-m', 'venv', folder);
    await must(own(), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements);
  });
}

async function must(program: string, ...args: string[]): Promise<string> {
  const { code, output } = await runCommand(program, args, { cwd: root });
  if (code !== 0) throw new Failure(`${[program, ...args].slice(0, 3).join(' ')} failed: ${output.slice(-2000)}`);
  return output;
}

/** A trajectory with the verdict of BFCL's checker; null where it raised. */
type Judged = {
  readonly task: string;
  readonly kind: string;
  readonly turns: readonly (readonly (readonly { readonly tool: string; readonly arguments: string }[])[])[];
  readonly valid: boolean | null;
  readonly reason: string;
};

/** Plays every trajectory that the oracle made as a rollout of its own, and compares. The filters are categories. */
export async function compareBfcl(filters: readonly string[]): Promise<Counts> {
  await setUp();
  const chosen = bfclCategories.filter((name) => filters.length === 0 || filters.includes(name));
  const folder = inRoot('dist', 'benchmarks', 'bfcl');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const total = { agree: 0, differ: 0, raised: 0, gold: 0, valid: 0 };
  const names = chosen.join(',');
  const args = ['--from', 'bfcl-eval', '--python', bfclPython(), '--out', join(folder, 'domains'), '--domains', names];
  await must(process.execPath, 'src/cli/rehearsal.ts', 'import', 'bfcl', ...args);
  for (const category of chosen) {
    const counts = await compareCategory(category, folder);
    for (const key of ['agree', 'differ', 'raised', 'gold', 'valid'] as const) total[key] += counts[key];
  }
  console.log(`bfcl: reward 1 on ${total.gold} of ${total.valid} gold replays that the checker calls valid`);
  console.log(`${total.agree} agree, ${total.differ} differ, ${total.raised} raised`);
  const isWhole = total.gold === total.valid && total.valid === entriesEach * chosen.length;
  return sumCounts([
    { ...gateCounts(true), passed: total.agree + total.raised, failed: total.differ },
    gateCounts(isWhole),
  ]);
}

async function compareCategory(category: string, folder: string) {
  const file = join(folder, `${category}.json`);
  await must(bfclPython(), 'test/benchmarks/bfcl_oracle.py', category, file);
  const judged = JSON.parse(readFileSync(file, 'utf8')) as readonly Judged[];
  const domain = withTrajectories(join(folder, 'domains', category), join(folder, `${category}-trajectories`), judged);
  const run = join(folder, `${category}-run`);
  await must(process.execPath, 'src/cli/rehearsal.ts', 'eval', domain, '--agent', 'scripted', '--out', run);
  const rewards = rewardsIn(join(run, 'ledger.jsonl'));
  const counts = { agree: 0, differ: 0, raised: 0, gold: 0, valid: 0 };
  const different: string[] = [];
  for (const { task, kind, valid, reason } of judged) {
    const reward = rewards.get(`${task}.${kind}`);
    if (kind === 'gold' && valid) counts.valid++;
    if (kind === 'gold' && reward === 1) counts.gold++;
    if (valid === null) counts.raised++;
    else if (reward === (valid ? 1 : 0)) counts.agree++;
    else {
      counts.differ++;
      different.push(`    ${task} ${kind}: official ${valid ? 1 : 0} ${reason}, here ${reward}`);
    }
  }
  console.log(`bfcl ${category}: ${counts.agree} agree, ${counts.differ} differ, ${counts.raised} raised`);
  for (const line of different.slice(0, 10)) console.log(line);
  return counts;
}

/** The imported domain with a task for each trajectory, whose agent makes its calls. */
function withTrajectories(imported: string, folder: string, judged: readonly Judged[]): string {
  cpSync(imported, folder, { recursive: true });
  const file = join(folder, 'tasks', 'test.task.yaml');
  const tasks = parse(readFileSync(file, 'utf8')) as readonly { readonly id: string }[];
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const made = judged.map(({ task, kind, turns }) => ({
    ...byId.get(task),
    id: `${task}.${kind}`,
    script: turns.flatMap((steps) => [...steps.map((calls) => calls.map(scripted)), 'That is done.']),
  }));
  writeFileSync(file, stringify(made, { lineWidth: 0, aliasDuplicateObjects: false }));
  return folder;
}

function scripted(call: { readonly tool: string; readonly arguments: string }) {
  const floats = wholeFloats(call.arguments);
  return { tool: call.tool, arguments: parsedArguments(call.arguments), ...(floats.length > 0 ? { floats } : {}) };
}

function rewardsIn(ledger: string): ReadonlyMap<string, number | null> {
  const lines = readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
  return new Map(
    lines.flatMap((line): [string, number | null][] => {
      const { receipt } = JSON.parse(line);
      return receipt?.task ? [[receipt.task.id ?? receipt.task, receipt.reward]] : [];
    }),
  );
}
