// Every exported tool is a tool of the domain, under the name of its export. A domain needs no node_modules: zod and
// `rehearsal` come with Rehearsal. Use now, random and id of the context, never the machine's clock or Math.random.
import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';

type Priority = 'low' | 'normal' | 'high' | 'urgent';
type Ticket = { customer: string; subject: string; status: 'open' | 'answered' | 'closed'; priority: Priority };
type SupportDesk = {
  customers: Record<string, { name: string; email: string; plan: 'basic' | 'business' }>;
  tickets: Record<string, Ticket>;
};

const { tool } = defineTools<{ agent: SupportDesk }>();

export const find_customer = tool({
  description: 'Finds a customer by email address, with the numbers of their tickets.',
  effect: 'read',
  input: z.object({ email: z.string() }),
  run: ({ email }, { db }) => {
    const found = Object.entries(db.customers).find(([, customer]) => customer.email === email.trim().toLowerCase());
    // The message of a ToolError is what the agent sees; the database stays as it was.
    if (!found) throw new ToolError('no customer has this email address');
    const [id, { name, plan }] = found;
    const tickets = Object.keys(db.tickets).filter((ticket) => db.tickets[ticket]?.customer === id);
    return { customer: id, name, plan, tickets };
  },
});

export const get_ticket = tool({
  description: 'Shows a ticket: subject, status, priority and whose it is.',
  effect: 'read',
  input: z.object({ ticket: z.string() }),
  run: ({ ticket }, { db }) => ({ ticket, ...ticketOf(db, ticket) }),
});

export const set_priority = tool({
  description: 'Gives an open or answered ticket another priority.',
  effect: 'write', // only a write may change the database
  input: z.object({ ticket: z.string(), priority: z.enum(['low', 'normal', 'high', 'urgent']) }),
  run: ({ ticket, priority }, { db }) => {
    unclosed(db, ticket).priority = priority;
    return { ticket, priority };
  },
});

export const close_ticket = tool({
  description: 'Closes a ticket.',
  effect: 'write',
  input: z.object({ ticket: z.string() }),
  run: ({ ticket }, { db }) => {
    unclosed(db, ticket).status = 'closed';
    return { ticket, status: 'closed' };
  },
});

function ticketOf(db: SupportDesk, id: string): Ticket {
  const ticket = db.tickets[id];
  if (!ticket) throw new ToolError(`there is no ticket ${id}`);
  return ticket;
}

function unclosed(db: SupportDesk, id: string): Ticket {
  const ticket = ticketOf(db, id);
  if (ticket.status === 'closed') throw new ToolError(`${id} is closed`);
  return ticket;
}
