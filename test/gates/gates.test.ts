/**
 * A gate that finds nothing looks the same as a gate that reads nothing. Each file in `planted/` breaks rules on
 * lines that end in `// expects: <rule>`; the real configuration must find exactly those.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

const planted = join(import.meta.dirname, 'planted');
const repository = temporaryFolder('rehearsal-gates');

/** Copies the repository's configuration files into the temporary repository. */
function configure(...files: string[]): void {
  for (const file of files) cpSync(inRoot(file), join(repository, file));
}

/** Copies planted files to the place in the temporary repository that their path names. */
function plant(...files: string[]): void {
  rmSync(join(repository, 'src'), { recursive: true, force: true });
  for (const file of files) {
    mkdirSync(dirname(join(repository, file)), { recursive: true });
    cpSync(join(planted, file), join(repository, file));
  }
}

/** Runs a tool of node_modules in the temporary repository and returns what it prints. */
function run(script: string, ...args: string[]): string {
  const options = { cwd: repository, encoding: 'utf8', maxBuffer: 1e8 } as const;
  return spawnSync(process.execPath, [inRoot('node_modules', script), ...args], options).stdout;
}

/** The findings that a planted file announces, as `file:line rule`. */
function expectedIn(file: string): string[] {
  const lines = readFileSync(join(planted, file), 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    const rule = line.match(/\/\/ expects: (\S+)$/)?.[1];
    return rule ? [`${file}:${index + 1} ${rule}`] : [];
  });
}

type Diagnostic = { category: string; location: { path: string; start: { line: number } } };

/** Returns the findings of Biome in the planted files, except those about formatting. */
function biome(): string[] {
  const report = run('@biomejs/biome/bin/biome', 'check', '--reporter=json', '--max-diagnostics=none', 'src');
  const { diagnostics } = JSON.parse(report) as { diagnostics: Diagnostic[] };
  return diagnostics
    .map(({ category, location }) => `${location.path}:${location.start.line} ${category.split('/').at(-1)}`)
    .filter((finding) => !/ (?:format|organizeImports)$/.test(finding));
}

const forBiome = readdirSync(planted, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /(?:arrows|ambient|chart|controls|mcp|cycle\w+)\.ts$/.test(file))
  .sort();

test('Biome finds every planted import against the arrows, ambient value and cycle, and nothing else', () => {
  configure('biome.json', 'no-ambient.grit', 'types-of-core.grit');
  plant(...forBiome);
  const expected = forBiome.flatMap(expectedIn);
  expect(expected.length).toBeGreaterThan(30);
  expect(biome().sort()).toEqual(expected.sort());
});

test('the core does not compile with timers, console, fetch or process', () => {
  const file = 'src/engine/core/platform.ts';
  configure('tsconfig.json', 'tsconfig.core.json');
  plant(file);
  const output = run('typescript/bin/tsc', '--project', 'tsconfig.core.json', '--pretty', 'false');
  const found = [...output.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm)].map(
    ([, path, line, code]) => `${path}:${line} ${code}`,
  );
  expect(found).toEqual(expectedIn(file));
});

test('knip finds an unused file, an unused export and an unused dependency', () => {
  const manifest = { name: 'planted', type: 'module', dependencies: { 'left-alone': '1.0.0' } };
  writeFileSync(join(repository, 'package.json'), JSON.stringify(manifest));
  configure('knip.json', 'tsconfig.json');
  plant('src/cli/rehearsal.ts', 'src/cli/orphan.ts', 'src/cli/answer.ts');
  const report = run('knip/bin/knip.js', '--reporter', 'json', '--no-config-hints');
  const { issues } = JSON.parse(report) as { issues: Record<string, { name: string }[] | string>[] };
  const found = issues.flatMap((issue) =>
    ['files', 'exports', 'dependencies'].flatMap((kind) => {
      const names = issue[kind];
      return Array.isArray(names) ? names.map(({ name }) => `${kind} ${name}`) : [];
    }),
  );
  expect(found.sort()).toEqual(['dependencies left-alone', 'exports question', 'files src/cli/orphan.ts']);
});
