// Conversations of customers of the order desk, imported as recordings: reading the log, masking, and writing a recording of
// each. Names, orders, phone numbers, email addresses and streets are drawn by a seed. The CPU time of
// this process counts, not the elapsed time, so that other load does not change the number.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { inRoot } from '../scripts/repository.ts';
import { importConversations } from '../src/authoring/conversations/importConversations.ts';
import { readConversations } from '../src/authoring/conversations/readConversations.ts';
import { randomStream } from '../src/engine/core/values/random.ts';
import { loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../src/engine/shell/records/ledger.ts';
import { openSupervisor } from '../src/engine/shell/supervisor.ts';
import { readRunRollouts, readRunSummary, readRunTasks } from '../src/extension/runs/runFolder.ts';
import { isOnce, type Measured } from './measure.ts';

const firsts =
  'Harriet Desmond Imogen Clive Rowena Barnaby Annelie Torsten Wiebke Gernot Araceli Gonzalo Ginevra Ottavio';
const lasts =
  'Fairweather Ollerenshaw Pemberton Tuckwell Ashdown Hargreaves Brandstatter Ziegler Lefebvre Zurbano Guarnieri Dijkstra';

/** Returns a log of conversations in the format of OpenAI's API, one per line. */
export function syntheticLog(conversations: number): string {
  const random = randomStream('bench', 'import');
  const digits = (count: number) => String(10 ** (count - 1) + random.integer(9 * 10 ** (count - 1)));
  const lines = Array.from({ length: conversations }, (_, n) => {
    const [first, last, other] = [firsts, lasts, firsts].map((each) => random.pick(each.split(' '))) as string[];
    const [name, order, phone] = [`${first} ${last}`, `W${digits(7)}`, `+44 7${digits(9)}`];
    const email = `${first}.${last}${digits(2)}@mail.example`.toLowerCase();
    const address = `${1 + random.integer(300)} Mill Lane, Springfield`;
    const call = { name: 'get_order', arguments: JSON.stringify({ order_id: order }) };
    const found = { id: order, customer: { name, email, phone, address }, status: 'shipped', total: digits(3) };
    const days = 2 + random.integer(20);
    const messages = [
      { role: 'assistant', content: 'Hello! How can I help you today? I can look up orders and start returns.' },
      {
        role: 'user',
        content: `Hi, I am ${name} and my order ${order} has not arrived. I ordered it ${days} days ago.`,
      },
      { role: 'assistant', content: null, tool_calls: [{ id: `t${n}`, type: 'function', function: call }] },
      { role: 'tool', tool_call_id: `t${n}`, content: JSON.stringify(found) },
      { role: 'assistant', content: `Thank you, ${first}. It arrives within ${days} days. What is your phone number?` },
      { role: 'user', content: `It is ${phone}. Send the tracking to ${email} too, and tell ${other} at the door.` },
      { role: 'assistant', content: 'I have noted that. Is there anything else that I can do for you?' },
      { role: 'user', content: 'No, thanks.' },
    ];
    return `${JSON.stringify({ id: `chat-${n}`, messages })}\n`;
  });
  return lines.join('');
}

/** Returns spans of one trace: calls of a model that have nothing to do with each other. */
function independentSpans(count: number): string {
  const message = (role: string, content: string) => [{ role, parts: [{ type: 'text', content }] }];
  const spans = Array.from({ length: count }, (_, n) => {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': message('user', `Which colour has lamp ${n}?`),
      'gen_ai.output.messages': message('assistant', `Lamp ${n} is blue.`),
    };
    const list = Object.entries(attributes).map(([key, value]) => {
      return { key, value: { stringValue: typeof value === 'string' ? value : JSON.stringify(value) } };
    });
    return { traceId: 'trace', spanId: `${n}`, startTimeUnixNano: `${10n ** 18n + BigInt(n)}`, attributes: list };
  });
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

/** Reads a run as the Runs view does when it is opened, and returns the longest time without a turn of the event loop. */
async function longestPause(run: string): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const [task] = await readRunTasks(await readRunSummary(run));
  if (task) await readRunRollouts(run, task.task);
  await setTimeout(5);
  delays.disable();
  return delays.max / 1e6;
}

/** Measures the CPU time of a step, in seconds. */
async function secondsOf(step: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await step();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

export async function measureImport(show: (row: Measured) => void): Promise<readonly Measured[]> {
  const sizes = isOnce ? [200] : [2000, 16_000];
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-bench-'));
  try {
    for (const size of sizes) {
      const run = join(folder, `run-${size}`);
      const log = join(folder, `${size}.jsonl`);
      writeFileSync(log, syntheticLog(size));
      const supervisor = await openSupervisor(loadDomain(inRoot('domains', 'order-desk')), { log: () => undefined });
      const seconds = await secondsOf(async () => {
        const { recordings } = await importConversations(supervisor, await readConversations([log], 'chats'), {
          from: 'chats',
          folder: run,
          key: signingKey(join(folder, 'key.pem')),
          seed: 'bench',
          masksDatabase: false,
          signal: new AbortController().signal,
        });
        if (recordings.length !== size) throw new Error(`imported ${recordings.length} of ${size} conversations`);
      });
      await supervisor.close();
      show({
        name: `import of 1,000 conversations, ${size} in a log`,
        value: seconds / (size / 1000),
        unit: 's',
        note: 'CPU time, eight messages each, masked',
      });
      show({
        name: `longest pause when the Runs view opens a run of ${size} conversations`,
        value: await longestPause(run),
        unit: 'ms',
        note: 'elapsed time',
      });
      const traced = join(folder, `${size}.json`);
      writeFileSync(traced, independentSpans(size));
      show({
        name: `reading of 1,000 spans, ${size} in a trace`,
        value: (await secondsOf(() => readConversations([traced], 'spans'))) / (size / 1000),
        unit: 's',
        note: 'CPU time, independent calls of a model',
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return [];
}
