import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type OfficialVerdict, verdictOf } from '../../src/benchmarks/officialVerdict.ts';
import { callArguments } from '../../src/engine/core/events/message.ts';
import { approvalHash } from '../../src/engine/shell/approvals/approvals.ts';
import { effectsIn } from '../../src/engine/shell/approvals/effects.ts';
import { findSandbox } from '../../src/engine/shell/processes/sandbox.ts';
import { finishedRollouts, type Receipt } from '../../src/engine/shell/records/ledger.ts';
import { runCommand } from '../process.ts';
import { inRoot, root } from '../repository.ts';
import { type Counts, gateCounts, sumCounts } from '../results.ts';
import { Failure } from '../terminal.ts';
import type { Copy } from './copy.ts';

/** A benchmark with an official evaluator, and the parts to compare. */
export type Comparison = {
  readonly name: string;
  /** The names of the parts, as filters use them. */
  readonly parts: readonly string[];
  /** The benchmark copies that it needs. */
  readonly copies: readonly Copy[];
  /** Compares the parts in order and yields each when it is done. `folder` starts empty and is kept after the run. */
  readonly compare: (parts: readonly ChosenPart[], folder: string) => AsyncIterable<ComparedPart>;
};

/** A part to compare, and the range of its tasks, such as `20-40`. An empty range means all tasks. */
export type ChosenPart = { readonly name: string; readonly tasks: string };

export type ComparedPart = {
  readonly name: string;
  readonly trajectories: readonly Compared[];
  /** The number of gold replays, over all tasks, that must get the reward 1. */
  readonly goldDemanded: number;
};

/** The results of the official evaluator and of this engine for a trajectory. A reward is null for an unscored trajectory. */
export type Compared = {
  readonly task: string;
  /** `gold`, or how the gold actions were mutated. */
  readonly kind: string;
  readonly official: number | null;
  readonly own: number | null;
  /** The exception of the official code. */
  readonly raised?: string | null | undefined;
  /** A difference in diagnostics, which must be equal like the reward. */
  readonly differs?: string | undefined;
};

/** The minimum number of mutations for each task. With fewer, a wrong reward could stay unnoticed. */
const mutationsDemanded = 5;

/** Prints the comparison of each part and returns the counts. A trajectory without any reward counts as raised. */
export async function printComparison(
  { name, parts, copies, compare }: Comparison,
  chosen: readonly ChosenPart[],
): Promise<Counts> {
  for (const copy of copies) await copy.setUp();
  const sandbox = findSandbox();
  console.log(`${name}: tools run ${sandbox.name ? `in the sandbox (${sandbox.name})` : 'without a sandbox'}`);
  const started = performance.now();
  const folder = inRoot('dist', 'benchmarks', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const compared: ComparedPart[] = [];
  const wanted = chosen.length > 0 ? chosen : parts.map((part) => ({ name: part, tasks: '' }));
  for await (const part of compare(wanted, folder)) {
    compared.push(part);
    console.log(`${name} ${part.name}: ${tallyText(part.trajectories)}`);
    const random = part.trajectories.filter(({ kind }) => kind.startsWith('random'));
    console.log(`    of these ${random.length} by random edits: ${tallyText(random)}`);
    const different = part.trajectories.filter((each) => outcomeOf(each) === 'differ');
    for (const { task, kind, official, own, differs = '', raised = '' } of different.slice(0, 20))
      console.log(`    ${task} ${kind}: official ${official}, here ${own} ${differs} ${raised}`.trimEnd());
  }
  const all = compared.flatMap(({ trajectories }) => trajectories);
  const gold = all.filter(({ kind, own }) => kind === 'gold' && own === 1).length;
  // The expected number of gold replays with reward 1 is known only for all tasks, not for a range.
  const isWhole = wanted.every(({ tasks }) => tasks === '');
  const demanded = isWhole ? compared.reduce((sum, { goldDemanded }) => sum + goldDemanded, 0) : gold;
  console.log(`${name}: reward 1 on ${gold} gold replays, ${isWhole ? demanded : 'any number'} demanded`);
  const fewest = Math.min(...compared.flatMap(({ trajectories }) => mutationsOfTasks(trajectories)));
  console.log(`${name}: at least ${fewest} mutations of each task, ${mutationsDemanded} demanded`);
  console.log(tallyText(all));
  const { differ } = tallyOf(all);
  return sumCounts([
    {
      passed: all.length - differ,
      failed: differ,
      skipped: 0,
      tests: [{ name, file: 'benchmarks', ms: performance.now() - started }],
    },
    gateCounts(gold === demanded, `${name}: the number of gold replays with reward 1`),
    gateCounts(fewest >= mutationsDemanded, `${name}: the number of mutations of each task`),
  ]);
}

/** Returns, for each task of a part, the number of mutations of its gold actions. */
function mutationsOfTasks(trajectories: readonly Compared[]): readonly number[] {
  const byTask = Object.values(Object.groupBy(trajectories, ({ task }) => task));
  return byTask.map((of = []) => of.filter(({ kind }) => kind !== 'gold').length);
}

function tallyText(all: readonly Compared[]): string {
  const { agree, differ, raised } = tallyOf(all);
  return `${agree} agree, ${differ} differ, ${raised} raised by both`;
}

function tallyOf(all: readonly Compared[]) {
  const { agree = [], differ = [], raised = [] } = Object.groupBy(all, outcomeOf);
  return { agree: agree.length, differ: differ.length, raised: raised.length };
}

function outcomeOf({ official, own, differs }: Compared): Exclude<OfficialVerdict, 'unscored'> {
  const verdict = differs === undefined ? verdictOf(official, own) : 'differ';
  return verdict === 'unscored' ? 'differ' : verdict;
}

/** Runs a program of a comparison to its end. */
export async function must(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { cwd: root, env: { ...process.env, ...env }, echo: true };
  const { code, output } = await runCommand(program, args, options);
  if (code !== 0) throw new Failure(`${[program, ...args].slice(0, 3).join(' ')} failed: ${output.slice(-2000)}`);
  return output;
}

/** Runs a command of Rehearsal from its sources. Returns its JSON output. Exit code 1 (findings) is not an error. */
export async function rehearsal(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const program = ['src/cli/rehearsal.ts', ...args, '--json'];
  const options = { cwd: root, env: { ...process.env, ...env } };
  const { code, output } = await runCommand(process.execPath, program, options);
  if (code > 1) throw new Failure(`rehearsal ${args[0]} failed: ${output.slice(-2000)}`);
  return output.split('\n').findLast((line) => line.startsWith('{')) ?? '{}';
}

/** Scores the finished simulations of a results file again with the official rule of `rehearsal regrade --official`. */
export async function regraded(
  results: string,
  domain: string,
  run: string,
  env: NodeJS.ProcessEnv = {},
): Promise<readonly Compared[]> {
  const args = ['regrade', '--official', results, '--domain', domain, '--out', run];
  const { rollouts, refused } = JSON.parse(await rehearsal(args, env)) as {
    readonly rollouts: readonly Regraded[];
    readonly refused: readonly string[];
  };
  for (const each of refused) console.log(`    not compared: ${each}`);
  return rollouts.map((each) => {
    const { name, official, own } = each;
    const end = name.lastIndexOf(' ');
    const differs = raisedOtherwise(each);
    return { task: name.slice(0, end), kind: name.slice(end + 1), official, own, raised: each.raised, differs };
  });
}

/** A rollout of the results file. Its name has its task and the kind of its trajectory. */
type Regraded = Pick<Compared, 'official' | 'own'> & {
  readonly name: string;
  readonly reason: string;
  readonly raised: string | null;
};

/** Returns a difference if the reason here lacks the message that the official evaluator raised, ignoring its class. */
function raisedOtherwise({ raised, own, reason }: Regraded): string | undefined {
  if (raised === null || own !== null || reason.includes(raised.replace(/^\w+: /, ''))) return undefined;
  return `raised "${raised}", here "${reason}"`;
}

/** One response of a scripted agent: a message, or calls whose arguments are JSON texts. */
export type Response = string | readonly { readonly tool: string; readonly arguments: string }[];

type Task = {
  readonly id: string;
  readonly origin: { readonly id: string };
  readonly script: readonly unknown[];
  readonly user?: object;
};

/** Writes a copy of an imported domain in which a scripted agent plays each task of `make`. */
export function withTasks<Trajectory extends { readonly task: string }>(
  imported: string,
  trajectories: readonly Trajectory[],
  make: (task: Task, trajectory: Trajectory) => Task,
): string {
  const folder = `${imported}-trajectories`;
  cpSync(imported, folder, { recursive: true });
  const known = ['train', 'test'].flatMap((split) => tasksIn(join(folder, 'tasks', `${split}.task.yaml`)));
  const tasks = new Map(known.map((task) => [task.origin.id, task]));
  const made = trajectories.map((trajectory) => {
    const task = tasks.get(trajectory.task);
    if (!task) throw new Failure(`${folder} has no task ${trajectory.task}, which the official evaluator judged.`);
    return make(task, trajectory);
  });
  rmSync(join(folder, 'tasks'), { recursive: true });
  mkdirSync(join(folder, 'tasks'));
  // JSON escapes half of a surrogate pair, which a file in UTF-8 cannot hold.
  writeFileSync(join(folder, 'tasks', 'test.task.yaml'), JSON.stringify(made));
  return folder;
}

function tasksIn(file: string): readonly Task[] {
  return existsSync(file) ? parse(readFileSync(file, 'utf8')) : [];
}

/** Converts a response to the form of a task's script. */
export function scripted(response: Response) {
  if (typeof response === 'string') return response;
  return response.map(({ tool, arguments: text }) => ({ tool, ...callArguments(text) }));
}

/** Plays every task of a domain once. Returns the receipts by task. */
export async function played(domain: string, run: string): Promise<ReadonlyMap<string, Receipt>> {
  // The import approved the domain in its own folder, so the copy needs an approval.
  const effects = effectsIn(domain);
  const approved = effects ? ['--approve', approvalHash(effects)] : [];
  await rehearsal(['eval', domain, '--agent', 'scripted', '--out', run, ...approved]);
  return new Map(finishedRollouts(join(run, 'ledger.jsonl')).map((receipt) => [receipt.task.id, receipt]));
}
