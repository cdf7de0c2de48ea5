import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { findOnPath, runCommand } from './process.ts';
import { inRoot, root } from './repository.ts';
import { type Counts, gateCounts, readJunit, sumCounts, withExitCode } from './results.ts';
import { announce, Failure } from './terminal.ts';

/** The folder of the Python package. */
const trainer = inRoot('trainer');

type Profile = 'dev' | 'verl' | 'vllm';

const setUpCommand = (profile: Profile) => ['setup_environment.py', '--profile', profile];

/** The Python that makes the trainer's environment: REHEARSAL_PYTHON, or one on PATH. */
export function findPython(): string | undefined {
  return process.env.REHEARSAL_PYTHON ?? findOnPath('python3', 'python');
}

/** Whether the trainer's environment, with what its tests need, was made before. */
export function isTrainerReady(profile: Profile = 'dev'): boolean {
  const check = spawnSync(findPython() ?? 'python3', [...setUpCommand(profile), '--check'], { cwd: trainer });
  return check.status === 0;
}

/** Why the trainer's tests cannot run here. */
export function pythonObstacle(): string | undefined {
  return findPython() ? undefined : 'no python3 is on PATH. Install Python 3.11 or newer, or set REHEARSAL_PYTHON';
}

/** Makes or refreshes the trainer's environment and returns the path of its Python, which the set-up prints last. */
async function setUp(profile: Profile = 'dev'): Promise<string> {
  announce('Setting up the Python environment of the trainer (quick where nothing changed)');
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

/** Runs ruff and basedpyright over the Python of the whole repository, and the trainer's tests, all in its environment. */
export async function runPythonTests(filters: readonly string[]): Promise<Counts> {
  const python = await setUp();
  // Both find the nearest pyproject.toml: the trainer's, or that of the root, which takes the trainer's rules over.
  const types = ['basedpyright', '--level', 'error', '--pythonpath', python];
  const gates: readonly (readonly [where: string, ...command: string[]])[] = [
    [root, 'ruff', 'check', '.'],
    [root, 'ruff', 'format', '--check', '.'],
    [trainer, ...types],
    [root, ...types],
  ];
  const counts: Counts[] = [];
  for (const [cwd, ...command] of gates) {
    const { code, output } = await runCommand(python, ['-m', ...command], { cwd });
    console.log(code === 0 ? `${relative(root, cwd) || '.'}: ${command.join(' ')}: ok` : output.trim());
    counts.push(gateCounts(code === 0));
  }
  if (filters.length > 0) return sumCounts([...counts, await pytest(python, filters)]);
  const [killing, others] = await Promise.all([
    pytest(python, [], kills, { isEchoed: false }),
    pytest(python, [], 'tests', { leftOut: kills }),
  ]);
  return sumCounts([...counts, killing, others]);
}

/** They mostly wait for processes to start and to end, so they run beside the others. */
const kills = 'tests/test_kills.py';

/**
 * Runs the tests of a Ray cluster in the environment that verl has of its own, and basedpyright over what needs it.
 * A cluster is started on loopback; nothing needs a GPU.
 */
export async function runRayTests(filters: readonly string[]): Promise<Counts> {
  const python = await setUp('verl');
  const types = ['-m', 'basedpyright', '--level', 'error', '--pythonpath', python, '--project', 'pyright.verl.json'];
  const { code, output } = await runCommand(python, types, { cwd: trainer });
  if (code !== 0) console.log(output.trim());
  return sumCounts([gateCounts(code === 0), await pytest(python, filters, 'tests_verl')]);
}

/** Why vLLM cannot run here: its build for CPUs is for one platform. */
export function vllmObstacle(): string | undefined {
  const isBuilt = process.platform === 'linux' && process.arch === 'x64';
  return pythonObstacle() ?? (isBuilt ? undefined : 'vLLM for the CPU is for Linux on x64');
}

/** Runs the tests of vLLM as the sampler, those with vLLM itself included, which has an environment of its own. */
export async function runVllmTests(filters: readonly string[]): Promise<Counts> {
  process.env.REHEARSAL_VLLM_PYTHON = await setUp('vllm');
  return pytest(await setUp(), filters, 'tests/test_vllm.py');
}

async function pytest(
  python: string,
  filters: readonly string[],
  where = 'tests',
  { leftOut, isEchoed = true }: { leftOut?: string; isEchoed?: boolean } = {},
): Promise<Counts> {
  const report = inRoot('dist', 'test', `python-${basename(where, '.py')}.xml`);
  mkdirSync(inRoot('dist', 'test'), { recursive: true });
  rmSync(report, { force: true });
  const select = filters.length > 0 ? ['-k', filters.join(' or ')] : [];
  const less = leftOut === undefined ? [] : [`--ignore=${leftOut}`];
  const args = ['-m', 'pytest', where, `--junitxml=${report}`, ...less, ...select];
  const { code, output } = await runCommand(python, args, { cwd: trainer, echo: isEchoed });
  if (!isEchoed) console.log(output.trim());
  return withExitCode(readJunit(report), code);
}
