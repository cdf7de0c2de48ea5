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

/** The extension and the folder that VS Code opens, and the test files, unless all of them run. */
export type HostTestOptions = { extension?: string; folder?: string; sources?: string; files?: readonly string[] };

/**
 * Returns whether the tests run in a downloaded desktop VS Code, which needs a display on Linux, instead of VS Code for
 * the browser. REHEARSAL_VSCODE=desktop|server overrides this.
 */
export function usesDesktop(): boolean {
  const { REHEARSAL_VSCODE, DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (REHEARSAL_VSCODE) return REHEARSAL_VSCODE === 'desktop';
  return process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY);
}

/** Bundles each test file into dist/test/host, without `vscode`, mocha and MCP's client. Returns the path of the entry. */
async function bundleTests(sources: string): Promise<string> {
  const outdir = inRoot('dist', 'test', 'host');
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const files = readdirSync(sources).filter((name) => name === 'index.ts' || name.endsWith('.test.ts'));
  await build({
    absWorkingDir: root,
    entryPoints: files.map((name) => join(sources, name)),
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

/** Runs the tests and returns their counts. Throws a `Failure` if VS Code ends before all of them have run. */
export async function runHostTests(options: HostTestOptions = {}): Promise<Counts> {
  const entry = await bundleTests(options.sources ?? inRoot('test', 'e2e', 'host'));
  const results = freshReport('host-results.json');
  const desktop = usesDesktop();
  announce(
    desktop ? 'Tests run in a downloaded desktop VS Code' : `Tests run in VS Code ${vscodeVersion} for the browser`,
  );
  const parent = mkdtempSync(join(tmpdir(), 'rehearsal-host-tests-'));
  const folder = options.folder ?? copyOfSample(parent);
  const ended = runTests({
    ...(desktop ? {} : { vscodeExecutablePath: inRoot('scripts', 'vscode', 'launcher.ts') }),
    extensionDevelopmentPath: [options.extension ?? root, inRoot('test', 'e2e', 'host', 'editorModel')],
    extensionTestsPath: entry,
    extensionTestsEnv: { REHEARSAL_HOST_RESULTS: results, REHEARSAL_HOST_FILES: options.files?.join() },
    launchArgs: [folder, '--disable-extensions'],
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
