import { defineTools, type SyncContext, ToolError } from 'rehearsal';
import * as z from 'zod';

type Plan = 'Fibre 100' | 'Fibre 250' | 'Fibre 500' | 'Fibre 1000';
type Bill = { amount: string; status: 'open' | 'requested' | 'paid' };
type Line = {
  customer: string;
  plan: Plan;
  service: 'active' | 'suspended';
  port: 'open' | 'locked';
  profile: 'fast' | 'stable';
  errors: number;
  router: string;
  login: string;
  login_expired: boolean;
  next_login: string;
  bills: Record<string, Bill>;
  /** The state of the home as the network sees it. Only `sync` writes it. */
  seen: { serial: string; firmware: number; connected: boolean };
};
type Provider = {
  customers: Record<string, { name: string; pin: string; line: string }>;
  lines: Record<string, Line>;
  plans: Record<Plan, { speed: number; firmware: number }>;
};

type Channel = '1' | '6' | '11';
type Home = {
  /** The line that this house is on. */
  line: string;
  router: {
    model: string;
    serial: string;
    firmware: number;
    login: string;
    channel: number;
    connected: boolean;
    speed: number;
  };
  /** The signal at the wall socket. Only `sync` writes it. */
  supply: { signal: boolean; serial: string; login: string; speed: number };
  networks: Record<Channel, number>;
  /** The fibre socket. A damaged one passes a tenth of the speed, and only a technician can repair it. */
  socket: 'sound' | 'damaged';
  app: { requests: Record<string, string>; paid: Record<string, string> };
};

type HelpLine = { agent: Provider; user: Home };

const newestFirmware = 4;
const stableShare = 0.8;

const { tool } = defineTools<HelpLine>();

/**
 * Synchronizes the two sides of a line: changes of the provider reach the wall socket, the network sees the state of
 * the router, a payment request reaches the app, and its payment reaches the provider. A router connects only when it
 * starts, but it loses the connection at once when the signal no longer fits.
 */
export function sync({ db, userDb }: SyncContext<HelpLine>): void {
  const line = lineOf(db, userDb.line);
  const { router, supply, app } = userDb;
  put(supply, { signal: hasSignal(line), serial: line.router, login: line.login, speed: speedOf(db, line) });
  if (router.connected && !fits(userDb)) put(router, { connected: false, speed: 0 });
  const { serial, firmware, connected } = router;
  put(line.seen, { serial, firmware, connected });
  for (const [bill, { amount, status }] of Object.entries(line.bills)) {
    if (app.paid[bill] !== undefined) put(line.bills[bill] as Bill, { status: 'paid' });
    else if (status === 'requested' && app.requests[bill] === undefined) app.requests[bill] = amount;
  }
}

// The agent's side.

export const find_customer = tool({
  description: 'Finds a customer by full name and service PIN, and says which line is theirs.',
  effect: 'read',
  input: z.object({ name: z.string(), pin: z.string() }),
  run: ({ name, pin }, { db }) => {
    const found = Object.entries(db.customers).find(
      ([, customer]) => customer.name.toLowerCase() === name.trim().toLowerCase() && customer.pin === pin.trim(),
    );
    if (!found) throw new ToolError('no customer has this name and PIN');
    const [id, customer] = found;
    return { customer: id, name: customer.name, line: customer.line };
  },
});

export const get_line = tool({
  description: 'What is booked and set on a line: plan, service, port, profile, registered router, bills.',
  effect: 'read',
  input: z.object({ line: z.string() }),
  run: ({ line }, { db }) => {
    const { plan, service, port, profile, router, login_expired, bills } = lineOf(db, line);
    return { line, plan, service, port, profile, router, login_expired, bills };
  },
});

export const run_line_test = tool({
  description: 'Measures a line: whether there is a signal, errors per hour, and which router the network sees.',
  effect: 'read',
  input: z.object({ line: z.string() }),
  run: ({ line: id }, { db }) => {
    const line = lineOf(db, id);
    return { line: id, signal: hasSignal(line), errors_per_hour: line.errors, router: line.seen };
  },
});

export const unlock_port = tool({
  description: 'Unlocks the port of a line. The router connects again when it is restarted.',
  effect: 'write',
  input: z.object({ line: z.string() }),
  run: ({ line: id }, { db }) => {
    const line = lineOf(db, id);
    if (line.port !== 'locked') throw new ToolError(`the port of ${id} is not locked`);
    line.port = 'open';
    return { line: id, port: 'open' };
  },
});

export const register_router = tool({
  description: 'Registers the router with this serial number on a line, in place of the one before.',
  effect: 'write',
  input: z.object({ line: z.string(), serial: z.string() }),
  run: ({ line: id, serial }, { db }) => {
    const line = lineOf(db, id);
    const taken = Object.entries(db.lines).find(([other, { router }]) => other !== id && router === serial);
    if (taken) throw new ToolError(`${serial} is registered on another line`);
    line.router = serial;
    return { line: id, router: serial };
  },
});

export const reset_login = tool({
  description: 'Issues a new login for a line. The customer enters it in the router.',
  effect: 'write',
  input: z.object({ line: z.string() }),
  run: ({ line: id }, { db }) => {
    const line = lineOf(db, id);
    line.login = line.next_login;
    line.login_expired = false;
    return { line: id, login: line.login };
  },
});

export const set_profile = tool({
  description: 'Sets the profile of a line: `fast`, or `stable` for a line with many errors. Taken up at a restart.',
  effect: 'write',
  input: z.object({ line: z.string(), profile: z.enum(['fast', 'stable']) }),
  run: ({ line: id, profile }, { db }) => {
    lineOf(db, id).profile = profile;
    return { line: id, profile };
  },
});

export const send_payment_request = tool({
  description: "Sends a payment request for an open bill to the customer's app.",
  effect: 'write',
  input: z.object({ line: z.string(), bill: z.string() }),
  run: ({ line: id, bill }, { db }) => {
    const found = lineOf(db, id).bills[bill];
    if (!found) throw new ToolError(`there is no bill ${bill} on ${id}`);
    if (found.status === 'paid') throw new ToolError(`${bill} is paid`);
    found.status = 'requested';
    return { bill, amount: found.amount, status: found.status };
  },
});

export const resume_line = tool({
  description: 'Puts a suspended line back into service. Every bill has to be paid.',
  effect: 'write',
  input: z.object({ line: z.string() }),
  run: ({ line: id }, { db }) => {
    const line = lineOf(db, id);
    if (line.service !== 'suspended') throw new ToolError(`${id} is not suspended`);
    const open = Object.entries(line.bills).find(([, { status }]) => status !== 'paid');
    if (open) throw new ToolError(`bill ${open[0]} is not paid yet`);
    line.service = 'active';
    return { line: id, service: 'active' };
  },
});

export const change_plan = tool({
  description: 'Changes the plan of a line. The router takes up the new speed when it is restarted.',
  effect: 'write',
  input: z.object({ line: z.string(), plan: z.enum(['Fibre 100', 'Fibre 250', 'Fibre 500', 'Fibre 1000']) }),
  run: ({ line: id, plan }, { db }) => {
    const line = lineOf(db, id);
    const { firmware } = db.plans[plan];
    if (line.seen.firmware < firmware)
      throw new ToolError(`${plan} needs router firmware ${firmware}, the router has ${line.seen.firmware}`);
    line.plan = plan;
    return { line: id, plan, speed: db.plans[plan].speed };
  },
});

export const transfer_to_human = tool({
  description: 'Hands the customer over to a technician, with a summary.',
  effect: 'write',
  generic: true,
  handsOff: true,
  input: z.object({ summary: z.string() }),
  run: () => 'A technician takes over.',
});

// The customer's side: the devices in their home, and their app.

export const check_lights = tool({
  owner: 'user',
  description: 'Look at the lights of the router.',
  effect: 'read',
  input: z.object({}),
  run: (_, { userDb }) => ({ power: 'green', internet: lightOf(userDb) }),
});

export const read_label = tool({
  owner: 'user',
  description: 'Read the label under the router.',
  effect: 'read',
  input: z.object({}),
  run: (_, { userDb: { router } }) => ({ model: router.model, serial: router.serial }),
});

export const restart_router = tool({
  owner: 'user',
  description: 'Unplug the router, wait, plug it in again, and look at its lights.',
  effect: 'write',
  input: z.object({}),
  run: (_, { userDb }) => {
    const connected = fits(userDb);
    userDb.router.connected = connected;
    userDb.router.speed = connected ? userDb.supply.speed : 0;
    return { internet: lightOf(userDb) };
  },
});

export const enter_login = tool({
  owner: 'user',
  description: "Enter a login on the router's page. The router starts again with it.",
  effect: 'write',
  input: z.object({ code: z.string() }),
  run: ({ code }, { userDb }) => {
    userDb.router.login = code.trim();
    const connected = fits(userDb);
    userDb.router.connected = connected;
    userDb.router.speed = connected ? userDb.supply.speed : 0;
    return { saved: code.trim(), internet: lightOf(userDb) };
  },
});

export const scan_wifi = tool({
  owner: 'user',
  description: "Count the wifi networks around, by channel, on the router's page.",
  effect: 'read',
  input: z.object({}),
  run: (_, { userDb: { networks, router } }) => ({
    channel_1: networks['1'],
    channel_6: networks['6'],
    channel_11: networks['11'],
    own_channel: router.channel,
  }),
});

export const set_wifi_channel = tool({
  owner: 'user',
  description: "Set the wifi channel on the router's page: 1, 6 or 11.",
  effect: 'write',
  input: z.object({ channel: z.literal([1, 6, 11]) }),
  run: ({ channel }, { userDb }) => {
    userDb.router.channel = channel;
    return { channel };
  },
});

export const update_firmware = tool({
  owner: 'user',
  description: "Start the firmware update on the router's page.",
  effect: 'write',
  input: z.object({}),
  run: (_, { userDb: { router } }) => {
    if (router.firmware >= newestFirmware) throw new ToolError(`version ${router.firmware} is the newest there is`);
    router.firmware = newestFirmware;
    return { firmware: newestFirmware };
  },
});

export const accept_payment = tool({
  owner: 'user',
  description: 'Accept a payment request in the app.',
  effect: 'write',
  input: z.object({ bill: z.string() }),
  run: ({ bill }, { userDb: { app } }) => {
    const amount = app.requests[bill];
    if (amount === undefined) throw new ToolError(`there is no payment request for ${bill} in the app`);
    delete app.requests[bill];
    app.paid[bill] = amount;
    return { bill, amount };
  },
});

export const run_speed_test = tool({
  owner: 'user',
  description: 'Run a speed test in the app.',
  effect: 'read',
  input: z.object({}),
  run: (_, { userDb: { router, socket } }) => ({
    connected: router.connected,
    speed: socket === 'damaged' ? router.speed / 10 : router.speed,
  }),
});

function lineOf(db: Provider, id: string): Line {
  const found = db.lines[id];
  if (!found) throw new ToolError(`there is no line ${id}`);
  return found;
}

function hasSignal({ service, port }: Line): boolean {
  return service === 'active' && port === 'open';
}

function speedOf(db: Provider, { plan, profile }: Line): number {
  return db.plans[plan].speed * (profile === 'stable' ? stableShare : 1);
}

/** Reports whether the router fits the signal at the wall socket. */
function fits({ router, supply }: Home): boolean {
  return supply.signal && supply.serial === router.serial && supply.login === router.login;
}

function lightOf({ router, supply }: Home): string {
  if (router.connected) return 'green';
  return supply.signal ? 'orange' : 'red';
}

/** Writes only values that differ, so that nothing changes if nothing has happened. */
function put<Row extends object>(row: Row, values: Partial<Row>): void {
  for (const key of Object.keys(values) as (keyof Row)[])
    if (row[key] !== values[key]) row[key] = values[key] as Row[keyof Row];
}
