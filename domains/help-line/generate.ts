/**
 * Writes database.json, user.json and tasks/*.task.yaml of this domain.
 *
 *   node generate.ts
 *
 * Seeded, so it always writes the same files; they are committed, and the engine never runs this script.
 * Every task has its own customer and line, so the test tasks are about lines that training has not seen.
 * Every task needs both sides: a change at the provider that only the agent can make, and then an action at home that
 * only the customer can take.
 */
import { writeFileSync } from 'node:fs';

type Values = Record<string, string | number | boolean>;
type Call = { tool: string; by?: 'user'; arguments?: Values };
type Fault = Record<string, unknown>;
type Line = {
  customer: string;
  plan: string;
  service: string;
  port: string;
  profile: string;
  errors: number;
  router: string;
  login: string;
  login_expired: boolean;
  next_login: string;
  bills: Record<string, { amount: string; status: string }>;
  seen: { serial: string; firmware: number; connected: boolean };
};
type House = { line: string; name: string; pin: string; row: Line; home: { path: string[]; value: unknown }[] };
type Story = {
  goal: string;
  opening: string;
  /** The opening of a customer who leaves out name and PIN. */
  short: string;
  known?: Record<string, string>;
  change?: { say: string; known: Record<string, string> };
  actions: Call[];
};
type Kind = {
  name: string;
  about: string;
  personas: { train: string[]; test: string[] };
  /** The fault in every third task of the kind. */
  fault?: { about: string; fault: Fault };
  make: (house: House) => Story;
};

const plans = { 'Fibre 100': 100, 'Fibre 250': 250, 'Fibre 500': 500, 'Fibre 1000': 1000 };
const channels = [1, 6, 11];
const insist = 'I would like a credit for the days without internet.';

/** Reports whether a task has a fault. Every third task of a kind has one, in both splits. */
const isFaulty = (index: number) => index % 3 === 2;

const kinds: Kind[] = [
  {
    name: 'surge',
    about: 'A port that locked itself: the agent unlocks it, and only a restart at home brings the internet back.',
    personas: { train: ['patient', 'terse', 'scattered', 'aggrieved'], test: ['aggrieved', 'terse', 'scattered'] },
    fault: {
      about: 'The system that unlocks ports is out once.',
      fault: {
        type: 'outage',
        tool: 'unlock_port',
        calls: [1],
        message: 'the port system is temporarily unavailable, try again',
      },
    },
    make: surge,
  },
  {
    name: 'swap',
    about:
      'The customer has a different router than the line expects. Only the customer can read the serial number on its label.',
    personas: { train: ['patient', 'scattered', 'terse', 'patient'], test: ['patient', 'scattered', 'terse'] },
    fault: {
      about: 'The label calls the serial number by another name.',
      fault: { type: 'changedSchema', tool: 'read_label', result: { serial: 'serial_number' } },
    },
    make: swap,
  },
  {
    name: 'login',
    about: 'A login that has run out: the agent issues one, and the customer types it into the router.',
    personas: { train: ['terse', 'patient', 'aggrieved', 'scattered'], test: ['patient', 'aggrieved', 'terse'] },
    fault: {
      about: 'The new login takes its time.',
      fault: { type: 'latency', tool: 'reset_login', ms: 150 },
    },
    make: login,
  },
  {
    name: 'slow',
    about: 'Errors on the line and crowded wifi: a profile at one end, a channel and a restart at the other.',
    personas: { train: ['patient', 'terse', 'patient', 'scattered'], test: ['scattered', 'patient', 'terse'] },
    fault: {
      about: 'The first line test returns an undocumented code.',
      fault: { type: 'undocumentedResult', tool: 'run_line_test', calls: [1], result: { code: 'E-17' } },
    },
    make: slow,
  },
  {
    name: 'bill',
    about: 'Suspended for an open bill: a request, a payment in the app, the line back on, and a restart.',
    personas: { train: ['terse', 'aggrieved', 'patient', 'scattered'], test: ['aggrieved', 'patient', 'scattered'] },
    fault: {
      about: 'The line may not be resumed while the payment is being booked.',
      fault: {
        type: 'permissionDenied',
        tool: 'resume_line',
        calls: [1],
        message: 'not permitted while the payment is being booked, try again',
      },
    },
    make: bill,
  },
  {
    name: 'upgrade',
    about: 'Another plan: newer firmware first where the plan needs it, and a restart at the end.',
    personas: { train: ['undecided', 'patient', 'undecided', 'terse'], test: ['undecided', 'patient', 'undecided'] },
    fault: {
      about: 'The update server is busy once.',
      fault: { type: 'outage', tool: 'update_firmware', calls: [1], message: 'the update server is busy, try again' },
    },
    make: upgrade,
  },
  {
    name: 'socket',
    about: 'What both ends can do is done, and it is still slow: the socket needs a technician.',
    personas: { train: ['patient', 'terse'], test: ['scattered', 'patient'] },
    make: socket,
  },
];

const next = mulberry32(29);
const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
const digits = (count: number) => Array.from({ length: count }, () => Math.floor(next() * 10)).join('');

const firstNames = ['Alma', 'Bruno', 'Carla', 'Dimitri', 'Edith', 'Farid', 'Gesa', 'Henrik', 'Isolde', 'Jamal'];
const lastNames = ['Abbott', 'Bergman', 'Costa', 'Dvorak', 'Engel', 'Farkas', 'Gupta', 'Hansen'];
const names = shuffled(firstNames.flatMap((first) => lastNames.map((last) => `${first} ${last}`)));
const pins = new Set<string>();

const customers: Record<string, { name: string; pin: string; line: string }> = {};
const lines: Record<string, Line> = {};

for (const split of ['train', 'test'] as const) {
  const tasks = kinds.flatMap((kind) =>
    kind.personas[split].map((persona, index) => task(kind, persona, index, split)),
  );
  writeFileSync(`${import.meta.dirname}/tasks/${split}.task.yaml`, tasks.join('\n'));
}
for (let bystanders = 0; bystanders < 13; bystanders++) house();
const base = house();
writeFileSync(`${import.meta.dirname}/database.json`, databaseText());
writeFileSync(`${import.meta.dirname}/user.json`, `${JSON.stringify(homeOf(base), null, 2)}\n`);

/** Returns a customer on a line without faults. */
function house(): House {
  const number = Object.keys(customers).length + 1;
  const [id, line] = [`C${300 + number}`, `L${2000 + number}`];
  const name = names.pop() as string;
  let pin = digits(4);
  while (pins.has(pin) || pin.startsWith('0')) pin = digits(4);
  pins.add(pin);
  const serial = `HR-${digits(2)}${String.fromCharCode(65 + Math.floor(next() * 26))}-${digits(4)}`;
  const row: Line = {
    customer: id,
    plan: pick(['Fibre 100', 'Fibre 250']),
    service: 'active',
    port: 'open',
    profile: 'fast',
    errors: Math.floor(next() * 12),
    router: serial,
    login: `heron-${digits(5)}`,
    login_expired: false,
    next_login: `heron-${digits(5)}`,
    bills: { [`B${digits(4)}`]: { amount: `${20 + Math.floor(next() * 30)}.90`, status: 'paid' } },
    seen: { serial, firmware: 3, connected: true },
  };
  customers[id] = { name, pin, line };
  lines[line] = row;
  return { line, name, pin, row, home: [] };
}

/** Returns the home at the other end of a line, connected and without faults. */
function homeOf({ line, row }: House) {
  const speed = plans[row.plan as keyof typeof plans];
  return {
    line,
    router: {
      model: 'Heron Hub 2',
      serial: row.router,
      firmware: row.seen.firmware,
      login: row.login,
      channel: 1,
      connected: true,
      speed,
    },
    supply: { signal: true, serial: row.router, login: row.login, speed },
    networks: { '1': 3, '6': 4, '11': 2 },
    socket: 'sound',
    app: { requests: {}, paid: {} },
  };
}

function surge({ line, row }: House): Story {
  row.port = 'locked';
  return {
    goal: 'There was a thunderstorm, and your internet has been gone since. You want it back.',
    opening: pick([
      'Since the thunderstorm last night my internet is gone.',
      'My internet has been dead since the storm.',
    ]),
    short: 'The internet is gone, and it was fine before the storm!',
    actions: [look(line), lights(), test(line), { tool: 'unlock_port', arguments: { line } }, restart()],
  };
}

function swap({ line, home }: House): Story {
  const serial = `HR-${digits(2)}X-${digits(4)}`;
  home.push({ path: ['router', 'model'], value: 'Heron Hub 3' }, { path: ['router', 'serial'], value: serial });
  return {
    goal: 'You have plugged in the new router that came in the mail, and it does not connect. You want it to work.',
    opening: pick([
      'I plugged in the new router you sent me, and it will not connect.',
      'The new router came today. It is plugged in, but there is no internet.',
    ]),
    short: 'My new router does not do anything, and I have plugged in everything!',
    actions: [
      look(line),
      { tool: 'read_label', by: 'user' },
      { tool: 'register_router', arguments: { line, serial } },
      restart(),
    ],
  };
}

function login({ line, row, home }: House): Story {
  row.login_expired = true;
  home.push({ path: ['router', 'login'], value: row.login });
  row.login = `expired-${digits(3)}`;
  return {
    goal: 'Your router says that it can not sign in. You want to be online again.',
    opening: pick([
      'My router says it cannot sign in since yesterday.',
      'There is a message on my router page that signing in has failed.',
    ]),
    short: 'The router keeps saying something about signing in, and nothing works!',
    actions: [
      look(line),
      lights(),
      { tool: 'reset_login', arguments: { line } },
      { tool: 'enter_login', by: 'user', arguments: { code: row.next_login } },
      { tool: 'check_lights', by: 'user' },
    ],
  };
}

function slow({ line, row, home }: House): Story {
  row.errors = 50 + Math.floor(next() * 60);
  const best = pick(channels);
  const own = pick(channels.filter((channel) => channel !== best));
  const crowd = Object.fromEntries(channels.map((each) => [each, each === best ? 1 : 5 + Math.floor(next() * 6)]));
  home.push({ path: ['router', 'channel'], value: own }, { path: ['networks'], value: crowd });
  return {
    goal: 'Your internet stutters every evening, above all in video calls. You want that to stop.',
    opening: pick(['My video calls freeze every evening.', 'The internet stutters all the time in the evening.']),
    short: 'Everything stutters, every evening, it is unbearable!',
    actions: [
      look(line),
      test(line),
      { tool: 'set_profile', arguments: { line, profile: 'stable' } },
      { tool: 'scan_wifi', by: 'user' },
      { tool: 'set_wifi_channel', by: 'user', arguments: { channel: best } },
      restart(),
    ],
  };
}

/** Returns a story like `slow`, but with a damaged socket. */
function socket(house: House): Story {
  const story = slow(house);
  house.home.push({ path: ['socket'], value: 'damaged' });
  const channel = story.actions.find(({ tool }) => tool === 'set_wifi_channel')?.arguments?.['channel'];
  const summary = `${house.line} is stable, wifi on ${channel}, and still slow.`;
  return {
    ...story,
    actions: [
      ...story.actions,
      { tool: 'run_speed_test', by: 'user' },
      { tool: 'transfer_to_human', arguments: { summary } },
    ],
  };
}

function bill({ line, row }: House): Story {
  row.service = 'suspended';
  const number = `B${digits(4)}`;
  row.bills[number] = { amount: `${20 + Math.floor(next() * 30)}.90`, status: 'open' };
  return {
    goal: 'Your internet stopped this morning. If a bill is open you pay it in your app at once. You want to be online again.',
    opening: pick([
      'My internet stopped working this morning.',
      'I have no internet since this morning, nothing at all.',
    ]),
    short: 'No internet since this morning, what is going on?',
    actions: [
      look(line),
      { tool: 'send_payment_request', arguments: { line, bill: number } },
      { tool: 'accept_payment', by: 'user', arguments: { bill: number } },
      { tool: 'resume_line', arguments: { line } },
      restart(),
    ],
  };
}

function upgrade({ line, row }: House): Story {
  row.plan = 'Fibre 100';
  const wanted = pick(['Fibre 500', 'Fibre 1000']);
  const first = pick(['Fibre 250', wanted === 'Fibre 500' ? 'Fibre 1000' : 'Fibre 500']);
  return {
    goal: `You want a faster plan, ${wanted}.`,
    opening: `I would like to change to ${wanted}.`,
    short: 'I would like a faster plan.',
    known: { plan: wanted },
    change: { say: `On second thoughts, make it ${wanted}.`, known: { plan: wanted, first } },
    actions: [
      look(line),
      { tool: 'update_firmware', by: 'user' },
      { tool: 'change_plan', arguments: { line, plan: wanted } },
      restart(),
      { tool: 'run_speed_test', by: 'user' },
    ],
  };
}

function look(line: string): Call {
  return { tool: 'get_line', arguments: { line } };
}

function test(line: string): Call {
  return { tool: 'run_line_test', arguments: { line } };
}

function lights(): Call {
  return { tool: 'check_lights', by: 'user' };
}

function restart(): Call {
  return { tool: 'restart_router', by: 'user' };
}

function task({ name: kind, about, fault, make }: Kind, persona: string, index: number, split: string): string {
  const where = house();
  const { line, name, pin } = where;
  const story = make(where);
  const isShort = persona === 'scattered';
  const isChanged = persona === 'undecided' && story.change !== undefined;
  const { first, ...after } = story.change?.known ?? {};
  const known = { name, pin, ...story.known, ...(isChanged ? { plan: first } : {}) };
  const opening = isChanged ? `I would like to change to ${first}.` : isShort ? story.short : story.opening;
  const goal = isChanged
    ? `You want a faster plan, ${first}. When it is offered you want ${after['plan']} instead.`
    : story.goal;
  const { serial, login, speed } = homeOf(where).router;
  // The signal at the wall socket follows from the line. sync writes it when the task is set up.
  const state = [
    { path: ['line'], value: line },
    ...Object.entries({ serial, login, speed }).map(([key, value]) => ({ path: ['router', key], value })),
    ...where.home,
  ];
  const calls = [{ tool: 'find_customer', arguments: { name, pin } } as Call, ...story.actions];
  const insists = persona === 'aggrieved';
  const struck = isFaulty(index) ? fault : undefined;
  const words = insists
    ? ' You also think that you are owed a credit, and say so; when it is refused twice you let it be.'
    : '';
  return [
    `- id: ${kind}-${line}`,
    `  description: ${quoted(struck ? `${about} ${struck.about}` : about)}`,
    `  split: ${split}`,
    `  persona: ${persona}`,
    '  user:',
    `    goal: ${quoted(`You are ${name}. ${goal}${words}`)}`,
    `    opening: ${quoted(isShort ? opening : `Hello, this is ${name}, service PIN ${pin}. ${opening}`)}`,
    `    known: ${flow(known)}`,
    ...(isChanged
      ? [
          '    change:',
          '      when: proposed',
          `      say: ${quoted(story.change?.say ?? '')}`,
          `      known: ${flow(after)}`,
        ]
      : []),
    ...(insists ? ['    insist:', `      say: ${quoted(insist)}`] : []),
    '  state:',
    ...state.map((entry) => `    - ${flow({ side: 'user', ...entry })}`),
    ...(struck ? ['  faults:', ...block(struck.fault)] : []),
    '  actions:',
    ...calls.map((call) => `    - ${flow(call)}`),
    '',
  ].join('\n');
}

/** Formats a value as YAML on one line. Every text except a plain word is in double quotes. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value === 'string') return /^[a-z][A-Za-z_]*$/.test(value) ? value : quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([key, each]) => `${/^\d/.test(key) ? quoted(key) : key}: ${flow(each)}`);
  return `{ ${entries.join(', ')} }`;
}

/** Formats an object as an item of a YAML list, one key per line. */
function block(value: object): string[] {
  return Object.entries(value).map(([key, each], at) => `    ${at === 0 ? '-' : ' '} ${key}: ${flow(each)}`);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Writes one row per line, so that a change of a row changes one line of the file. */
function databaseText(): string {
  const rows = (table: object) =>
    Object.entries(table)
      .map(([key, row]) => `    ${JSON.stringify(key)}: ${JSON.stringify(row)}`)
      .join(',\n');
  const offered = Object.fromEntries(
    Object.entries(plans).map(([name, speed]) => [name, { speed, firmware: speed >= 500 ? 4 : 3 }]),
  );
  const tables = { customers, lines, plans: offered };
  const texts = Object.entries(tables).map(([name, table]) => `  ${JSON.stringify(name)}: {\n${rows(table)}\n  }`);
  return `{\n${texts.join(',\n')}\n}\n`;
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
