import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import type { Obstacle } from './obstacle.ts';
import { findOnPath, runCommand } from './process.ts';
import { contentStamp, inRoot, isStamped, root, writeStamp } from './repository.ts';
import { type Counts, gateCounts, readJunit, sumCounts, withExitCode } from './results.ts';
import { announce, Failure } from './terminal.ts';

/** The folder of the Python package. */
const trainer = inRoot('trainer');

type Profile = 'dev' | 'verl' | 'vllm';

const setUpCommand = (profile: Profile) => ['setup_environment.py', '--profile', profile];

/** Returns the Python that creates the trainer's environment: REHEARSAL_PYTHON, or one on PATH. */
export function findPython(): string | undefined {
  return process.env.REHEARSAL_PYTHON ?? findOnPath('python3', 'python');
}

/** Returns whether an environment of the trainer is installed, with what its tests need. */
export function isTrainerReady(profile: Profile = 'dev'): boolean {
  const check = spawnSync(findPython() ?? 'python3', [...setUpCommand(profile), '--check'], { cwd: trainer });
  return check.status === 0;
}

/** Returns why the trainer's tests cannot run on this machine, if they cannot. */
export function pythonObstacle(): Obstacle | undefined {
  if (findPython()) return undefined;
  return { reason: 'no python3 is on PATH', install: 'install Python 3.11 or newer, or set REHEARSAL_PYTHON' };
}

/** Creates or updates an environment of the trainer. Returns the path of its Python, which the setup prints last. */
export async function setUpTrainer(profile: Profile = 'dev'): Promise<string> {
  announce('Setting up the Python environment of the trainer (quick if nothing changed)');
  const { code, output } = await runCommand(findPython() ?? 'python3', setUpCommand(profile), {
    cwd: trainer,
    echo: true,
  });
  const last = output
    .trim()
    .split('\n')
    .findLast((line) => line.startsWith('{'));
  if (code !== 0 || !last) throw new Failure('The Python environment of the trainer could not be set up.');
  return (JSON.parse(last) as { python: string }).python;
}

/** Runs ruff and basedpyright over all Python of the repository, and the trainer's tests. */
export async function runPythonTests(filters: readonly string[]): Promise<Counts> {
  const python = await setUpTrainer();
  const counts = [
    await gate(python, root, 'ruff', 'check', '.'),
    await gate(python, root, 'ruff', 'format', '--check', '.'),
    await checkTypes(python),
    await pytest(python, filters, 'tests'),
  ];
  return sumCounts(counts);
}

/** Runs test files of the trainer again. */
export async function runPythonTestsAgain(files: readonly string[]): Promise<Counts> {
  return pytest(await setUpTrainer(), [], ...files.map((file) => `tests/${file}`));
}

/** Runs a Python module that only passes or fails. Prints its output if it fails. */
async function gate(python: string, cwd: string, ...command: readonly string[]): Promise<Counts> {
  const { code, output } = await runCommand(python, ['-m', ...command], { cwd });
  console.log(code === 0 ? `${relative(root, cwd) || '.'}: ${command.join(' ')}: ok` : output.trim());
  return gateCounts(code === 0);
}

/**
 * Runs basedpyright, which takes most of a minute because it reads all of torch and transformers. It is skipped if
 * nothing that it reads has changed since it last passed.
 */
async function checkTypes(python: string): Promise<Counts> {
  const stampFile = 'dist/test/python-types.stamp';
  // The path of the Python names the versions of its packages, except those of requirements/dev.txt in trainer/.
  const stamp = contentStamp(['trainer', 'src/engine/bridge', 'pyproject.toml'], python);
  if (isStamped(stampFile, stamp)) {
    console.log('basedpyright: ok (nothing has changed since it passed)');
    return sumCounts([gateCounts(true), gateCounts(true)]);
  }
  // It finds the nearest pyproject.toml: the trainer's, or that of the root, for the Python outside of trainer/.
  const types = ['basedpyright', '--level', 'error', '--pythonpath', python];
  const counts = sumCounts([await gate(python, trainer, ...types), await gate(python, root, ...types)]);
  if (counts.failed === 0) writeStamp(stampFile, stamp);
  return counts;
}

/**
 * Runs the tests of a Ray cluster, and basedpyright over the code that needs verl, in verl's own environment. The
 * cluster runs on the loopback interface. No GPU is needed.
 */
export async function runRayTests(filters: readonly string[]): Promise<Counts> {
  const python = await setUpTrainer('verl');
  const types = ['-m', 'basedpyright', '--level', 'error', '--pythonpath', python, '--project', 'pyright.verl.json'];
  const { code, output } = await runCommand(python, types, { cwd: trainer });
  if (code !== 0) console.log(output.trim());
  return sumCounts([gateCounts(code === 0), await pytest(python, filters, 'tests_verl')]);
}

/** Returns why vLLM cannot run on this machine, if it cannot. */
export function vllmObstacle(): Obstacle | undefined {
  const isBuilt = process.platform === 'linux' && process.arch === 'x64';
  return pythonObstacle() ?? (isBuilt ? undefined : { reason: 'vLLM for the CPU is built for Linux on x64 only' });
}

/** Runs the tests of vLLM as the sampler, including those that run vLLM in its own environment. */
export async function runVllmTests(filters: readonly string[]): Promise<Counts> {
  process.env.REHEARSAL_VLLM_PYTHON = await setUpTrainer('vllm');
  return pytest(await setUpTrainer(), filters, 'tests/test_vllm.py');
}

async function pytest(python: string, filters: readonly string[], ...where: readonly string[]): Promise<Counts> {
  const report = inRoot('dist', 'test', `python-${where.map((path) => basename(path, '.py')).join('-')}.xml`);
  mkdirSync(inRoot('dist', 'test'), { recursive: true });
  rmSync(report, { force: true });
  const folder = mkdtempSync(join(tmpdir(), 'pytest-'));
  const select = filters.length > 0 ? ['-k', filters.join(' or ')] : [];
  const seed = process.env.REHEARSAL_SEED === undefined ? [] : [`--hypothesis-seed=${process.env.REHEARSAL_SEED}`];
  // A test that hangs fails with the stacks of its threads. Each wait of the tests ends before that.
  const limit = process.env.REHEARSAL_SUITE === 'full' ? 2400 : 900;
  const args = [
    '-m',
    'pytest',
    ...where,
    `--junitxml=${report}`,
    `--basetemp=${folder}`,
    `--timeout=${limit}`,
    ...seed,
    ...select,
  ];
  const { code } = await runCommand(python, args, { cwd: trainer, echo: true, env: { ...process.env, ...memory } });
  rmSync(folder, { recursive: true, force: true });
  return withExitCode(readJunit(report), code);
}

/** Lets glibc keep freed memory. Otherwise it maps and zeroes each large tensor again, a third of the CPU time. */
const memory = { MALLOC_MMAP_THRESHOLD_: `${2 ** 30}`, MALLOC_TRIM_THRESHOLD_: `${2 ** 30}` };
