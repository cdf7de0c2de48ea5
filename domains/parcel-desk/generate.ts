/**
 * Writes database.json and tasks/*.task.yaml of this domain.
 *
 *   node generate.ts
 *
 * Seeded, so it always writes the same files; they are committed, and the engine never runs this script.
 * Every task has its own parcel, so the test tasks are about parcels that training has not seen.
 */
import { writeFileSync } from 'node:fs';

type Parcel = { status: 'on the way' | 'delivered'; day: string; to: string };
type Call = { tool: string; arguments: Record<string, string> };
type Facts = { day?: string; locker?: string };
type Request = { opening: string; known: Facts; actions: Call[]; change?: { say: string; known: Facts } };
type Problem = Request & { id: string; persona: string; parcel: string; about: string; goal: string };

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const lockers = ['L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'L7', 'L8', 'L9'];

/** The kinds of task, with their number in each split and the function that makes one. */
const kinds = [
  { name: 'reschedule', train: 14, test: 7, persona: 'brief', status: 'on the way', make: reschedule },
  { name: 'redirect', train: 14, test: 7, persona: 'brief', status: 'on the way', make: redirect },
  { name: 'vague', train: 12, test: 6, persona: 'vague', status: 'on the way', make: vague },
  { name: 'missing', train: 10, test: 5, persona: 'brief', status: 'delivered', make: missing },
  { name: 'changed', train: 8, test: 4, persona: 'fickle', status: 'on the way', make: changed },
  { name: 'both', train: 6, test: 3, persona: 'brief', status: 'on the way', make: both },
] as const;

const about = {
  reschedule: 'One write. The opening states everything that the agent needs.',
  redirect: 'One write. The opening states everything that the agent needs.',
  vague: 'One write, but the user leaves out what the agent needs.',
  missing: 'The parcel was delivered, so what the user asks for is refused and a report is offered.',
  changed: 'The user changes the request when it is proposed, so the first yes never comes.',
  both: 'Two writes. Each needs its own confirmation.',
};

const next = mulberry32(17);
const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
const dealt = new Map<string, number>();

const parcels: Record<string, Parcel> = {};
const numbers = shuffled(Array.from({ length: 99 }, (_, index) => `P${String(index + 1).padStart(2, '0')}`));

for (const split of ['train', 'test'] as const) {
  dealt.clear();
  const problems = kinds.flatMap((kind) => Array.from({ length: kind[split] }, () => problem(kind)));
  writeFileSync(
    `${import.meta.dirname}/tasks/${split}.task.yaml`,
    problems.map((each) => yaml(each, split)).join('\n'),
  );
}
for (const parcel of numbers) parcels[parcel] = { status: 'on the way', day: pick(days), to: 'home' };
writeFileSync(`${import.meta.dirname}/database.json`, databaseText());

function problem({ name, persona, status, make }: (typeof kinds)[number]): Problem {
  const parcel = numbers.pop() as string;
  const row: Parcel = { status, day: pick(days), to: next() < 0.7 ? 'home' : pick(lockers) };
  parcels[parcel] = row;
  const request = make(parcel, row);
  return { id: `${name}-${parcel}`, persona, parcel, about: about[name], goal: goalOf(parcel, request), ...request };
}

function reschedule(parcel: string, row: Parcel): Request {
  const day = other(days, row.day);
  return { opening: openingForDay(parcel, day), known: { day }, actions: [move(parcel, day)] };
}

function redirect(parcel: string, row: Parcel): Request {
  const locker = other(lockers, row.to);
  return { opening: openingForLocker(parcel, locker), known: { locker }, actions: [send(parcel, locker)] };
}

function vague(parcel: string, row: Parcel): Request {
  if (next() < 0.5) {
    const opening = pick([
      'I want my parcel on another day.',
      `Can ${parcel} come on another day?`,
      'Please move my parcel to another day.',
    ]);
    const day = other(days, row.day);
    return { opening, known: { day }, actions: [move(parcel, day)] };
  }
  const opening = pick([
    'Can my parcel go to a locker?',
    `Please send ${parcel} to a locker.`,
    'I want my parcel in a locker.',
  ]);
  const locker = other(lockers, row.to);
  return { opening, known: { locker }, actions: [send(parcel, locker)] };
}

function missing(parcel: string, row: Parcel): Request {
  const day = other(days, row.day);
  const actions = [{ tool: 'report', arguments: { parcel } }];
  if (next() < 0.5) return { opening: openingForDay(parcel, day), known: { day }, actions };
  const opening = pick([`${parcel} never came.`, `I am still waiting for ${parcel}.`, `Where is ${parcel}?`]);
  return { opening, known: {}, actions };
}

function changed(parcel: string, row: Parcel): Request {
  if (next() < 0.5) {
    const first = other(days, row.day);
    const day = other(days, row.day, first);
    const say = pick([`No, ${day} is better.`, `Sorry, make it ${day}.`, `${day} instead, please.`]);
    const opening = openingForDay(parcel, first);
    return { opening, known: { day: first }, change: { say, known: { day } }, actions: [move(parcel, day)] };
  }
  const first = other(lockers, row.to);
  const locker = other(lockers, row.to, first);
  const say = pick([`No, ${locker} is better.`, `Sorry, make it ${locker}.`, `${locker} instead, please.`]);
  const opening = openingForLocker(parcel, first);
  return { opening, known: { locker: first }, change: { say, known: { locker } }, actions: [send(parcel, locker)] };
}

function both(parcel: string, row: Parcel): Request {
  const day = other(days, row.day);
  const locker = other(lockers, row.to);
  const opening = pick([
    `Please bring ${parcel} to locker ${locker} on ${day}.`,
    `I need ${parcel} in ${locker} on ${day}.`,
    `Can ${parcel} come to ${locker} on ${day}?`,
  ]);
  return { opening, known: { day, locker }, actions: [move(parcel, day), send(parcel, locker)] };
}

/** One of those that were dealt least, so that no day and no locker is rare in 64 tasks. */
function other(from: readonly string[], ...not: string[]): string {
  const timesDealt = (each: string) => dealt.get(each) ?? 0;
  const allowed = from.filter((each) => !not.includes(each));
  const least = Math.min(...allowed.map(timesDealt));
  const one = pick(allowed.filter((each) => timesDealt(each) === least));
  dealt.set(one, least + 1);
  return one;
}

function openingForDay(parcel: string, day: string): string {
  return pick([
    `Please bring ${parcel} on ${day}.`,
    `Can ${parcel} come on ${day}?`,
    `I need ${parcel} on ${day} instead.`,
    `Move ${parcel} to ${day}, please.`,
  ]);
}

function openingForLocker(parcel: string, locker: string): string {
  return pick([
    `Please send ${parcel} to locker ${locker}.`,
    `Can I get ${parcel} at ${locker}?`,
    `I want ${parcel} in locker ${locker}.`,
    `Put ${parcel} in ${locker}, please.`,
  ]);
}

function goalOf(parcel: string, { known, actions, change }: Request): string {
  if (actions[0]?.tool === 'report') {
    return `You wait for parcel ${parcel}. If it was delivered already, you want it reported missing.`;
  }
  const wishes = [known.day && `come on ${known.day}`, known.locker && `go to locker ${known.locker}`].filter(Boolean);
  const instead = change ? ` When that is proposed you want ${change.known.day ?? change.known.locker} instead.` : '';
  return `Your parcel ${parcel} should ${wishes.join(' and ')}.${instead}`;
}

function move(parcel: string, day: string): Call {
  return { tool: 'reschedule', arguments: { parcel, day } };
}

function send(parcel: string, locker: string): Call {
  return { tool: 'redirect', arguments: { parcel, locker } };
}

/** Every text here is made of letters, digits and plain punctuation, so double quotes are all that YAML needs. */
function yaml({ id, persona, parcel, about, goal, opening, known, change, actions }: Problem, split: string): string {
  const flow = (facts: object) =>
    `{ ${Object.entries(facts)
      .map(([name, value]) => `${name}: ${value}`)
      .join(', ')} }`;
  const calls = [{ tool: 'find_parcel', arguments: { parcel } }, ...actions];
  return [
    `- id: ${id}`,
    `  description: ${about}`,
    `  split: ${split}`,
    `  persona: ${persona}`,
    '  user:',
    `    goal: ${goal}`,
    `    opening: "${opening}"`,
    `    known: ${flow({ parcel, ...known })}`,
    ...(change
      ? ['    change:', '      when: proposed', `      say: "${change.say}"`, `      known: ${flow(change.known)}`]
      : []),
    '  actions:',
    ...calls.map((call) => `    - { tool: ${call.tool}, arguments: ${flow(call.arguments)} }`),
    '',
  ].join('\n');
}

/** One row a line: a change of a parcel is a change of one line. */
function databaseText(): string {
  const rows = Object.keys(parcels)
    .sort()
    .map((parcel) => `    "${parcel}": ${JSON.stringify(parcels[parcel])}`);
  return `{\n  "parcels": {\n${rows.join(',\n')}\n  }\n}\n`;
}

function shuffled<T>(list: T[]): T[] {
  for (let last = list.length - 1; last > 0; last--) {
    const at = Math.floor(next() * (last + 1));
    [list[last], list[at]] = [list[at] as T, list[last] as T];
  }
  return list;
}

/** Tommy Ettinger's 32-bit generator: numbers in [0, 1), the same on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
