// The promise's rollout on the real engine: 78 messages and a greeting's worth (20 of the user's, 19 calls: 10 reads
// and 9 writes) with evaluation on 2.9 MB, in workers, with hashes, recording, sidecar and receipt.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { descendantsOf } from '../scripts/processTree.ts';
import { approvalHash, approve } from '../src/engine/shell/approvals/approvals.ts';
import { effectsOfDomain } from '../src/engine/shell/approvals/effects.ts';
import { loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../src/engine/shell/records/ledger.ts';
import { runBatch, type TrialResult } from '../src/engine/shell/runs/batch.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { cpuSeconds } from './measure.ts';
// @ts-expect-error a plain script without types
import { retailDatabase } from './spike/retail.mjs';

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

const taskCount = 40;

function filesOf(database: { readonly orders: Record<string, unknown> }): Readonly<Record<string, string>> {
  const ids = Object.keys(database.orders);
  const tasks = Array.from({ length: taskCount }, (_, index) => {
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
  return {
    'domain.yaml': JSON.stringify({ name: 'retail', turnCap: 200 }),
    'policy.md': '- Look at an order before you change it.\n',
    'tools.ts': tools,
    'database.json': JSON.stringify(database),
    'personas/patient.persona.yaml': JSON.stringify({ id: 'patient', description: 'Patient.', patience: 20 }),
    'tasks/all.task.yaml': JSON.stringify(tasks),
  };
}

export type RetailRun = {
  readonly results: readonly TrialResult[];
  readonly seconds: number;
  /** CPU milliseconds of a rollout: of this process, and of the workers. */
  readonly own: number;
  readonly workers: number;
};

/** Starts a supervisor with a domain of that size and shape. `play` runs at least the given number of rollouts. */
export async function openRetail(workers: number) {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-retail-'));
  for (const name of ['personas', 'tasks', 'runs']) mkdirSync(join(folder, name));
  for (const [name, text] of Object.entries(filesOf(retailDatabase()))) writeFileSync(join(folder, name), text);
  const domain = loadDomain(folder);
  const faults = domain.diagnostics.filter(({ severity }) => severity === 'error');
  if (faults.length > 0) throw new Error(faults.map(({ message }) => message).join('\n'));
  // Without the sandbox, the domain's code needs an approval.
  approve([approvalHash(effectsOfDomain(domain))], process.env);
  const supervisor = await openSupervisor(domain, { workers });
  const key = signingKey(join(folder, 'key.pem'));
  let runs = 0;
  const play = async (count: number): Promise<RetailRun> => {
    const children = descendantsOf(process.pid);
    const [from, own, theirs] = [performance.now(), cpuSeconds([process.pid]), cpuSeconds(children)];
    runs += 1;
    const results = await runBatch(supervisor, {
      folder: join(folder, 'runs', String(runs)),
      tasks: domain.tasks,
      trials: Math.ceil(count / taskCount),
      seed: '1',
      basis: 'evaluate',
      agent: { type: 'scripted' },
      user: { type: 'agenda' },
      concurrency: 64,
      key,
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('no person is asked here')),
    });
    const wrong = results.filter(({ reward }) => reward !== 1);
    if (wrong.length > 0) throw new Error(`${wrong.length} rollouts did not get reward 1: ${wrong[0]?.reason}`);
    const a = 1000 / results.length;
    return {
      results,
      seconds: (performance.now() - from) / 1000,
      own: a * (cpuSeconds([process.pid]) - own),
      workers: a * (cpuSeconds(children) - theirs),
    };
  };
  const close = async () => {
    await supervisor.close();
    rmSync(folder, { recursive: true });
  };
  return { supervisor, play, close };
}

/** Returns the number of events of each type in a recording. */
export function eventCounts(recording: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of readFileSync(recording, 'utf8').trim().split('\n')) {
    const { type } = (JSON.parse(line) as { readonly event: { readonly type: string } }).event;
    counts[type] = (counts[type] ?? 0) + 1;
  }
  return counts;
}
