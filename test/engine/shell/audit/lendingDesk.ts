import type { Files } from '../load/domainFolder.ts';

/** A small sound domain. Each test changes one thing. */
export const lendingDesk: Files = {
  'domain.yaml': `name: lending-desk
now: "2026-03-02T09:00:00Z"
`,
  'policy.md': `# Lending desk

- Look the loan up with find_loan before any change. {#look-up}
- Say what you will do and wait for a yes before any change. {#confirm}
- Renew only what is not reserved. {#not-reserved}
`,
  'rules.yaml': `- { rule: look-up, check: before, tools: [renew_loan, return_loan], require: [find_loan], same: [loan] }
- { rule: confirm, check: confirmed, names: [loan, day] }
- { rule: not-reserved, check: onlyIf, tools: [renew_loan], condition: "not db.loans[args.loan].reserved" }
`,
  'tools.ts': `import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';

type Loan = { title: string; day: string; reserved: boolean; back?: boolean };
const { tool } = defineTools<{ agent: { loans: Record<string, Loan> } }>();

export const find_loan = tool({
  description: 'What is lent, and until when.',
  effect: 'read',
  input: z.object({ loan: z.string() }),
  run: ({ loan }, { db }) => row(db.loans, loan),
});

export const renew_loan = tool({
  description: 'Lend it until a later day.',
  effect: 'write',
  input: z.object({ loan: z.string(), day: z.string() }),
  run: ({ loan, day }, { db }) => {
    row(db.loans, loan).day = day;
    return 'ok';
  },
});

export const return_loan = tool({
  description: 'Take it back.',
  effect: 'write',
  input: z.object({ loan: z.string() }),
  run: ({ loan }, { db }) => {
    row(db.loans, loan).back = true;
    return 'ok';
  },
});

function row(loans: Record<string, Loan>, loan: string): Loan {
  const found = loans[loan];
  if (!found) throw new ToolError('there is no loan ' + loan);
  return found;
}
`,
  'database.json': `{
  "loans": {
    "L1": { "title": "atlas", "day": "Monday", "reserved": false },
    "L2": { "title": "drill", "day": "Tuesday", "reserved": true }
  }
}
`,
  'personas/plain.persona.yaml': `id: plain
description: Someone who answers every question.
`,
  'tasks/loans.task.yaml': `- id: renew
  split: train
  persona: plain
  user:
    goal: You want to keep your loan L1 until Friday.
    opening: Can I keep L1 until Friday?
    known: { loan: L1, day: Friday }
  actions:
    - { tool: find_loan, arguments: { loan: L1 } }
    - { tool: renew_loan, arguments: { loan: L1, day: Friday } }
- id: return
  split: test
  persona: plain
  user:
    goal: You want to give your loan L2 back.
    opening: I want to return L2.
    known: { loan: L2 }
  actions:
    - { tool: find_loan, arguments: { loan: L2 } }
    - { tool: return_loan, arguments: { loan: L2 } }
`,
};

/** Returns the desk with one text of a file replaced. */
export function changed(file: string, from: string, to: string): Files {
  const text = String(lendingDesk[file]);
  if (!text.includes(from)) throw new Error(`${file} does not say ${from}`);
  return { ...lendingDesk, [file]: text.replace(from, to) };
}

/** Returns the desk with a text added to the end of a file, or with a new file. */
export function added(file: string, more: string): Files {
  return { ...lendingDesk, [file]: `${lendingDesk[file] ?? ''}${more}` };
}

/** The desk with a user's side: a shelf that the user's tools read and tidy, and that `sync` counts. */
export function withShelf(shelfTools: string): Files {
  const sides = '{ agent: { loans: Record<string, Loan> }; user: { shelf: Shelf } }';
  const tools = String(lendingDesk['tools.ts'])
    .replace(
      "import { defineTools, ToolError } from 'rehearsal';",
      "import { defineTools, ToolError, type SyncContext } from 'rehearsal';",
    )
    .replace('{ agent: { loans: Record<string, Loan> } }', 'Sides')
    .replace(
      'const { tool }',
      `type Shelf = { books: number; counted: number; tidy?: boolean };\ntype Sides = ${sides};\nconst { tool }`,
    );
  const sync = `
export function sync({ userDb }: SyncContext<Sides>): void {
  userDb.shelf.counted = userDb.shelf.books;
}
`;
  return {
    ...lendingDesk,
    'domain.yaml': `${lendingDesk['domain.yaml']}userDatabase: user.json
lexicon:
  tools:
    look_at_shelf: { instruct: [look at your shelf] }
    tidy_shelf: { instruct: [tidy your shelf] }
`,
    'user.json': '{ "shelf": { "books": 3, "counted": 3 } }',
    'tools.ts': `${tools}${shelfTools}${sync}`,
    'tasks/loans.task.yaml': `${lendingDesk['tasks/loans.task.yaml']}    - { tool: tidy_shelf, by: user }
    - { tool: look_at_shelf, by: user }
`,
  };
}

/** Tools of the user, as they should be. */
export const shelfTools = `
export const look_at_shelf = tool({
  owner: 'user',
  description: 'Look at the shelf.',
  effect: 'read',
  input: z.object({}),
  run: (_, { userDb }) => ({ books: userDb.shelf.books }),
});
export const tidy_shelf = tool({
  owner: 'user',
  description: 'Tidy the shelf.',
  effect: 'write',
  idempotent: true,
  input: z.object({}),
  run: (_, { userDb }) => {
    userDb.shelf.tidy = true;
    userDb.shelf.books = 4;
    return 'tidy';
  },
});
`;
