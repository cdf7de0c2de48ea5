#!/usr/bin/env node
/**
 * The first line of every development command: `node scripts/bootstrap.mjs start --no-open` makes sure that the
 * dependencies and the pinned Node are there, then runs `scripts/start.ts` with them.
 *
 * It works in an empty clone on Node 20, so it uses nothing but the standard library and no TypeScript. Everything
 * after it needs Node 22.15 and gets the Node 24 that it installs, whatever the machine has.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinnedNode = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** Reads a JSON file of the repository. Returns undefined if it does not exist or is incomplete. */
function readJson(...parts) {
  try {
    return JSON.parse(readFileSync(join(root, ...parts), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Written after an installation: what package.json and package-lock.json held then. */
const stampFile = join(root, 'node_modules', '.rehearsal-stamp');

function manifestStamp() {
  const hash = createHash('sha256');
  for (const name of ['package.json', 'package-lock.json']) {
    const file = join(root, name);
    if (existsSync(file)) hash.update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** Returns why node_modules does not match package.json and package-lock.json, or undefined if it does. */
function staleReason() {
  const wanted = readJson('package-lock.json');
  const installed = readJson('node_modules', '.package-lock.json');
  if (!installed) return 'node_modules is missing';
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === manifestStamp()) return undefined;
  if (!wanted) return 'package-lock.json is missing';
  const manifest = readJson('package.json');
  const direct = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, range] of Object.entries(direct)) {
    const version = installed.packages[`node_modules/${name}`]?.version;
    if (version !== range) return `${name} ${range} is wanted, ${version ?? 'nothing'} is installed`;
  }
  for (const [path, entry] of Object.entries(wanted.packages)) {
    if (path === '' || entry.optional || entry.devOptional || entry.peer) continue;
    if (installed.packages[path]?.version !== entry.version) return `${path} is not at ${entry.version}`;
  }
  return undefined;
}

/** Runs npm in the repository and returns its exit status. */
function npm(...args) {
  const cli = process.env.npm_execpath;
  const useCli = cli?.endsWith('npm-cli.js');
  const command = useCli ? process.execPath : 'npm';
  const result = spawnSync(command, useCli ? [cli, ...args] : args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: !useCli && process.platform === 'win32',
  });
  return result.status ?? 1;
}

/** Returns the version that a command prints, or undefined if it does not run. */
function versionOf(command, ...args) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/**
 * Installs the dependencies. `npm install --no-save` and not `npm ci`: a lock file written on one system may lack
 * the optional packages of another, which `npm ci` refuses.
 */
function install(reason) {
  console.log(`Installing dependencies with npm (${reason}; about 200 MB to download, 600 MB on disk) ...`);
  const started = Date.now();
  const flags = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  if (npm('install', '--no-save', ...flags) !== 0) {
    throw new Error('npm install failed. Check the network or the registry in .npmrc, then run the command again.');
  }
  console.log(`Dependencies are installed (${((Date.now() - started) / 1000).toFixed(0)} s).`);
}

/** Returns the Node that runs the command: the pinned one, whatever the machine has. */
function findNode() {
  if (!versionOf(pinnedNode, '--version')) {
    // npm may hold back install scripts; the one of the `node` package fetches the binary of this platform.
    const folder = join(root, 'node_modules', 'node');
    console.log('Fetching Node 24 for this platform (about 45 MB) ...');
    spawnSync(process.execPath, ['installArchSpecificPackage.js'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  if (versionOf(pinnedNode, '--version')) return pinnedNode;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  throw new Error('Node 24 could not be installed from npm. Install Node 24 (https://nodejs.org) and run again.');
}

/** Installs again without the lock file if the native packages of this platform are missing. */
function ensureNativePackages(node) {
  const esbuild = join(root, 'node_modules', 'esbuild', 'bin', 'esbuild');
  const probe = `require('esbuild').transformSync('0')`;
  if (existsSync(esbuild) && spawnSync(node, ['-e', probe], { cwd: root }).status === 0) return;
  console.log('The native packages of this platform are missing from the lock file; installing without it ...');
  rmSync(join(root, 'node_modules'), { recursive: true, force: true });
  if (npm('install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund') !== 0) {
    throw new Error('npm install failed for this platform.');
  }
}

/** Runs `scripts/<name>.ts` with the pinned Node and ends with its exit code. */
function run(node, script, args) {
  const bin = join(root, 'node_modules', '.bin');
  const separator = process.platform === 'win32' ? ';' : ':';
  const path = [dirname(node), bin, process.env.PATH].join(separator);
  const child = spawn(node, [script, ...args], {
    cwd: process.cwd(),
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  // Ctrl+C reaches the whole process group; this process only waits until the child has cleaned up.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
}

/** Explains which Node is used if the current one is too old for the command. */
function explainNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20) {
    throw new Error(`This is Node ${process.versions.node}; starting needs Node 20 or newer (https://nodejs.org).`);
  }
  if (major > 22 || (major === 22 && minor >= 15)) return;
  console.log(`This is Node ${process.versions.node}. The command itself runs with Node 24 from node_modules.`);
}

function main() {
  const [name, ...args] = process.argv.slice(2);
  const script = join(root, 'scripts', `${name}.ts`);
  if (!name || !existsSync(script))
    throw new Error(`Usage: node scripts/bootstrap.mjs <start|test|testUnderLoad|build|package> [options]`);
  const reason = staleReason();
  explainNode();
  if (reason) install(reason);
  let node = findNode();
  if (reason) {
    ensureNativePackages(node);
    node = findNode();
    writeFileSync(stampFile, manifestStamp());
  }
  run(node, script, args);
}

try {
  main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}
