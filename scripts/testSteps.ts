import { NotFetched } from './benchmarks/copy.ts';
import { dialogueCorpus } from './benchmarks/supportDialogues.ts';
import { tau2Python } from './benchmarks/tau2Python.ts';
import { sandboxObstacle } from './bubblewrap.ts';
import { ensureBuilt } from './build.ts';
import { hostTestFiles, runHostTests, usesDesktop } from './hostTests.ts';
import { mcpPython } from './mcpPython.ts';
import { type Obstacle, reasonOf } from './obstacle.ts';
import { packageExtension } from './package.ts';
import { plantedSteps } from './plantedSteps.ts';
import { runCommand, runGate } from './process.ts';
import {
  findPython,
  isTrainerReady,
  pythonObstacle,
  runPythonTests,
  runPythonTestsAgain,
  runRayTests,
  runRayTestsAgain,
  runVllmTests,
  vllmObstacle,
} from './pythonTests.ts';
import { inRoot, root } from './repository.ts';
import { type Counts, freshReport, noTests, passedGate, readBench, sumCounts, withExitCode } from './results.ts';
import { sshObstacle } from './ssh.ts';
import type { Step } from './step.ts';
import { warn } from './terminal.ts';
import { listVitest, runVitest } from './vitest.ts';
import { findBrowser } from './vscode/browser.ts';
import { cacheFolder, type Download } from './vscode/cacheFolder.ts';
import { codeServerObstacle, installCodeServer, isCodeServerInstalled, vscodeVersion } from './vscode/codeServer.ts';

const inTests = (folder: string, ...names: readonly string[]) => names.map((name) => `test/${folder}/${name}.test.ts`);

/** Unit tests that kill or watch other processes. */
export const watchingProcesses: readonly string[] = [
  ...inTests('cli', 'agent', 'debug', 'kills', 'mcp', 'new', 'signals', 'terminal', 'training/trainerLaunch'),
  ...inTests('cli/dap', 'insideTools', 'workerDeath', 'refusals', 'standby'),
  ...inTests('engine/shell', 'agentSeat', 'faults', 'httpMcp', 'mcp/sdkServers', 'records/runLock'),
  ...inTests('engine/shell/processes', 'workerGuard', 'processGroup', 'sandbox'),
  ...inTests('engine/shell/workers', 'workerChild', 'workerDeath', 'workerProcess', 'watchdog'),
  ...inTests('scripts', 'busyProcesses', 'process', 'stepProcess', 'strict'),
  ...inTests('security', 'attacks'),
  ...inTests('training', 'trainerProcess'),
];
const inPython = (folder: string, ...names: readonly string[]) =>
  names.map((name) => `trainer/${folder}/test_${name}.py`);
/** Tests of the trainer that kill or watch other processes. */
export const watchingPython: readonly string[] = [
  ...inPython(
    'tests',
    'command_line',
    'kills',
    'own_agent',
    'processes',
    'remote_agent',
    'run_folder',
    'setup_environment',
  ),
  ...inPython('tests', 'verl_run', 'vllm'),
  ...inPython('tests_verl', 'agent_loops', 'job'),
];
const watchesInPython = (folder: string) => (file: string) => watchingPython.includes(`trainer/${folder}/${file}`);
const endToEndConfig = 'test/e2e/vitest.config.ts';
const releaseConfig = 'test/release/vitest.config.ts';
const targetsConfig = 'test/targets/vitest.config.ts';

const bin = {
  biome: 'node_modules/@biomejs/biome/bin/biome',
  tsc: 'node_modules/typescript/bin/tsc',
  knip: 'node_modules/knip/bin/knip.js',
};

/** All steps, in the order in which they start. */
export const steps: readonly Step[] = [
  {
    name: 'build',
    title: 'bundles and types',
    limitMinutes: 5,
    run: () => ensureBuilt().then(() => passedGate),
  },
  {
    name: 'unit',
    title: 'vitest',
    limitMinutes: 30,
    fullLimitMinutes: 120,
    isBackground: true,
    downloads: (filters) => [
      ...(needsTypescriptServer(filters) ? codeServerDownloads() : []),
      ...dialogueCorpus.downloads(),
      ...(process.env.REHEARSAL_SUITE === 'full' ? mcpPython.downloads() : []),
    ],
    run: runUnitTests,
    secondRun: { isFor: (file) => watchingProcesses.includes(file), run: (file) => runVitest('unit-again', [file]) },
  },
  {
    name: 'lint',
    title: 'Biome: format, rules, import arrows',
    limitMinutes: 5,
    run: () => gate(bin.biome, 'check', '--error-on-warnings'),
  },
  { name: 'types', title: 'TypeScript, and the core without any platform', limitMinutes: 8, run: checkTypes },
  {
    name: 'unused',
    title: 'Knip: unused files, exports and dependencies',
    limitMinutes: 5,
    run: () => gate(bin.knip),
  },
  {
    name: 'python',
    title: 'ruff, basedpyright over the trainer and the bridge, and the tests of the trainer',
    limitMinutes: 30,
    fullLimitMinutes: 60,
    downloads: trainerDownloads,
    obstacle: pythonObstacle,
    run: (filters) => ensureBuilt().then(() => runPythonTests(filters)),
    secondRun: { isFor: watchesInPython('tests'), run: runPythonTestsAgain },
  },
  {
    name: 'package',
    title: 'the .vsix and its size',
    limitMinutes: 5,
    run: () => packageExtension().then(() => passedGate),
  },
  {
    name: 'host',
    title: 'mocha in the extension host of a real VS Code',
    limitMinutes: 20,
    fullLimitMinutes: 30,
    isBackground: true,
    downloads: vscodeDownloads,
    obstacle: () => (usesDesktop() ? undefined : codeServerObstacle()),
    run: runInHost,
    secondRun: { isFor: () => true, run: (file) => runHostTests([file]) },
  },
  {
    name: 'e2e',
    title: 'end-to-end tests: a real VS Code in a browser',
    limitMinutes: 20,
    fullLimitMinutes: 35,
    downloads: browserDownloads,
    obstacle: codeServerObstacle,
    // Filters choose among all tests, also outside of the full suite.
    environment: (filters) => (filters.length > 0 ? { REHEARSAL_SUITE: 'full' } : {}),
    run: (filters) => runVitest('e2e', filters, endToEndConfig),
    secondRun: { isFor: () => true, run: (file) => runVitest('e2e-again', [file], endToEndConfig) },
  },
  {
    name: 'release',
    title: 'the packed extension, command line, trainer and action, each from an empty folder',
    limitMinutes: 5,
    isFull: true,
    downloads: () => [...browserDownloads(), ...trainerDownloads()],
    obstacle: () => pythonObstacle() ?? codeServerObstacle(),
    run: (filters) => runVitest('release', filters, releaseConfig),
    secondRun: { isFor: () => true, run: (file) => runVitest('release-again', [file], releaseConfig) },
  },
  {
    name: 'targets',
    title: 'training on targets: an OpenSSH server on loopback, and experiments on this machine',
    limitMinutes: 30,
    isFull: true,
    downloads: trainerDownloads,
    obstacle: () => pythonObstacle() ?? sshObstacle(),
    run: (filters) => runVitest('targets', filters, targetsConfig),
    secondRun: { isFor: () => true, run: (file) => runVitest('targets-again', [file], targetsConfig) },
  },
  {
    name: 'ray',
    title: "verl's rollout workers and a job on a Ray cluster of this machine",
    limitMinutes: 30,
    isFull: true,
    downloads: verlDownloads,
    obstacle: () => pythonObstacle() ?? procObstacle(),
    run: (filters) => ensureBuilt().then(() => runRayTests(filters)),
    secondRun: { isFor: watchesInPython('tests_verl'), run: runRayTestsAgain },
  },
  {
    name: 'benchmarks',
    title: 'rewards against the official evaluators of public benchmarks',
    limitMinutes: 45,
    isFull: true,
    downloads: async (filters) => (await loadBenchmarks()).benchmarkDownloads(filters),
    obstacle: pythonObstacle,
    run: async (filters) => (await loadBenchmarks()).runBenchmarks(filters),
  },
  {
    name: 'bench',
    title: 'every part of the bench once',
    limitMinutes: 25,
    isFull: true,
    downloads: () => [...tau2Python.downloads()],
    obstacle: procObstacle,
    run: runBench,
  },
  {
    name: 'recipe',
    title: 'the training recipe in VS Code with a real model',
    limitMinutes: 45,
    isFull: true,
    downloads: () => [...browserDownloads(), ...trainerDownloads()],
    obstacle: () => pythonObstacle() ?? codeServerObstacle(),
    environment: () => ({ REHEARSAL_SUITE: 'full', REHEARSAL_RECIPE_MODEL: 'smollm2' }),
    run: () => runVitest('recipe', ['recipe'], endToEndConfig),
    secondRun: { isFor: () => true, run: (file) => runVitest('recipe-again', [file], endToEndConfig) },
  },
  {
    name: 'vllm',
    title: 'GRPO on what vLLM itself samples, on the CPU',
    limitMinutes: 40,
    isFull: true,
    downloads: () => [...trainerDownloads(), ...vllmDownloads()],
    obstacle: vllmObstacle,
    run: runVllmTests,
    secondRun: { isFor: watchesInPython('tests'), run: () => runVllmTests([]) },
  },
  ...plantedSteps,
];

// Loading it loads the engine, which the other steps do without.
const loadBenchmarks = () => import('./benchmarks/benchmarks.ts');

/** Runs a tool of node_modules that only passes or fails. */
function gate(script: string, ...args: string[]): Promise<Counts> {
  const what = [script.replace(/^node_modules\/|\/bin\/.*/g, ''), ...args].join(' ');
  return runGate(what, process.execPath, [script, ...args]);
}

/** Returns whether a unit test is chosen that starts the TypeScript server of VS Code for the browser. */
function needsTypescriptServer(filters: readonly string[]): boolean {
  const [file = ''] = inTests('extension/typescriptPlugin', 'plugin');
  return !codeServerObstacle() && (filters.length === 0 || filters.some((part) => file.includes(part)));
}

/** Runs the unit tests. Without a sandbox, only those that start no domain code. */
async function runUnitTests(filters: readonly string[]): Promise<Counts> {
  // Vitest reads the files before a test could fetch it. Without it, its tests are skipped and listed.
  if (needsTypescriptServer(filters)) await installCodeServer().catch((error: Error) => warn(error.message));
  const obstacle = sandboxObstacle();
  if (!obstacle) return runVitest('unit', filters);
  const counts = await runVitest('unit', ['--project', 'source', '--project', 'extension', ...filters]);
  const files = await listVitest('unit-not-run', ['--project', 'built', ...filters]);
  return sumCounts([counts, withoutFiles(files.length, obstacle)]);
}

/** Runs the host tests, which start domain code, so none of them without a sandbox. */
async function runInHost(filters: readonly string[]): Promise<Counts> {
  const files = hostTestFiles(filters);
  const obstacle = sandboxObstacle();
  if (obstacle) return withoutFiles(files.length, obstacle);
  if (files.length === 0) return noTests;
  await ensureBuilt();
  return runHostTests(files);
}

/** Counts test files that did not run. */
function withoutFiles(files: number, obstacle: Obstacle): Counts {
  return files === 0 ? noTests : { ...noTests, notRun: [{ files, reason: reasonOf(obstacle) }] };
}

async function checkTypes(): Promise<Counts> {
  // What it read and found is kept, so that a second run checks only what has changed.
  const kept = ['--incremental', '--tsBuildInfoFile', 'dist/test/types.tsbuildinfo'];
  const everything = await gate(bin.tsc, '--project', 'tsconfig.json', ...kept);
  return sumCounts([everything, await gate(bin.tsc, '--project', 'tsconfig.core.json')]);
}

/** Returns the obstacle of a step that reads /proc. */
function procObstacle(): Obstacle | undefined {
  return process.platform === 'linux' ? undefined : { reason: 'it reads /proc, which exists on Linux only' };
}

/** Runs every part of the bench once and counts the parts. A number that is worse than promised is not a failure. */
async function runBench(): Promise<Counts> {
  // Without tau2, the parts that need it are skipped and say how to install it.
  await tau2Python.setUp().catch((error: Error) => {
    if (!(error instanceof NotFetched)) throw error;
    warn(error.message);
  });
  const report = freshReport('bench.json');
  const args = ['bench/main.ts', '--once', '--out', report];
  const { code } = await runCommand(process.execPath, args, { cwd: root, echo: true });
  return withExitCode(readBench(report), code);
}

function vscodeDownloads(): Download[] {
  if (usesDesktop()) return [{ what: 'VS Code (kept in .vscode-test)', bytes: 180e6, into: inRoot('.vscode-test') }];
  return browserDownloads();
}

function browserDownloads(): Download[] {
  if (codeServerObstacle()) return [];
  const browser = { what: 'Chromium', bytes: 70e6, into: cacheFolder() };
  return [...codeServerDownloads(), ...(findBrowser() ? [] : [browser])];
}

function codeServerDownloads(): Download[] {
  if (isCodeServerInstalled()) return [];
  return [{ what: `VS Code ${vscodeVersion} for the browser`, bytes: 160e6, into: cacheFolder() }];
}

function verlDownloads(): Download[] {
  if (!findPython() || isTrainerReady('verl')) return [];
  return [
    { what: 'Python environment of verl (torch for the CPU, verl, Ray, Node)', bytes: 850e6, into: cacheFolder() },
  ];
}

function vllmDownloads(): Download[] {
  if (!findPython() || isTrainerReady('vllm')) return [];
  return [{ what: 'Python environment of vLLM (torch and vLLM for the CPU)', bytes: 600e6, into: cacheFolder() }];
}

function trainerDownloads(): Download[] {
  if (!findPython() || isTrainerReady()) return [];
  const what = 'Python environment of the trainer (torch for the CPU, trl, a small model)';
  return [{ what, bytes: 615e6, into: cacheFolder() }];
}
