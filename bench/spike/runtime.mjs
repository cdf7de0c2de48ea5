// Probes what a worker can rely on in a Node runtime: permissions, inspector, heap limit, type stripping, marker file.
// Run: node bench/spike/runtime.mjs [path of a node binary]...      Leaves out: Windows, Electron.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'worker-')));
const domain = path.join(root, 'domain');
const shipped = path.join(root, 'shipped');
fs.mkdirSync(domain);
fs.mkdirSync(shipped);
fs.writeFileSync(
  path.join(domain, 'tools.ts'),
  `import * as z from 'zod';
import { tool, type Order } from 'rehearsal';
import { half } from './more.ts';
interface Box<T> { value: T }
const schema = z.object({ id: z.string() });
export function parse(input: unknown): string { const order: Order = schema.parse(input); return tool(order.id) + half(4 as number); }
export function fail(): Box<number> {
  const a: Box<number> = { value: 1 } as const; throw new Error(\`at \${a satisfies Box<number>}\`);
}
`,
);
fs.writeFileSync(path.join(domain, 'more.ts'), 'export const half = (n: number): number => n / 2;\n');
fs.writeFileSync(
  path.join(domain, 'enum.ts'),
  'export const one: number = 1;\n\n  enum Status { Pending, Done }\nexport const s = Status.Done;\n',
);
fs.writeFileSync(path.join(root, 'outside.ts'), 'export const outside: number = 1;\n');
fs.symlinkSync('/etc/hostname', path.join(domain, 'link'));
fs.copyFileSync(path.join(here, 'runtimeWorker.mjs'), path.join(shipped, 'worker.mjs'));
fs.writeFileSync(path.join(shipped, 'rehearsal.mjs'), 'export const tool = (id) => `tool ${id} `;\n');
await esbuild.build({
  stdin: { contents: "export * from 'zod'", resolveDir: here },
  bundle: true,
  format: 'esm',
  minify: true,
  outfile: path.join(shipped, 'zod.mjs'),
});

const binaries = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath];
const reads = [`--allow-fs-read=${domain}`, `--allow-fs-read=${shipped}`];
const worker = path.join(shipped, 'worker.mjs');
for (const binary of binaries) {
  for (const [name, flags] of [
    ['no permission', []],
    ['--permission', ['--permission', ...reads]],
    ['--permission --inspect', ['--permission', '--inspect=127.0.0.1:0', ...reads]],
    [
      '--permission --allow-inspector --inspect',
      ['--permission', '--allow-inspector', '--inspect=127.0.0.1:0', ...reads],
    ],
    ['--inspect', ['--inspect=127.0.0.1:0']],
  ]) {
    const started = performance.now();
    const done = await start(binary, [...flags, '--max-old-space-size=128', worker, domain, shipped]);
    console.log(
      `\n== ${binary} ${name}: code ${done.code} signal ${done.signal} ${(performance.now() - started).toFixed(0)} ms`,
    );
    console.log(done.stdout ? JSON.parse(done.stdout) : 'no findings');
    const notes = done.stderr.split('\n').filter((line) => line && !line.startsWith('(Use'));
    if (notes.length > 0) console.log(`stderr: ${notes.slice(0, 5).join('\n        ')}`);
  }
  const started = performance.now();
  const dead = await start(binary, ['--max-old-space-size=128', worker, domain, shipped, 'heap']);
  const fatal = dead.stderr.split('\n').find((line) => line.includes('FATAL'));
  console.log(
    `\n== ${binary} heap exhaustion at 128 MB: code ${dead.code} signal ${dead.signal} after ${(performance.now() - started).toFixed(0)} ms; ${fatal}`,
  );
}
fs.rmSync(root, { recursive: true });

function start(binary, args) {
  const marker = fs.openSync(path.join(root, 'marker'), 'w+');
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe', marker] });
  fs.closeSync(marker);
  const out = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => {
    out.stdout += data;
  });
  child.stderr.on('data', (data) => {
    out.stderr += data;
  });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ ...out, code, signal })));
}
