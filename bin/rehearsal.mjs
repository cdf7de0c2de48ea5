#!/usr/bin/env node
// npm links this file when it installs a clone, before there is a build.
import { existsSync } from 'node:fs';

const program = new URL('../dist/rehearsal.mjs', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write('rehearsal: this clone is not built yet. Run "npm run build" in it, then try again.\n');
  process.exitCode = 2;
}
