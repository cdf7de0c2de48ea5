import { mkdirSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { benchmarkDownloads, runBenchmarks } from './benchmarks/benchmarks.ts';
import { dialogueCorpus } from './benchmarks/supportDialogues.ts';
import { ensureBuilt } from './build.ts';
import { runHostTests, usesDesktop } from './hostTests.ts';
import { packageExtension } from './package.ts';
import { runCommand } from './process.ts';
import {
  findPython,
  isTrainerReady,
  pythonObstacle,
  runPythonTests,
  runRayTests,
  runVllmTests,
  vllmObstacle,
} from './pythonTests.ts';
import { inRoot, root } from './repository.ts';
import {
  type Counts,
  countVitest,
  failedFiles,
  gateCounts,
  readVitest,
  sumCounts,
  type VitestFile,
  withExitCode,
} from './results.ts';
import { sshObstacle } from './ssh.ts';
import { announce, elapsed, warn } from './terminal.ts';
import { findBrowser } from './vscode/browser.ts';
import { cacheFolder, type Download } from './vscode/cacheFolder.ts';
import { codeServerObstacle, isCodeServerInstalled, vscodeVersion } from './vscode/codeServer.ts';

/** One step of `npm test`. */
export type Step = {
  name: string;
  title: string;
  /** Takes so long that only the full suite runs it, or a person who asks for it. */
  isFull?: boolean;
  /** What is not on this machine yet. */
  downloads?: (filters: readonly string[]) => Download[];
  /** Why the step cannot run on this machine; it is then skipped, loudly. */
  obstacle?: () => string | undefined;
  /** Runs the step. The filters are parts of test file names; gates ignore them. */
  run: (filters: readonly string[]) => Promise<Counts>;
};

const bin = {
  biome: 'node_modules/@biomejs/biome/bin/biome',
  tsc: 'node_modules/typescript/bin/tsc',
  knip: 'node_modules/knip/bin/knip.js',
  vitest: 'node_modules/vitest/vitest.mjs',
};

/** All steps, in the order in which they run: what fails fast comes first. */
export const steps: readonly Step[] = [
  { name: 'build', title: 'bundles and types', run: () => ensureBuilt().then(() => gateCounts(true)) },
  {
    name: 'lint',
    title: 'Biome: format, rules, import arrows',
    run: () => gate(bin.biome, 'check', '--error-on-warnings'),
  },
  { name: 'types', title: 'TypeScript, and the core without any platform', run: checkTypes },
  { name: 'unused', title: 'Knip: files, exports and dependencies nobody uses', run: () => gate(bin.knip) },
  {
    name: 'unit',
    title: 'vitest',
    downloads: () => [...dialogueCorpus.downloads()],
    run: (filters) => vitestTwice('unit', filters),
  },
  {
    name: 'python',
    title: 'ruff and basedpyright over all Python, and the tests of the trainer',
    downloads: trainerDownloads,
    obstacle: pythonObstacle,
    run: runPythonTests,
  },
  { name: 'package', title: 'the .vsix and its size', run: () => packageExtension().then(() => gateCounts(true)) },
  {
    name: 'host',
    title: 'mocha in the extension host of a real VS Code',
    downloads: vscodeDownloads,
    obstacle: () => (usesDesktop() ? undefined : codeServerObstacle()),
    run: () => ensureBuilt().then(() => runHostTests()),
  },
  {
    name: 'e2e',
    title: 'a person at a real VS Code in a browser',
    downloads: () => browserDownloads(),
    obstacle: codeServerObstacle,
    run: endToEnd,
  },
  {
    name: 'benchmarks',
    title: 'rewards against the official evaluators of public benchmarks',
    isFull: true,
    downloads: benchmarkDownloads,
    obstacle: pythonObstacle,
    run: runBenchmarks,
  },
  {
    name: 'targets',
    title: 'training on targets: an OpenSSH server on loopback, and experiments on this machine',
    isFull: true,
    downloads: trainerDownloads,
    obstacle: () => pythonObstacle() ?? sshObstacle(),
    run: (filters) =>
      vitest('targets', ['--config', 'test/targets/vitest.config.ts', ...filters]).then(({ counts }) => counts),
  },
  {
    name: 'ray',
    title: "verl's rollout workers and a job on a Ray cluster of this machine",
    isFull: true,
    downloads: verlDownloads,
    obstacle: () => pythonObstacle() ?? (process.platform === 'linux' ? undefined : 'its engines are counted in /proc'),
    run: (filters) => ensureBuilt().then(() => runRayTests(filters)),
  },
  {
    name: 'vllm',
    title: 'GRPO on what vLLM itself samples, on the CPU',
    isFull: true,
    downloads: () => [...trainerDownloads(), ...vllmDownloads()],
    obstacle: vllmObstacle,
    run: runVllmTests,
  },
  {
    name: 'bench',
    title: 'every number that the README quotes',
    isFull: true,
    obstacle: () => (process.platform === 'linux' ? undefined : 'CPU time and memory come from /proc'),
    run: async () => {
      const { code } = await runCommand(process.execPath, ['bench/main.ts'], { cwd: root, echo: true });
      return gateCounts(code === 0);
    },
  },
];

/** Runs a tool that only passes or fails; its output shows when it fails. */
async function gate(script: string, ...args: string[]): Promise<Counts> {
  const started = performance.now();
  const { code, output } = await runCommand(process.execPath, [script, ...args], { cwd: root });
  if (code !== 0) console.log(output.trim());
  else console.log(`${script.replace(/^node_modules\/|\/bin\/.*/g, '')} ${args.join(' ')} (${elapsed(started)})`);
  return gateCounts(code === 0);
}

async function checkTypes(): Promise<Counts> {
  const everything = await gate(bin.tsc, '--project', 'tsconfig.json');
  return sumCounts([everything, await gate(bin.tsc, '--project', 'tsconfig.core.json')]);
}

/** Runs vitest with its output shown, and counts from its JSON report. */
async function vitest(name: string, args: readonly string[]): Promise<{ counts: Counts; files: VitestFile[] }> {
  const report = inRoot('dist', 'test', `${name}.json`);
  mkdirSync(inRoot('dist', 'test'), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code } = await runCommand(process.execPath, [bin.vitest, 'run', ...reporters, ...args], {
    cwd: root,
    echo: true,
  });
  const files = readVitest(report);
  return { counts: withExitCode(files && countVitest(files), code), files: files ?? [] };
}

/**
 * Many tests watch other processes, or a real VS Code, which draws when it likes, and several files share the machine.
 * A file that failed is run once more, alone: what passes then is told of as unsteady, what fails again has failed.
 */
async function vitestTwice(name: string, filters: readonly string[], config: readonly string[] = []): Promise<Counts> {
  const first = await vitest(name, [...config, ...filters]);
  const failed = failedFiles(first.files);
  if (failed.length === 0) return first.counts;
  warn(`Failed, and run once more alone: ${failed.map((file) => basename(file)).join(', ')}`);
  const second = await vitest(`${name}-again`, [...config, '--maxWorkers=1', ...failed]);
  // A second attempt that did not come to report anything leaves the first one's failures as they are.
  return second.files.length === 0 ? first.counts : countVitest(first.files, second.files);
}

async function endToEnd(filters: readonly string[]): Promise<Counts> {
  process.env.REHEARSAL_VSIX = await packageExtension();
  if (filters.length > 0) process.env.REHEARSAL_SUITE = 'full';
  if (process.env.REHEARSAL_SUITE !== 'full') announce('The long stories are played by npm run test:full.');
  return vitestTwice('e2e', filters, ['--config', 'test/e2e/vitest.config.ts']);
}

function vscodeDownloads(): Download[] {
  if (usesDesktop()) return [{ what: 'VS Code (kept in .vscode-test)', bytes: 180e6, into: inRoot('.vscode-test') }];
  return browserDownloads();
}

function browserDownloads(): Download[] {
  if (codeServerObstacle()) return [];
  const server = { what: `VS Code ${vscodeVersion} for the browser`, bytes: 160e6, into: cacheFolder() };
  const browser = { what: 'Chromium', bytes: 70e6, into: cacheFolder() };
  return [...(isCodeServerInstalled() ? [] : [server]), ...(findBrowser() ? [] : [browser])];
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
  return [{ what, bytes: 570e6, into: cacheFolder() }];
}
