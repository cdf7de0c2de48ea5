import { expect, it } from 'vitest';
import { lexiconSchema } from '../../../../src/engine/core/dialogue/lexicon.ts';
import type { Domain } from '../../../../src/engine/core/domain/domain.ts';
import { type RuleOf, ruleSchema } from '../../../../src/engine/core/domain/rule.ts';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import { confirmed } from '../../../../src/engine/core/rules/confirmed.ts';
import { seenIn } from '../../../../src/engine/core/rules/seen.ts';
import type { Json } from '../../../../src/engine/core/values/json.ts';
import { openDatabase } from '../../../../src/engine/core/world/database.ts';

/** A library: Ada has two books, and another copy of one of them is lent to Ben. */
const database = {
  books: {
    B1: { title: 'The Winter Harbour', year: 1987 },
    B2: { title: 'Salt', year: 1990 },
    B3: { title: 'Of Rivers', year: 2001 },
  },
  members: {
    M1: { name: 'Ada Fontaine', email: 'ada@example.com' },
    M2: { name: 'Ben Costa', email: 'ben@example.com' },
  },
  loans: {
    L1: { book: 'B1', member: 'M1', due: '2026-03-09' },
    L2: { book: 'B2', member: 'M1', due: '2026-03-12' },
    L3: { book: 'B1', member: 'M2', due: '2026-03-20' },
    L4: { book: 'B3', member: 'M2', due: '2026-03-21' },
    L5: { book: 'B3', member: 'M2', due: '2026-03-22' },
  },
};
const tools = [{ name: 'renew', effect: 'write', owner: 'agent', parameters: {} }];
const domain = {
  tools,
  lexicon: lexiconSchema.parse({}),
  phrases: {},
  policy: { text: '' },
  tasks: [],
} as unknown as Domain;
const listed = (...ids: readonly (keyof typeof database.loans)[]) =>
  ids.map((loan) => ({ loan, title: database.books[database.loans[loan].book as 'B1'].title }));
const title = 'db.books[db.loans[args.loan_id].book].title';

type Said = {
  readonly names?: readonly string[];
  readonly loan: string;
  readonly agent: string;
  readonly user?: string;
  readonly list?: Json;
  /** Phrases of the rule beside the English wordings. */
  readonly wordings?: Readonly<Record<'asks' | 'yes' | 'no', string | readonly string[]>>;
};

function verdictOn({
  names = ['loan_id'],
  loan,
  agent,
  user = 'Yes, please.',
  list = listed('L1', 'L2'),
  wordings,
}: Said) {
  const messages: readonly Message[] = [
    { role: 'user', step: 1, content: 'I want to keep a book longer.' },
    { role: 'agent', step: 2, content: null, toolCalls: [{ id: '1', name: 'list_loans', arguments: {} }] },
    { role: 'tool', step: 3, callId: '1', name: 'list_loans', content: JSON.stringify(list), isError: false },
    { role: 'agent', step: 4, content: agent, toolCalls: [] },
    { role: 'user', step: 5, content: user },
  ];
  const world = { agent: openDatabase(database), user: openDatabase({}) };
  const state = {
    messages,
    world,
    started: { now: '2026-03-02T09:00:00Z', task: { id: 'none' } },
    turn: 2,
  } as unknown as RolloutState;
  const rule = ruleSchema.parse({ rule: 'ask', check: 'confirmed', names, ...wordings }) as RuleOf<'confirmed'>;
  const call = { id: '2', name: 'renew', arguments: { loan_id: loan } };
  return confirmed(rule, { type: 'call', call, isFirst: true }, seenIn(domain, state))[0];
}

it.each<[string, Said, boolean]>([
  ['a loan by the title of its book', { loan: 'L1', agent: 'Shall I renew The Winter Harbour?' }, true],
  ['the id itself', { loan: 'L1', agent: 'Shall I renew the loan L1?' }, true],
  ['the other loan by its title', { loan: 'L2', agent: 'Shall I renew The Winter Harbour?' }, false],
  [
    'the other loan, whose title the user asks for',
    { loan: 'L1', agent: 'Shall I renew The Winter Harbour?', user: 'Yes, but Salt instead.' },
    false,
  ],
  ['nothing that names it', { loan: 'L1', agent: 'Shall I renew it for you?' }, false],
  ['the member that both loans belong to', { loan: 'L1', agent: 'Shall I renew a book for Ada Fontaine?' }, false],
  [
    'the member, where one loan alone was listed',
    { loan: 'L2', agent: 'Shall I renew The Winter Harbour for Ada Fontaine?', list: listed('L1') },
    false,
  ],
  ['one of two titles', { loan: 'L1', agent: 'Shall I renew The Winter Harbour or Salt?' }, false],
  [
    'a title that another member has on loan, too',
    { loan: 'L3', agent: 'Shall I renew The Winter Harbour?', list: listed('L3') },
    true,
  ],
  [
    'a title of which the member has two copies',
    { loan: 'L4', agent: 'Shall I renew Of Rivers?', list: listed('L4', 'L5') },
    false,
  ],
  ['a loan that does not exist', { loan: 'L9', agent: 'Shall I renew The Winter Harbour?' }, false],
  ['the value of an expression', { names: [title], loan: 'L1', agent: 'Shall I renew The Winter Harbour?' }, true],
  [
    'the value of an expression for another loan',
    { names: [title], loan: 'L2', agent: 'Shall I renew The Winter Harbour?' },
    false,
  ],
  [
    'an expression, where the user names another value',
    { names: [title], loan: 'L1', agent: 'Shall I renew The Winter Harbour?', user: 'Yes, but Salt instead.' },
    false,
  ],
  ['the id where the title is wanted', { names: [title], loan: 'L1', agent: 'Shall I renew the loan L1?' }, false],
])('%s', (_, said, isHeld) => {
  const found = verdictOn(said);
  expect(found?.verdict, found?.reason).toBe(isHeld ? 'held' : 'violated');
});

it('a value that the proposal leaves out is in the reason', () => {
  const said = { names: [title], loan: 'L2', agent: 'Shall I renew The Winter Harbour?' };
  expect(verdictOn(said)?.reason).toBe(`the proposal did not name ${title} with the value in the call: Salt`);
});

it.each<[string, Said, RegExp]>([
  [
    'the rows that the words could mean, and what they differ in',
    { loan: 'L4', agent: 'Shall I renew Of Rivers?', list: listed('L4', 'L5') },
    /^the proposal named loan_id L4 only as "Of Rivers", which means L4 and L5, which differ in due$/,
  ],
  ['the id, where the words name another row', { loan: 'L4', agent: 'Shall I renew Salt?' }, /did not name loan_id/],
  ['the id, where the words name no row', { loan: 'L4', agent: 'Shall I renew it?' }, /did not name loan_id/],
])('the reason has %s', (_, said, reason) => {
  expect(verdictOn(said)?.reason).toMatch(reason);
});

it('an expression that cannot be evaluated leaves the verdict open', () => {
  const said = {
    names: ['round(db.loans[args.loan_id].book)'],
    loan: 'L1',
    agent: 'Shall I renew The Winter Harbour?',
  };
  expect(verdictOn(said)).toMatchObject({ verdict: 'unknown', reason: expect.stringMatching(/a number, not "B1"/) });
});

const wordings = { asks: ['soll ich', 'einverstanden'], yes: ['ja', 'gerne'], no: ['nicht', 'nein', 'erst'] };

it.each<[agent: string, user: string, verdict: string, reason: RegExp]>([
  ['Soll ich The Winter Harbour verlängern?', 'Ja, bitte.', 'held', /said yes/],
  ['Ich verlängere The Winter Harbour. Einverstanden?', 'Sehr gerne!', 'held', /said yes/],
  ['Soll ich The Winter Harbour verlängern?', 'Ja, aber nicht heute.', 'violated', /says no/],
  ['Soll ich The Winter Harbour verlängern?', 'Yes.', 'held', /said yes/],
  ['Soll ich The Winter Harbour verlängern?', 'Was kostet das?', 'violated', /Was kostet das/],
  ['Soll ich The Winter Harbour verlängern?', 'Ja, und Salt.', 'violated', /named another loan_id/],
  ['Soll ich das Buch verlängern?', 'Ja.', 'violated', /did not name loan_id/],
  ['Shall I renew The Winter Harbour?', 'Ja.', 'held', /said yes/],
  ['The Winter Harbour ist bis Montag geliehen.', 'Ja.', 'violated', /did not ask for a yes/],
])("with the rule's own wordings: %s %s", (agent, user, verdict, reason) => {
  expect(verdictOn({ loan: 'L1', agent, user, wordings })).toMatchObject({
    verdict,
    reason: expect.stringMatching(reason),
  });
});
