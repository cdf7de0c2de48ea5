import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

const { bin } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as { readonly bin: { rehearsal: string } };

/** Returns the program of a clone. */
function clone(isBuilt: boolean): string {
  const folder = temporaryFolder('clone');
  const program = join(folder, bin.rehearsal);
  mkdirSync(dirname(program), { recursive: true });
  cpSync(inRoot(bin.rehearsal), program);
  if (isBuilt) {
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist', 'rehearsal.mjs'), 'console.log("ran", ...process.argv.slice(2));\n');
  }
  return program;
}

it.each([
  [false, 2, '', 'rehearsal: this clone is not built yet. Run "npm run build" in it, then try again.\n'],
  [true, 0, 'ran check\n', ''],
])('npx runs the build, or says which command makes it: %s', (isBuilt, status, stdout, stderr) => {
  const ended = spawnSync(process.execPath, [clone(isBuilt), 'check'], { encoding: 'utf8' });
  expect([ended.status, ended.stdout, ended.stderr]).toEqual([status, stdout, stderr]);
});

it.runIf(process.platform !== 'win32')('an older Node starts that of the clone', () => {
  const program = clone(true);
  const own = join(dirname(dirname(program)), 'node_modules', 'node', 'bin', 'node');
  mkdirSync(dirname(own), { recursive: true });
  writeFileSync(own, '#!/bin/sh\nshift\necho own "$@"\nexit 3\n', { mode: 0o755 });
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })';
  const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, program, 'check', '--audit'];
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([ended.status, ended.stdout, ended.stderr]).toEqual([3, 'own check --audit\n', '']);
});
