import { expect, it } from 'vitest';
import { deskTools, load } from '../load/domainFolder.ts';

const rows = JSON.stringify({ orders: { W1001: { status: 'pending' }, W1002: { status: 'pending' } } });

/** Returns the findings about a user who asks for two orders, as `line code hint`. */
function found(known: string, goal: string): readonly string[] {
  const task = `id: cancel
persona: plain
user:
  goal: ${goal}
  opening: ${goal}
  known: { ${known} }
actions:
  - { tool: cancel_order, arguments: { order: W1001 } }
  - { tool: cancel_order, arguments: { order: W1002 } }
`;
  return load({ 'database.json': rows, 'tasks/first.task.yaml': task }, deskTools)
    .diagnostics.filter(({ code }) => /second-value|other-fact/.test(code))
    .map(({ line, code, hint }) => `${line} ${code} ${hint}`);
}

it('a second value that the user asks for, and that the agenda user corrects, is reported', () => {
  expect(found('order: W1001', 'Cancel W1001 and W1002.')).toEqual([
    '9 task/second-value Add a fact for the second value to user.known, such as other_order: W1002.',
  ]);
  expect(found('order: W1001', 'Cancel W1001.')).toEqual([
    '9 task/other-fact Correct one of them. For a second order, name W1002 in the goal and add other_order: W1002 to user.known.',
  ]);
});

it('a second value with a fact of another name is right', () => {
  expect(found('order: W1001, other_order: W1002', 'Cancel W1001 and W1002.')).toEqual([]);
});
