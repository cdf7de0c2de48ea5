// The child of runtime.mjs: what a worker would do, as small as it can be. Prints one JSON line of findings.
import fs from 'node:fs';
import * as nodeModule from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [domain, shipped, mode] = process.argv.slice(2);
const findings = { node: process.version, permission: process.permission !== undefined };

/** Runs one attempt and keeps its outcome: the value, or the error's code and first lines. */
async function attempt(name, body) {
  try {
    findings[name] = (await body()) ?? 'ok';
  } catch (error) {
    const text = `${error.code ?? error.name}: ${error.message}`;
    findings[name] = `refused: ${text.split('\n').slice(0, 6).join(' | ')}`;
  }
}

if (mode === 'heap') {
  const hoard = [];
  for (;;) hoard.push(new Array(1000).fill(Math.random()));
} else {
  findings.registerHooks = typeof nodeModule.registerHooks;
  findings.stripTypeScriptTypes = typeof nodeModule.stripTypeScriptTypes;
  installHooks();
  await attempt('importTypeScript', async () => {
    const tools = await import(pathToFileURL(path.join(domain, 'tools.ts')).href);
    return tools.parse({ id: '7' });
  });
  await attempt('positionOfAThrow', async () => {
    const tools = await import(pathToFileURL(path.join(domain, 'tools.ts')).href);
    try {
      tools.fail();
    } catch (error) {
      return error.stack
        .split('\n')[1]
        .trim()
        .replace(/file:.*\//, '');
    }
  });
  await attempt('importEnum', () => import(pathToFileURL(path.join(domain, 'enum.ts')).href));
  await attempt('importOutside', () => import(pathToFileURL(path.join(domain, '..', 'outside.ts')).href));
  await attempt('readInside', () => fs.readFileSync(path.join(domain, 'tools.ts'), 'utf8').length > 0 && 'ok');
  await attempt('readOutside', () => fs.readFileSync('/etc/hostname', 'utf8') && 'ALLOWED');
  await attempt('readThroughSymlink', () => fs.readFileSync(path.join(domain, 'link'), 'utf8') && 'ALLOWED');
  await attempt('writeInside', () => fs.writeFileSync(path.join(domain, 'written'), 'x') ?? 'ALLOWED');
  await attempt('spawn', async () => {
    const { spawnSync } = await import('node:child_process');
    const done = spawnSync('/bin/true');
    if (done.error) throw done.error;
    return 'ALLOWED';
  });
  await attempt('worker', async () => {
    const { Worker } = await import('node:worker_threads');
    const worker = new Worker('0', { eval: true });
    await worker.terminate();
    return 'ALLOWED';
  });
  await attempt('network', async () => {
    const { connect } = await import('node:net');
    return await new Promise((resolve, reject) => {
      const socket = connect(9, '127.0.0.1');
      socket.on('error', (error) => (error.code === 'ERR_ACCESS_DENIED' ? reject(error) : resolve('ALLOWED')));
      socket.on('connect', () => resolve('ALLOWED'));
    });
  });
  await attempt('inspector', async () => {
    const inspector = await import('node:inspector');
    return inspector.url() ? 'listening' : 'not listening';
  });
  await attempt('markerWrite', () => {
    fs.writeSync(3, Buffer.alloc(16, 1), 0, 16, 0);
    return 'ok';
  });
  process.stdout.write(`${JSON.stringify(findings)}\n`);
  process.exit(0);
}

/** Strips types in place, and sends 'zod' and 'rehearsal' to the shipped copies. */
function installHooks() {
  if (!nodeModule.registerHooks) return;
  const aliases = new Map(
    ['zod', 'rehearsal'].map((name) => [name, pathToFileURL(path.join(shipped, `${name}.mjs`)).href]),
  );
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const alias = aliases.get(specifier);
      if (alias) return { url: alias, format: 'module', shortCircuit: true };
      if (specifier.startsWith('file:')) return { url: specifier, format: 'module', shortCircuit: true };
      if (specifier.startsWith('.')) {
        return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true };
      }
      return next(specifier, context);
    },
    load(url, context, next) {
      if (!url.endsWith('.ts')) return next(url, context);
      const source = fs.readFileSync(fileURLToPath(url), 'utf8');
      const stripped = nodeModule.stripTypeScriptTypes(source, { mode: 'strip', sourceUrl: url });
      return { format: 'module', source: stripped, shortCircuit: true };
    },
  });
}
