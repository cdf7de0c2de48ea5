/** Runs the test files of `test/e2e/host` inside the extension host of a real VS Code. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import { inRoot, root } from './repository.ts';
import { type Counts, freshReport, withExitCode } from './results.ts';
import { announce, Failure } from './terminal.ts';
import { vscodeVersion } from './vscode/codeServer.ts';

/**
 * Returns whether the tests run in a downloaded desktop VS Code, which needs a display on Linux, instead of VS Code for
 * the browser. REHEARSAL_VSCODE=desktop|server overrides this.
 */
export function usesDesktop(): boolean {
  const { REHEARSAL_VSCODE, DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (REHEARSAL_VSCODE) return REHEARSAL_VSCODE === 'desktop';
  return process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY);
}

const sourceFolder = inRoot('test', 'e2e', 'host');

/**
 * Returns the names of the test files.
 * @param filters parts of their paths; none means all
 */
export function hostTestFiles(filters: readonly string[] = []): readonly string[] {
  const isChosen = (name: string) => filters.some((part) => `test/e2e/host/${name}`.includes(part));
  const all = readdirSync(sourceFolder).filter((name) => name.endsWith('.test.ts'));
  return filters.length > 0 ? all.filter(isChosen) : all;
}

/** Bundles each test file into dist/test/host, without `vscode`, mocha and MCP's client. Returns the path of the entry. */
async function bundleTests(): Promise<string> {
  const outdir = inRoot('dist', 'test', 'host');
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: ['index.ts', ...hostTestFiles()].map((name) => join(sourceFolder, name)),
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    // As in the build: jsonc-parser's UMD build cannot be bundled.
    mainFields: ['module', 'main'],
    external: ['vscode', 'mocha', '@modelcontextprotocol/sdk'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return join(outdir, 'index.cjs');
}

/**
 * Runs the tests and returns their counts. Throws a `Failure` if VS Code ends before all of them have run.
 * @param files the names of the test files
 */
export async function runHostTests(files: readonly string[]): Promise<Counts> {
  const entry = await bundleTests();
  const results = freshReport('host-results.json');
  const desktop = usesDesktop();
  announce(
    desktop ? 'Tests run in a downloaded desktop VS Code' : `Tests run in VS Code ${vscodeVersion} for the browser`,
  );
  const parent = mkdtempSync(join(tmpdir(), 'rehearsal-host-tests-'));
  const ended = runTests({
    ...(desktop ? {} : { vscodeExecutablePath: inRoot('scripts', 'vscode', 'launcher.ts') }),
    extensionDevelopmentPath: [root, join(sourceFolder, 'editorModel')],
    extensionTestsPath: entry,
    extensionTestsEnv: { REHEARSAL_HOST_RESULTS: results, REHEARSAL_HOST_FILES: files.join() },
    launchArgs: [copyOfSample(parent), '--disable-extensions'],
  });
  const error = await ended.then(
    () => undefined,
    (reason: Error) => reason,
  );
  rmSync(parent, { recursive: true, force: true, maxRetries: 5 });
  const counts = readCounts(results);
  if (!counts) throw new Failure(`VS Code ended before the tests: ${error?.message ?? 'it wrote no results'}`);
  return withExitCode(counts, error ? 1 : 0);
}

/** Returns a copy of the sample domain that the tests open and change. */
function copyOfSample(parent: string): string {
  const folder = join(parent, 'order-desk');
  const isKept = (path: string) => !path.includes('.rehearsal');
  cpSync(inRoot('domains', 'order-desk'), folder, { recursive: true, filter: isKept });
  return folder;
}

function readCounts(file: string): Counts | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Counts;
  } catch {
    return undefined;
  }
}
