import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { missing, type Obstacle } from './obstacle.ts';
import { findOnPath, runCommand, runGate } from './process.ts';
import { contentStamp, inRoot } from './repository.ts';
import { type Counts, freshReport, passedGate, readJunit, sumCounts, withExitCode } from './results.ts';
import { announce, Failure } from './terminal.ts';
import { cacheFolder } from './vscode/cacheFolder.ts';

/** The folder of the Python package. */
const trainer = inRoot('trainer');

type Profile = 'dev' | 'verl' | 'vllm';

const setUpCommand = (profile: Profile) => ['rehearsal_trainer/setup_environment.py', '--profile', profile];

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
  return missing('no python3 is on PATH. Python 3.11 or newer is needed, and REHEARSAL_PYTHON can name it', {
    'apt-get': 'python3 python3-venv',
    dnf: 'python3',
    brew: 'python',
  });
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

/** Runs ruff over all Python of the repository, basedpyright over the trainer and the bridge, and the trainer's tests. */
export async function runPythonTests(filters: readonly string[]): Promise<Counts> {
  const python = await setUpTrainer();
  const counts = [
    await runGate('ruff check', python, ['-m', 'ruff', 'check', '.']),
    await runGate('ruff format', python, ['-m', 'ruff', 'format', '--check', '.']),
    await checkTypes(python),
    await pytest(python, filters, 'tests'),
  ];
  return sumCounts(counts);
}

/** Runs a test file of the trainer again. */
export async function runPythonTestsAgain(file: string): Promise<Counts> {
  return pytest(await setUpTrainer(), [], `tests/${file}`);
}

/**
 * Runs basedpyright, which takes most of a minute because it reads all of torch and transformers. It is skipped if
 * it has passed on the same files before, in any clone of this machine.
 */
async function checkTypes(python: string): Promise<Counts> {
  // The path of the Python names the versions of its packages, except those of requirements/dev.txt in trainer/.
  const stamp = contentStamp(['trainer', 'src/engine/bridge', 'pyproject.toml'], python);
  const passed = join(cacheFolder(), 'python-types');
  if (existsSync(join(passed, stamp))) {
    console.log('basedpyright: ok (it has passed on the same files before)');
    return sumCounts([passedGate, passedGate]);
  }
  // It finds the nearest pyproject.toml: the trainer's, or that of the root, which includes the bridge only.
  const types = basedpyright(python);
  const counts = sumCounts([
    await runGate('basedpyright in trainer/', python, types, trainer),
    await runGate('basedpyright in src/engine/bridge', python, types),
  ]);
  if (counts.failed === 0) {
    mkdirSync(passed, { recursive: true });
    writeFileSync(join(passed, stamp), '');
  }
  return counts;
}

const basedpyright = (python: string) => ['-m', 'basedpyright', '--level', 'error', '--pythonpath', python];

/**
 * Runs the tests of a Ray cluster, and basedpyright over the code that needs verl, in verl's own environment. The
 * cluster runs on the loopback interface. No GPU is needed.
 */
export async function runRayTests(filters: readonly string[]): Promise<Counts> {
  const python = await setUpTrainer('verl');
  const types = [...basedpyright(python), '--project', 'pyright.verl.json'];
  const checked = await runGate('basedpyright with verl', python, types, trainer);
  return sumCounts([checked, await pytest(python, filters, 'tests_verl')]);
}

/** Runs a test file of a Ray cluster again. */
export async function runRayTestsAgain(file: string): Promise<Counts> {
  return pytest(await setUpTrainer('verl'), [], `tests_verl/${file}`);
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

/** The exit code of pytest where no test matches. */
const noTestsCollected = 5;

async function pytest(python: string, filters: readonly string[], ...where: readonly string[]): Promise<Counts> {
  const report = freshReport(`python-${where.map((path) => basename(path, '.py')).join('-')}.xml`);
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
  const isUnmatched = code === noTestsCollected && filters.length > 0;
  return withExitCode(readJunit(report), isUnmatched ? 0 : code);
}

/** Lets glibc keep freed memory. Otherwise it maps and zeroes each large tensor again, a third of the CPU time. */
const memory = { MALLOC_MMAP_THRESHOLD_: `${2 ** 30}`, MALLOC_TRIM_THRESHOLD_: `${2 ** 30}` };
