import { expect, it } from 'vitest';
import { deskTools, type Files, load } from '../load/domainFolder.ts';

const task = `- id: cancel
  persona: plain
  user:
    goal: You are Ada Brunner. You want to cancel your order of The Winter Harbour.
    known: { order: W1, author: Ines Falk, postcode: "8004" }
    unknown: [email]
  actions:
    - { tool: find_order, arguments: { order: W1 } }
    - { tool: cancel_order, arguments: { order: W1 } }
  communicate: [before it is shipped]
- id: other
  persona: plain
  user:
    goal: You are Eva Hartmann. You want to cancel order W2.
    known: { order: W2, author: Greta Lund, cover: clear }
    unknown: [email, postcode]
  actions: [{ tool: cancel_order, arguments: { order: W2 } }]
`;

const files: Files = {
  'policy.md': '# Desk\n\n- Only before it is shipped, an order is cancelled. {#confirm}\n',
  'rules.yaml': '- { rule: confirm, check: onlyIf, tools: [cancel_order], condition: args.order != "Small Boats" }\n',
  'database.json': JSON.stringify({
    orders: { W1: { status: 'pending', title: 'The Winter Harbour' }, W2: { status: 'done', title: 'Small Boats' } },
    members: { M1: { name: 'Eva Hartmann' }, M2: { name: 'Rosa Last' } },
    books: {
      B1: { order: 'Small Boats', author: 'Ines Falk', cover: 'clear' },
      B2: { order: 'The Last Ferry', author: 'Greta Lund' },
    },
  }),
  'tasks/first.task.yaml': task,
};

const found = (changed: Files) =>
  load({ ...files, ...changed }, deskTools)
    .diagnostics.filter(({ code }) => /unknown-/.test(code))
    .map(({ line, column, severity, code, hint }) => `${line}:${column} ${severity} ${code} ${hint}`);

it('finds nothing where all is spelled right', () => expect(found({})).toEqual([]));

const tasks = 'tasks/first.task.yaml';

it.each([
  [
    'the name of a fact',
    tasks,
    'author: Ines',
    'auhtor: Ines',
    '5:25 warning task/unknown-fact Did you mean "author"?',
  ],
  ['the value of a fact', tasks, 'Ines Falk', 'Ines Flak', '5:33 warning task/unknown-value Did you mean "Ines Falk"?'],
  ['a short value of a fact', tasks, 'clear', 'cear', '15:52 warning task/unknown-value Did you mean "clear"?'],
  [
    'a value after a change of mind',
    tasks,
    'cover: clear }',
    'cover: clear }\n    change: { when: proposed, say: I want another one., known: { author: Ines Flak } }',
    '16:74 warning task/unknown-value Did you mean "Ines Falk"?',
  ],
  ['an unknown fact', tasks, '[email]', '[emial]', '6:15 warning task/unknown-fact Did you mean "email"?'],
  ['a title in a goal', tasks, 'Winter', 'Wintr', '4:69 warning task/unknown-value Did you mean "Winter"?'],
  ['a lost double letter', tasks, 'Hartmann', 'Hartman', '14:23 warning task/unknown-value Did you mean "Hartmann"?'],
  ['a short name', tasks, 'order W2.', 'the order of Rsoa', '14:65 warning task/unknown-value Did you mean "Rosa"?'],
  [
    'a letter too many in a short name',
    tasks,
    'W2.',
    'of Rossa',
    '14:61 warning task/unknown-value Did you mean "Rosa"?',
  ],
  ['a required text', tasks, 'is shipped', 'is shiped', '10:30 warning task/unknown-value Did you mean "shipped"?'],
  [
    'a value of rows in a rule',
    'rules.yaml',
    'Small',
    'Smal',
    '1:84 warning rule/unknown-value Did you mean "Small Boats"?',
  ],
])('finds %s without an opening', (_, file, right, wrong, finding) => {
  const text = String(files[file]);
  expect(text).toContain(right);
  expect(found({ [file]: text.replace(right, wrong) })).toContain(finding);
});

it.each([
  ['a form of a word', 'The Winter Harbour.', 'The Winter Harbours.'],
  ['a short word', 'You want to cancel', 'At least the rose. Rope? You must lust after'],
  ['another word', 'You want to cancel your order', 'You wish to cancel the wanderer order'],
  ['a name that no other has', 'author: Ines Falk', 'colour: Ines Falk'],
  ['a value that no other has', 'Ines Falk', 'Maud Perrin'],
])('does not find %s', (_, right, other) => {
  expect(found({ [tasks]: task.replace(right, other) })).toEqual([]);
});
