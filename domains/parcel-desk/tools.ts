import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';

type Parcel = { status: 'on the way' | 'delivered' | 'missing'; day: string; to: string };
type ParcelDesk = { parcels: Record<string, Parcel> };

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const lockers = ['L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'L7', 'L8', 'L9'];

const { tool } = defineTools<{ agent: ParcelDesk }>();

export const find_parcel = tool({
  description: 'Where a parcel is.',
  effect: 'read',
  input: z.object({ parcel: z.string() }),
  run: ({ parcel }, { db }) => find(db, parcel),
});

export const reschedule = tool({
  description: 'Change the day.',
  effect: 'write',
  input: z.object({ parcel: z.string(), day: z.string() }),
  run: ({ parcel, day }, { db }) => {
    if (!days.includes(day)) throw new ToolError(`${day} is not a delivery day; use ${days.join(', ')}`);
    movable(db, parcel).day = day;
    return 'ok';
  },
});

export const redirect = tool({
  description: 'Send it to a locker.',
  effect: 'write',
  input: z.object({ parcel: z.string(), locker: z.string() }),
  run: ({ parcel, locker }, { db }) => {
    if (!lockers.includes(locker)) throw new ToolError(`there is no locker ${locker}`);
    movable(db, parcel).to = locker;
    return 'ok';
  },
});

export const report = tool({
  description: 'Report a delivered parcel missing.',
  effect: 'write',
  input: z.object({ parcel: z.string() }),
  run: ({ parcel }, { db }) => {
    const found = find(db, parcel);
    if (found.status !== 'delivered') throw new ToolError(`${parcel} is ${found.status}, not delivered`);
    found.status = 'missing';
    return 'ok';
  },
});

function find(db: ParcelDesk, parcel: string): Parcel {
  const found = db.parcels[parcel];
  if (!found) throw new ToolError(`there is no parcel ${parcel}`);
  return found;
}

function movable(db: ParcelDesk, parcel: string): Parcel {
  const found = find(db, parcel);
  if (found.status !== 'on the way') throw new ToolError(`${parcel} is ${found.status} and cannot be moved`);
  return found;
}
