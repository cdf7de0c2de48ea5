#!/usr/bin/env node
// npm links this file when it installs a clone, before there is a build. A clone brings its own Node, so an older one can
// start it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../dist/rehearsal.mjs', import.meta.url);
const name = process.platform === 'win32' ? 'node.exe' : 'node';
const ownNode = fileURLToPath(new URL(`../node_modules/node/bin/${name}`, import.meta.url));
const [major] = process.versions.node.split('.').map(Number);

if (!existsSync(program)) {
  process.stderr.write('rehearsal: this clone is not built yet. Run "npm run build" in it, then try again.\n');
  process.exitCode = 2;
} else if (major < 24 && existsSync(ownNode)) {
  const child = spawn(ownNode, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal sends Ctrl+C to both; a signal to this process alone is passed on.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === 'SIGTERM' ? 15 : 1);
  });
} else await import(program.href);
