// Cost of a tool call across the process border: IPC against JSON lines on pipes, one at a time and batched,
// against the same call in the process. CPU is the sum of both processes.
// Run: node bench/spike/border.mjs      Leaves out: running the tool itself.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { answer, call } from './borderPayload.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
console.log(
  `node ${process.version}; request ${JSON.stringify(call(1)).length} B, answer ${JSON.stringify(answer(call(1))).length} B`,
);

const inProcess = measure(200_000);
let sink = 0;
for (let i = 0; i < 200_000; i++) sink += answer(call(i)).patches.length;
report('in the process, by reference', 1, inProcess());
const cloned = measure(100_000);
for (let i = 0; i < 100_000; i++)
  sink += JSON.parse(JSON.stringify(answer(JSON.parse(JSON.stringify(call(i)))))).patches.length;
report('in the process, through JSON', 1, cloned());

for (const permission of [[], ['--permission', `--allow-fs-read=${here}`]]) {
  for (const over of ['ipc', 'ipc advanced', 'lines']) {
    for (const size of [1, 16, 256]) {
      if (permission.length > 0 && size !== 16) continue;
      await across(over, size, permission, size === 1 ? 10_000 : 60_000);
    }
  }
}
if (sink === 0) throw new Error('nothing was measured');

async function across(over, size, permission, total) {
  const ipc = over.startsWith('ipc');
  const child = spawn(process.execPath, [...permission, path.join(here, 'borderWorker.mjs'), ipc ? 'ipc' : 'lines'], {
    stdio: ipc ? ['ignore', 'inherit', 'inherit', 'ipc'] : ['pipe', 'pipe', 'inherit'],
    serialization: over === 'ipc advanced' ? 'advanced' : 'json',
  });
  const waiting = [];
  if (ipc) child.on('message', (message) => waiting.shift()(message));
  else {
    let rest = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (data) => {
      const lines = (rest + data).split('\n');
      rest = lines.pop();
      for (const line of lines) waiting.shift()(JSON.parse(line));
    });
  }
  const ask = (message) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (ipc) child.send(message);
      else child.stdin.write(`${JSON.stringify(message)}\n`);
    });
  const round = (i) => ask({ batch: Array.from({ length: size }, (_, k) => call(i + k)) });
  for (let i = 0; i < 500; i++) await round(i);
  const before = (await ask({ cpu: true })).cpu;
  const stop = measure(total);
  for (let i = 0; i < total; i += size) await round(i);
  const ours = stop();
  const after = (await ask({ cpu: true })).cpu;
  const childCpu = (after.user + after.system - before.user - before.system) / total;
  report(`${over}${permission.length > 0 ? ', --permission' : ''}`, size, {
    wall: ours.wall,
    cpu: ours.cpu + childCpu,
  });
  child.kill();
  await new Promise((resolve) => child.on('close', resolve));
}

function measure(count) {
  const cpu = process.cpuUsage();
  const wall = performance.now();
  return () => {
    const used = process.cpuUsage(cpu);
    return { wall: ((performance.now() - wall) * 1000) / count, cpu: (used.user + used.system) / count };
  };
}

function report(name, size, { wall, cpu }) {
  console.log(
    `${name.padEnd(32)} ${String(size).padStart(3)} a message  wall ${wall.toFixed(1).padStart(7)} us/call  CPU ${cpu.toFixed(1).padStart(7)} us/call`,
  );
}
