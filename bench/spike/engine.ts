// The promise on the real engine: rollouts of 78 messages (20 of the user's, 19 calls: 10 reads and 9 writes) with
// evaluation on 2.9 MB, in lanes, with hashes, recording and receipt. Prints CPU ms a rollout of all processes.
// Run: node bench/spike/engine.ts [rollouts] [lanes]        (Linux: it reads the lanes' CPU time from /proc)
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBatch } from '../../src/engine/shell/batch.ts';
import { signingKey } from '../../src/engine/shell/ledger.ts';
import { loadDomain } from '../../src/engine/shell/load/loadDomain.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
// @ts-expect-error a plain script without types
import { retailDatabase } from './retail.mjs';

const count = Number(process.argv[2] ?? 400);
const lanes = Number(process.argv[3] ?? 1);
const folder = mkdtempSync(join(tmpdir(), 'retail-'));
const database = retailDatabase() as { orders: Record<string, unknown> };

const tools = `import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';
type Order = { order_id: string; status: string; items: { item_id: string; price: number }[]; payment_history: object[] };
const { tool } = defineTools<{ agent: { orders: Record<string, Order> } }>();
function find(db: { orders: Record<string, Order> }, id: string): Order {
  const order = db.orders[id];
  if (!order) throw new ToolError('there is no order ' + id);
  return order;
}
export const get_order = tool({ description: 'An order.', effect: 'read', input: z.object({ order_id: z.string() }), run: ({ order_id }, { db }) => find(db, order_id) });
export const modify_order = tool({ description: 'Changes an item.', effect: 'write', input: z.object({ order_id: z.string(), item_id: z.string() }),
  run: ({ order_id, item_id }, { db }) => {
    const order = find(db, order_id);
    order.status = 'pending (item modified)';
    order.items[0]!.item_id = item_id;
    order.payment_history.push({ transaction_type: 'refund', amount: 12.5, payment_method_id: 'gift_card' });
    return order;
  } });
`;
const topics = [
  'zip',
  'city',
  'street',
  'email',
  'phone',
  'colour',
  'size',
  'brand',
  'material',
  'weight',
  'height',
  'width',
  'length',
  'price',
  'date',
  'name',
  'country',
  'voucher',
  'reason',
  'store',
];
const ids = Object.keys(database.orders);
const tasks = Array.from({ length: 40 }, (_, index) => {
  const calls = Array.from({ length: 19 }, (_, turn) => {
    const order_id = ids[(index * 31 + turn * 7) % ids.length];
    return turn % 2 === 0
      ? { tool: 'get_order', arguments: { order_id } }
      : { tool: 'modify_order', arguments: { order_id, item_id: String(1_000_000 + turn) } };
  });
  return {
    id: `task-${index}`,
    persona: 'patient',
    user: {
      goal: 'You want to change several orders.',
      known: Object.fromEntries(topics.map((name, at) => [name, `${name} ${at}`])),
    },
    actions: calls.filter(({ tool }) => tool === 'modify_order'),
    script: calls
      .flatMap((call, turn) => [[call], `I have looked at the order. What is the ${topics[turn]}?`])
      .concat(['Done, all your orders are changed.']),
  };
});
const files: Record<string, string> = {
  'domain.yaml': JSON.stringify({ name: 'retail', turnCap: 200 }),
  'policy.md': '- Look at an order before you change it.\n',
  'tools.ts': tools,
  'database.json': JSON.stringify(database),
  'personas/patient.persona.yaml': JSON.stringify({ id: 'patient', description: 'Patient.', patience: 20 }),
  'tasks/all.task.yaml': JSON.stringify(tasks),
};
for (const name of ['personas', 'tasks', 'runs']) mkdirSync(join(folder, name));
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);

const domain = loadDomain(folder);
for (const { severity, message } of domain.diagnostics) if (severity === 'error') console.log(message);
const supervisor = await openSupervisor(domain, { lanes });
const options = {
  folder: join(folder, 'runs'),
  seed: '1',
  basis: 'evaluate' as const,
  agent: { type: 'scripted' as const },
  user: { type: 'agenda' as const },
  concurrency: 64,
  key: signingKey(),
  readKey: () => undefined,
  askPerson: () => Promise.reject(new Error('nobody')),
};
const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  .trim()
  .split(' ')
  .map(Number);
await batch('warm', 5);
const before = [ownCpu(), ...children.map(cpuOf)];
const wall = performance.now();
const results = await batch('measured', Math.ceil(count / 40));
const seconds = (performance.now() - wall) / 1000;
const spent = [ownCpu(), ...children.map(cpuOf)].map((ms, index) => ms - (before[index] ?? 0));
const total = spent.reduce((sum, ms) => sum + ms, 0);
const recording = readFileSync(results[0]?.recording ?? '', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line).event as { type: string; reason?: string });
const seen = (type: string) => recording.filter((event) => event.type === type).length;
console.log(
  `${results.length} rollouts: ${seen('agentReplied')} agent, ${seen('userReplied')} user messages, ${seen('toolReturned')} calls, ${seen('databaseWritten')} writes, ${recording.length} events; reward 1 in ${results.filter(({ reward }) => reward === 1).length}`,
);
console.log(
  `${(total / results.length).toFixed(2)} CPU ms a rollout = supervisor ${((spent[0] ?? 0) / results.length).toFixed(2)} + lanes ${((total - (spent[0] ?? 0)) / results.length).toFixed(2)}; ${(results.length / seconds).toFixed(0)} a second`,
);
console.log(
  `memory: supervisor ${pss(process.pid)} MB, lanes ${children.map((pid) => `${pss(pid)} MB`).join(', ')} (PSS)`,
);
await supervisor.close();
rmSync(folder, { recursive: true });

function batch(name: string, trials: number) {
  return runBatch(supervisor, { ...options, folder: join(folder, 'runs', name), tasks: domain.tasks, trials });
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU milliseconds of another process; the kernel counts in hundredths of a second. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function pss(pid: number): number {
  return Math.round(Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024);
}
