// Cost of a request and its answer between two processes: JSON lines against vscode-jsonrpc, in turns, 64 at once.
// CPU is the sum of both processes, from /proc.
// Run: node bench/spike/messages.mjs [rounds]      Leaves out: work on the messages.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node';

const own = fileURLToPath(import.meta.url);
const [role = '4'] = process.argv.slice(2);
const total = 20_000;
const inFlight = 64;
const event = { type: 'toolReturned', step: 7, call: 'call_3', content: 'x'.repeat(300) };

const forms = {
  lines: {
    serve: async () => {
      for await (const line of createInterface({ input: process.stdin })) {
        const { id, params } = JSON.parse(line);
        process.stdout.write(`${JSON.stringify({ id, result: params })}\n`);
      }
    },
    connect: ({ stdin, stdout }) => {
      const waiting = new Map();
      createInterface({ input: stdout }).on('line', (line) => {
        const { id, result } = JSON.parse(line);
        waiting.get(id)(result);
        waiting.delete(id);
      });
      let last = 0;
      return (params) =>
        new Promise((resolve) => {
          last += 1;
          waiting.set(last, resolve);
          stdin.write(`${JSON.stringify({ id: last, params })}\n`);
        });
    },
  },
  'vscode-jsonrpc': {
    serve: () => {
      const connection = connectionOf(process.stdin, process.stdout);
      connection.onRequest('echo', (params) => params);
      connection.listen();
    },
    connect: ({ stdin, stdout }) => {
      const connection = connectionOf(stdout, stdin);
      connection.listen();
      return (params) => connection.sendRequest('echo', params);
    },
  },
};

const connectionOf = (input, output) =>
  createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output));

if (role in forms) await forms[role].serve();
else for (let round = 0; round < Number(role); round++) for (const name of Object.keys(forms)) await measure(name);

async function measure(name) {
  const child = spawn(process.execPath, [own, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ask = forms[name].connect(child);
  await ask(event);
  const [before, started] = [process.cpuUsage(), cpuMs(child.pid)];
  let left = total;
  const inTurn = async () => {
    while (left > 0) {
      left -= 1;
      await ask(event);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, inTurn));
  const { user, system } = process.cpuUsage(before);
  const us = (user + system) / total + ((cpuMs(child.pid) - started) * 1000) / total;
  console.log(`${name.padEnd(14)} ${us.toFixed(0).padStart(4)} us of CPU for a request and its answer`);
  child.kill();
}

/** The CPU time of a process, in ms. Linux counts in hundredths of a second. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
