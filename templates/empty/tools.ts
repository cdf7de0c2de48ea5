import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';

const { tool } = defineTools<{ agent: { loans: Record<string, { title: string; due: string }> } }>();

export const extend_loan = tool({
  description: 'Extends a loan to another day.',
  effect: 'write',
  input: z.object({ loan: z.string(), due: z.string() }),
  run: ({ loan: id, due }, { db }) => {
    const loan = db.loans[id];
    if (!loan) throw new ToolError(`there is no loan ${id}`);
    loan.due = due;
    return { loan: id, due };
  },
});
