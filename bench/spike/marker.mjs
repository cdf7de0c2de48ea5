// Which rollout hung a worker? The worker writes 16 bytes into an inherited file before each call into domain code;
// the parent reads them after it has killed the worker. Measures the write, and shows that it names the culprit.
// Run: node bench/spike/marker.mjs      Leaves out: Windows.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
if (process.argv[2] === 'worker') {
  const buffer = Buffer.alloc(16);
  const count = 500_000;
  const cpu = process.cpuUsage();
  for (let i = 0; i < count; i++) {
    buffer.writeUInt32LE(i, 0);
    fs.writeSync(3, buffer, 0, 16, 0);
  }
  const used = process.cpuUsage(cpu);
  process.stdout.write(`pwrite of 16 bytes: ${((used.user + used.system) / count).toFixed(2)} us of CPU\n`);
  buffer.writeUInt32LE(4711, 0);
  fs.writeSync(3, buffer, 0, 16, 0);
  if (process.argv[3] === 'heap') {
    const hoard = [];
    for (;;) hoard.push(new Array(1000).fill(Math.random()));
  }
  for (;;);
}

for (const how of ['loop', 'heap']) {
  const file = path.join(os.tmpdir(), `marker-${process.pid}`);
  const marker = fs.openSync(file, 'w+');
  fs.unlinkSync(file);
  const child = spawn(
    process.execPath,
    ['--permission', `--allow-fs-read=${path.dirname(self)}`, '--max-old-space-size=64', self, 'worker', how],
    {
      stdio: ['ignore', 'inherit', 'ignore', marker],
    },
  );
  const timer = setTimeout(() => child.kill('SIGKILL'), how === 'loop' ? 4000 : 20_000);
  const [code, signal] = await new Promise((resolve) => child.on('close', (...end) => resolve(end)));
  clearTimeout(timer);
  const read = Buffer.alloc(16);
  fs.readSync(marker, read, 0, 16, 0);
  fs.closeSync(marker);
  console.log(
    `${how}: worker ended with code ${code} signal ${signal}; marker names rollout ${read.readUInt32LE(0)} (expected 4711)`,
  );
}
