// Cost of a rollout of 78 messages that a worker folds completely: 20 user messages, 39 of the agent, 19 calls
// (10 reads, 9 writes) on 2.8 MB, a state hash after each write, events in batches to the supervisor, which chains,
// appends and signs. Prints CPU ms per rollout of both processes, and of each part.
// Run: node bench/spike/rollout.mjs [rollouts]      Leaves out: seats, rule checks, argument validation, gold actions.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, hash as nativeHash, sign } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '@noble/hashes/sha2.js';
import { retailDatabase } from './retail.mjs';
import { buildTrie, find, replace } from './trie.mjs';

const self = fileURLToPath(import.meta.url);
let sha;
let canonical;
const rowHashes = new WeakMap();
if (process.argv[2] === 'worker') await worker(Number(process.argv[3]), process.argv[4], process.argv[5]);
else {
  const count = Number(process.argv[2] ?? 400);
  console.log(`node ${process.version}; ${count} rollouts`);
  for (const hashing of ['noble', 'native']) {
    for (const border of ['objects', 'lines']) await supervise(count, border, hashing);
  }
}

/** Drives the worker, records what it sends and signs one receipt a rollout. */
async function supervise(count, border, hashing) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rollouts-'));
  const { privateKey } = generateKeyPairSync('ed25519');
  const heads = new Map();
  const spent = { border: 0, chain: 0, append: 0, sign: 0 };
  const child = spawn(process.execPath, [self, 'worker', String(count), border, hashing], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
  const cpu = process.cpuUsage();
  let workerCpu = 0;
  child.on('message', (message) => {
    if (message.cpu) workerCpu = message.cpu;
    else record(message);
  });
  let rest = '';
  const waiting = [];
  child.stdio[4].setEncoding('utf8');
  child.stdio[4].on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') {
        const [first, ...texts] = waiting.splice(0);
        record({ ...JSON.parse(first), lines: texts });
      } else waiting.push(line);
    }
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`the worker ended with code ${code}`);
  const used = process.cpuUsage(cpu);
  const ours = (used.user + used.system) / 1000 / count;
  console.log(
    `${hashing} hash, events as ${border}: ${(ours + workerCpu).toFixed(2)} ms CPU a rollout = worker ${workerCpu.toFixed(2)} + supervisor ${ours.toFixed(2)} (chain ${per(spent.chain)}, append ${per(spent.append)}, sign ${per(spent.sign)}, the rest is the channel)`,
  );
  fs.rmSync(folder, { recursive: true });

  function per(ms) {
    return (ms / count).toFixed(3);
  }
  function record({ rollout, lines, events, closed }) {
    let at = performance.now();
    let head = heads.get(rollout) ?? '0';
    let text = '';
    for (const line of lines ?? events) {
      const body = typeof line === 'string' ? line : JSON.stringify(line);
      head = nativeHash('sha256', head + body, 'hex');
      text +=
        typeof line === 'string'
          ? `${body.slice(0, -1)},"chain":"${head}"}\n`
          : `${JSON.stringify({ ...line, chain: head })}\n`;
    }
    heads.set(rollout, head);
    spent.chain += performance.now() - at;
    at = performance.now();
    fs.appendFileSync(path.join(folder, `${rollout}.traj.jsonl`), text);
    spent.append += performance.now() - at;
    if (!closed) return;
    at = performance.now();
    sign(null, Buffer.from(JSON.stringify({ rollout, head, reward: 1 })), privateKey);
    spent.sign += performance.now() - at;
  }
}

/** Folds the rollouts, one after the other, and sends each one's events in two batches. */
async function worker(count, border, hashing) {
  hashWith(hashing);
  const base = retailDatabase();
  const ids = Object.keys(base.orders);
  const orders = buildTrie(base.orders);
  hashTrie(orders);
  const others = { users: hashTrie(buildTrie(base.users)), products: hashTrie(buildTrie(base.products)) };
  const marker = fs.openSync(path.join(os.tmpdir(), `marker-${process.pid}`), 'w+');
  const mark = Buffer.alloc(16);
  const spent = { write: 0, hash: 0, read: 0, text: 0, send: 0 };
  for (let r = 0; r < 40; r++) await rollout(r, () => {});
  for (const key in spent) spent[key] = 0;
  const cpu = process.cpuUsage();
  for (let r = 0; r < count; r++) await rollout(r, border === 'lines' ? sendLines : (message) => process.send(message));
  const used = process.cpuUsage(cpu);
  console.log(
    `worker: ${Object.entries(spent)
      .map(([name, ms]) => `${name} ${(ms / count).toFixed(3)}`)
      .join(', ')} ms a rollout; the rest is the fold`,
  );
  process.send({ cpu: (used.user + used.system) / 1000 / count }, () => process.exit(0));

  /** Text goes out as it is: one JSON line about the batch, the events' own lines, an empty line. */
  function sendLines({ rollout, lines, closed }) {
    fs.writeSync(4, `${JSON.stringify({ rollout, closed })}\n${lines.map((line) => `${line}\n`).join('')}\n`);
  }

  async function rollout(number, send) {
    let state = { orders, hash: '0', messages: [], next: 0 };
    let batch = [];
    const flush = (closed) => {
      const at = performance.now();
      send(border === 'lines' ? { rollout: number, lines: batch, closed } : { rollout: number, events: batch, closed });
      spent.send += performance.now() - at;
      batch = [];
    };
    for await (const step of steps()) {
      const at = performance.now();
      const line = { n: step.n, event: step.event, state: step.hash };
      batch.push(border === 'lines' ? JSON.stringify(line) : line);
      spent.text += performance.now() - at;
      if (batch.length === 64) flush(false);
    }
    flush(true);

    async function* steps() {
      for (let turn = 0; turn < 20; turn++) {
        yield step({
          type: 'userReplied',
          content: `I would like to change the items of order number ${turn}, please. `.repeat(2),
          stop: null,
        });
        if (turn < 19) {
          const id = ids[(number * 31 + turn * 7) % ids.length];
          const call = {
            id: `call_${turn}`,
            name: turn % 2 ? 'modify_order' : 'get_order',
            arguments: { order_id: id, item_ids: ['1151293680', '4983901480'] },
          };
          yield step({ type: 'agentReplied', content: null, toolCalls: [call] });
          yield step({
            type: 'rulesChecked',
            callId: call.id,
            verdicts: [
              {
                rule: 'authenticate-first',
                check: 'before',
                gate: true,
                verdict: 'held',
                reason: 'the customer was found first',
                evidence: [2],
              },
            ],
          });
          yield step({ type: 'toolCalled', call });
          yield* turn % 2 ? write(call) : read(call);
        }
        yield step({
          type: 'agentReplied',
          content: 'I have changed the order as you asked. Is there anything else that I can do for you today?',
          toolCalls: [],
        });
      }
      for (const event of [
        { type: 'rolloutEnded', reason: 'userStopped' },
        { type: 'verdictReached', verdict: { verifier: 'database', held: true, detail: 'equal', evidence: [] } },
        { type: 'rewarded', basis: 'evaluate', reward: 1, reason: 'all held' },
      ])
        yield step(event);
    }
    async function* read(call) {
      const at = performance.now();
      enter(number);
      const content = JSON.stringify(find(state.orders, call.arguments.order_id));
      spent.read += performance.now() - at;
      yield step({ type: 'toolReturned', callId: call.id, content, isError: false });
    }
    async function* write(call) {
      let at = performance.now();
      enter(number);
      const id = call.arguments.order_id;
      const row = { ...find(state.orders, id), status: 'pending (item modified)' };
      const next = replace(state.orders, id, row);
      spent.write += performance.now() - at;
      at = performance.now();
      state = { ...state, orders: next, hash: sha(`${hashTrie(next)}${others.users}${others.products}`) };
      spent.hash += performance.now() - at;
      yield step({
        type: 'databaseWritten',
        callId: call.id,
        writes: [
          {
            side: 'agent',
            patches: [{ op: 'replace', path: ['orders', id, 'status'], value: row.status, old: 'pending' }],
          },
        ],
      });
      yield step({ type: 'toolReturned', callId: call.id, content: JSON.stringify(row), isError: false });
    }
    function step(event) {
      const n = state.next;
      state = { ...state, next: n + 1, messages: [...state.messages, event] };
      return { n, event, hash: state.hash };
    }
    function enter(rollout) {
      mark.writeUInt32LE(rollout, 0);
      fs.writeSync(marker, mark, 0, 16, 0);
    }
  }
}

/** noble: plain TypeScript and the whole row's text again; native: node:crypto and remembered texts of unchanged parts. */
function hashWith(name) {
  if (name === 'noble') {
    sha = (text) => Buffer.from(sha256(new TextEncoder().encode(text))).toString('hex');
    canonical = textOf;
  } else {
    sha = (text) => nativeHash('sha256', text, 'hex');
    const known = new WeakMap();
    canonical = (value) => {
      if (typeof value !== 'object' || value === null) return JSON.stringify(value);
      let text = known.get(value);
      if (text === undefined) {
        text = textOf(value);
        known.set(value, text);
      }
      return text;
    };
  }
}
function textOf(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(',')}]`;
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join(',')}}`;
}
function hashTrie(node) {
  node.hash ??= node.children
    ? sha(node.children.map((child) => (child ? hashTrie(child) : '')).join())
    : sha(
        node.keys
          .map((key, i) => `${key}:${hashRow(node.values[i])}`)
          .sort()
          .join(),
      );
  return node.hash;
}
function hashRow(row) {
  let hash = rowHashes.get(row);
  if (hash === undefined) {
    hash = sha(canonical(row));
    rowHashes.set(row, hash);
  }
  return hash;
}
