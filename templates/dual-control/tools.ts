import { defineTools, type SyncContext, ToolError } from 'rehearsal';
import * as z from 'zod';

/** The agent's side: what the company knows of its customers' homes. */
type Company = {
  homes: Record<string, { name: string; code: string; next_code: string; expired: boolean; online: boolean }>;
};
/** The user's side: the thermostat on the wall. */
type Home = { home: string; thermostat: { code: string; running: boolean; connected: boolean } };
type ThermostatHelp = { agent: Company; user: Home };

const { tool } = defineTools<ThermostatHelp>();

/** Carries what one side does to the other. It runs after every successful call of either seat. */
export function sync({ db, userDb }: SyncContext<ThermostatHelp>): void {
  const home = db.homes[userDb.home];
  if (home && home.online !== userDb.thermostat.connected) home.online = userDb.thermostat.connected;
}

export const find_home = tool({
  description:
    "Finds a home by its customer's full name: its code, whether that has run out, and whether it is online.",
  effect: 'read',
  input: z.object({ name: z.string() }),
  run: ({ name }, { db }) => {
    const found = Object.entries(db.homes).find(([, home]) => home.name.toLowerCase() === name.trim().toLowerCase());
    if (!found) throw new ToolError('no home has a customer of this name');
    const [id, { code, expired, online }] = found;
    return { home: id, code, expired, online };
  },
});

export const issue_code = tool({
  description: 'Issues a new code for a home. The customer enters it and restarts the thermostat.',
  effect: 'write',
  input: z.object({ home: z.string() }),
  run: ({ home: id }, { db }) => {
    const home = db.homes[id];
    if (!home) throw new ToolError(`there is no home ${id}`);
    home.code = home.next_code;
    home.expired = false;
    return { home: id, code: home.code };
  },
});

// Tools of the user. The agent is not offered them, and knows of them only what the customer tells.

export const read_display = tool({
  description: 'What the display of the thermostat shows.',
  effect: 'read',
  owner: 'user',
  input: z.object({}),
  run: (_, { userDb }) => ({ shows: displayOf(userDb) }),
});

export const enter_code = tool({
  description: 'Enters a code on the thermostat. It is taken up at the next start.',
  effect: 'write',
  owner: 'user',
  input: z.object({ code: z.string() }),
  run: ({ code }, { userDb }) => {
    userDb.thermostat.code = code;
    return { code };
  },
});

export const restart_thermostat = tool({
  description: 'Restarts the thermostat and tells what the display shows then.',
  effect: 'write',
  owner: 'user',
  input: z.object({}),
  run: (_, { db, userDb }) => {
    const { thermostat } = userDb;
    const home = db.homes[userDb.home];
    thermostat.running = true;
    thermostat.connected = home !== undefined && !home.expired && thermostat.code === home.code;
    return { shows: displayOf(userDb) };
  },
});

function displayOf({ thermostat: { running, connected } }: Home): string {
  if (!running) return 'frozen';
  return connected ? 'online' : 'no connection';
}
