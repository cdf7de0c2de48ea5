import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

const { bin } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as { readonly bin: { rehearsal: string } };

it.each([
  [false, 2, '', 'rehearsal: this clone is not built yet. Run "npm run build" in it, then try again.\n'],
  [true, 0, 'ran check\n', ''],
])('npx runs the build, or says which command makes it: %s', (isBuilt, status, stdout, stderr) => {
  const clone = temporaryFolder('clone');
  const program = join(clone, bin.rehearsal);
  mkdirSync(dirname(program), { recursive: true });
  cpSync(inRoot(bin.rehearsal), program);
  if (isBuilt) {
    mkdirSync(join(clone, 'dist'));
    writeFileSync(join(clone, 'dist', 'rehearsal.mjs'), 'console.log("ran", ...process.argv.slice(2));\n');
  }
  const ended = spawnSync(process.execPath, [program, 'check'], { encoding: 'utf8' });
  expect([ended.status, ended.stdout, ended.stderr]).toEqual([status, stdout, stderr]);
});
