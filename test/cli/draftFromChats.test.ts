import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { GoldAction, Task } from '../../src/engine/core/domain/task.ts';
import { canonicalJson, type JsonObject } from '../../src/engine/core/values/json.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { readRecording } from '../../src/engine/shell/records/recording.ts';
import { folderOf } from '../engine/shell/load/domainFolder.ts';
import { approveDomain } from '../support/approval.ts';
import { importChats, jsonl } from '../support/chatLog.ts';
import { mcpDomain } from '../support/mcpDomain.ts';
import { modelServer } from '../support/modelServer.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const fresh = () => temporaryFolder('drafts');

/** Copies a sample domain without its tasks. */
function withoutTasks(name: string): string {
  const folder = join(fresh(), name);
  cpSync(join('domains', name), folder, { recursive: true });
  rmSync(join(folder, 'tasks'), { recursive: true });
  mkdirSync(join(folder, 'tasks'));
  return folder;
}

type Message = { readonly role: 'user' | 'assistant'; readonly content: string };

/** Returns the messages of a run's recordings, without anything else. */
function messagesOf(run: string): readonly { readonly id: string; readonly messages: readonly Message[] }[] {
  const names = readdirSync(run).filter((name) => name.endsWith('.traj.jsonl'));
  return names.sort().map((name) => ({
    id: name.replace('.0.traj.jsonl', ''),
    messages: readRecording(join(run, name)).lines.flatMap(({ event }): readonly Message[] => {
      if (event.type === 'userReplied' && !event.toolCalls && event.content)
        return [{ role: 'user', content: event.content }];
      const isSaid = event.type === 'agentReplied' && event.toolCalls.length === 0;
      return isSaid && event.content ? [{ role: 'assistant', content: event.content }] : [];
    }),
  }));
}

type Drafts = {
  readonly sound: number;
  readonly files: readonly string[];
  readonly sources: readonly { readonly id: string; readonly todos: readonly string[] }[];
  readonly drafts: readonly {
    readonly id: string;
    readonly passes: boolean;
    readonly findings: readonly { readonly code: string }[];
  }[];
};

/** Imports conversations into a domain and drafts tasks of them. */
async function drafted(domain: string, chats: readonly object[]) {
  const { code: read, run } = await importChats(domain, jsonl(...chats));
  expect(read).toBe(0);
  const { code, out } = await rehearsal('draft', 'from-chats', run, '--json');
  const found = JSON.parse(out) as Drafts;
  const tasks = found.files
    .filter((name) => name.endsWith('.task.yaml'))
    .flatMap((name) => {
      const read: Task | readonly Task[] = parse(readFileSync(name, 'utf8'));
      return Array.isArray(read) ? (read as readonly Task[]) : [read as Task];
    });
  return { ...found, code, tasks, run };
}

/** Returns the calls that change something, without arguments that were masked. */
function deeds(
  actions: readonly Pick<GoldAction, 'tool' | 'arguments'>[],
  writes: ReadonlySet<string>,
): readonly string[] {
  return actions
    .filter(({ tool }) => writes.has(tool))
    .map(({ tool, arguments: { address: _, serial: __, ...rest } }) => `${tool} ${canonicalJson(rest as JsonObject)}`)
    .sort();
}

/** Returns the drafts from a sample domain's own recordings, reduced to their messages. */
async function fromOwnRecordings(name: string, writes: readonly string[]) {
  const run = join(fresh(), 'gold');
  expect((await rehearsal('eval', join('domains', name), '--agent', 'gold', '--out', run)).code).toBe(0);
  const chats = messagesOf(run);
  const domain = withoutTasks(name);
  const found = await drafted(domain, chats);
  const originals = new Map(loadDomain(join('domains', name)).tasks.map((task) => [task.id, task]));
  const isSame = ({ id, actions = [] }: Task) => {
    const original = originals.get(id);
    return (
      JSON.stringify(deeds(actions, new Set(writes))) ===
      JSON.stringify(deeds(original?.actions ?? [], new Set(writes)))
    );
  };
  return { ...found, domain, originals, same: found.tasks.filter(isSame).length };
}

const orderWrites = [
  'change_item',
  'change_address',
  'change_payment',
  'cancel_order',
  'return_item',
  'exchange_item',
  'transfer_to_human',
];

const parcelWrites = ['redirect', 'reschedule', 'report'];
const lineWrites = [
  'unlock_port',
  'register_router',
  'reset_login',
  'set_profile',
  'send_payment_request',
  'resume_line',
  'change_plan',
  'transfer_to_human',
  'restart_router',
  'enter_login',
  'set_wifi_channel',
  'update_firmware',
  'accept_payment',
];

/** Accepts the tasks that pass the audit, and expects the gold seat to play each of them with reward 1. */
async function expectRehearsed(domain: string, count: number): Promise<void> {
  const accepted = await rehearsal('draft', 'accept', domain, '--all', '--json');
  expect(
    JSON.parse(accepted.out).accepted.filter(({ kind }: { readonly kind: string }) => kind === 'task'),
  ).toHaveLength(count);
  const again = join(fresh(), 'again');
  const rehearsed = await rehearsal('eval', domain, '--agent', 'gold', '--out', again, '--gate', 'reward>=1');
  expect(rehearsed).toMatchObject({
    code: 0,
    out: expect.stringContaining(`${count} scored of ${count}, mean reward 1.000`),
  });
}

inFullSuite('recordings of order-desk, reduced to their words, become tasks that pass the audit', async () => {
  const { tasks, sound, drafts, same, sources, originals, domain } = await fromOwnRecordings('order-desk', orderWrites);
  expect(tasks).toHaveLength(60);
  // The three conversations that keep only a request, because the agent handed over with a call, are marked so.
  expect({ sound, same }).toEqual({ sound: 57, same: 57 });
  const open = sources.filter(({ todos }) => todos.length > 0).map(({ id }) => id);
  expect(open).toEqual(drafts.filter(({ passes }) => !passes).map(({ id }) => id));
  for (const { id, passes, findings } of drafts) {
    // For a parcel that is called back, the rules require the hand-over, too.
    const codes = findings.map(({ code }) => code).filter((code) => passes || code !== 'task/gold-violates');
    expect(codes.sort(), id).toEqual(passes ? [] : ['task/nothing-to-do', 'task/todo']);
  }
  const behaving = (key: 'change' | 'insist') => ({
    original: [...originals.values()]
      .filter(({ user }) => user[key])
      .map(({ id }) => id)
      .sort(),
    found: tasks
      .filter(({ user }) => user[key])
      .map(({ id }) => id)
      .sort(),
  });
  for (const key of ['change', 'insist'] as const) expect(behaving(key).found).toEqual(behaving(key).original);
  await expectRehearsed(domain, 57);
});

inFullSuite('recordings of parcel-desk, reduced to their words, become tasks that pass the audit', async () => {
  const { tasks, sound, drafts, same, domain } = await fromOwnRecordings('parcel-desk', parcelWrites);
  expect({ tasks: tasks.length, sound, same }).toEqual({ tasks: 96, sound: 96, same: 96 });
  expect(drafts.flatMap(({ findings }) => findings)).toEqual([]);
  await expectRehearsed(domain, 96);
});

inFullSuite(
  'recordings of help-line become tasks with the actions of users, except hand-overs without a message',
  async () => {
    const { tasks, sound, drafts, same, sources, domain } = await fromOwnRecordings('help-line', lineWrites);
    expect({ tasks: tasks.length, sound, same }).toEqual({ tasks: 46, sound: 42, same: 42 });
    const open = sources.filter(({ todos }) => todos.length > 0).map(({ id }) => id);
    expect(open).toEqual(drafts.filter(({ passes }) => !passes).map(({ id }) => id));
    for (const { id, passes, findings } of drafts)
      expect(
        findings.map(({ code }) => code),
        id,
      ).toEqual(passes ? [] : ['task/todo']);
    await expectRehearsed(domain, 42);
  },
);

const libraryWrites = [
  'renew_loan',
  'record_lost',
  'pay_fee',
  'reserve_book',
  'cancel_reservation',
  'book_room',
  'suggest_purchase',
];

inFullSuite('recordings of library-desk, whose members name titles in place of ids, become tasks', async () => {
  const { tasks, sound, drafts, same, sources, domain } = await fromOwnRecordings('library-desk', libraryWrites);
  // Two are questions that need no action.
  expect({ tasks: tasks.length, sound, same }).toEqual({ tasks: 24, sound: 22, same: 24 });
  const open = sources.filter(({ todos }) => todos.length > 0).map(({ id }) => id);
  expect(open).toEqual(drafts.filter(({ passes }) => !passes).map(({ id }) => id));
  await expectRehearsed(domain, 22);
});

const said = (...texts: readonly string[]) =>
  texts.map((content, index): Message => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));

/** Conversations of people with another agent than the gold seat. */
const written = {
  cancels: said(
    'hey there, boris tanaka here (boris.tanaka@example.com). i dont need the stuff from W1001 anymore, can u cancel?',
    "Thanks, Boris! I've found order W1001 (headphones and a throw blanket). I would cancel the whole order because it is no longer needed. Do you want me to proceed?",
    'yes go ahead',
    'All done! Order W1001 has been cancelled and the refund is on its way within 5 to 7 business days.',
    'perfect, bye',
  ),
  redirects: said(
    'Hello, this is Jonas Iyer. Something about my delivery.',
    'Hi Jonas! Could you give me your email address, please?',
    'jonas.iyer@example.com',
    'Thank you. Which order is it about?',
    'W1003. It should go to 9 Quay Street, Ashford instead.',
    'Sure. Shall I update the delivery address of W1003 to 9 Quay Street, Ashford?',
    'Yes please',
    'I have updated the address of W1003 to 9 Quay Street, Ashford. Is there anything else?',
    'No, that is all. Thanks.',
  ),
  asks: said(
    'Hi, what is the status of my order W1001? My email is boris.tanaka@example.com',
    'Your order W1001 is pending. It comes to 131.9 in total.',
    'ok thanks, bye',
  ),
};

inFullSuite(
  'a conversation without tool calls is drafted from its text; what the user said and left out becomes the user',
  async () => {
    const domain = withoutTasks('order-desk');
    const chats = Object.entries(written).map(([id, messages]) => ({ id, messages }));
    const { tasks, drafts, sources } = await drafted(domain, chats);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    expect(byId.get('cancels')?.actions?.at(-1)).toEqual({
      tool: 'cancel_order',
      arguments: { order_id: 'W1001', reason: 'no longer needed' },
    });
    expect(byId.get('redirects')?.actions?.map(({ tool }) => tool)).toEqual([
      'find_customer_by_email',
      'get_order',
      'change_address',
    ]);
    expect(byId.get('redirects')?.user).toMatchObject({
      opening: 'Hello, this is Jonas Iyer. Something about my delivery.',
      known: { email: 'jonas.iyer@example.com', order_id: 'W1003', name: 'Jonas Iyer' },
    });
    expect(byId.get('redirects')?.persona).toBe('forgetful');
    expect(byId.get('asks')?.communicate).toEqual(['pending', '131.9']);
    expect(sources.flatMap(({ todos }) => todos)).toEqual([]);
    expect(
      drafts
        .filter(({ passes }) => passes)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['asks', 'cancels', 'redirects']);
  },
);

inFullSuite('with the calls in the log, those are the gold actions', async () => {
  const call = (id: string, name: string, given: object) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(given) } }],
  });
  const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
  const messages = [
    { role: 'user', content: 'Boris Tanaka, boris.tanaka@example.com. Cancel W1001, I ordered it by mistake.' },
    call('1', 'find_customer_by_email', { email: 'boris.tanaka@example.com' }),
    result('1', '{"customer_id":"C101","name":"Boris Tanaka"}'),
    call('2', 'get_order', { order_id: 'W9' }),
    result('2', 'Error: there is no order "W9"'),
    call('3', 'get_order', { order_id: 'W1001' }),
    result('3', '{"status":"pending"}'),
    { role: 'assistant', content: 'Shall I cancel W1001?' },
    { role: 'user', content: 'Yes.' },
    call('4', 'cancel_order', { order_id: 'W1001', reason: 'ordered by mistake' }),
    result('4', '{"status":"cancelled"}'),
    { role: 'assistant', content: 'Done.' },
  ];
  const { tasks, sound } = await drafted(withoutTasks('order-desk'), [{ id: 'mistake', messages }]);
  expect(tasks[0]?.actions?.map(({ tool }) => tool)).toEqual(['find_customer_by_email', 'get_order', 'cancel_order']);
  expect(sound).toBe(1);
});

/** Messages of a log: texts by turns, and calls with their results. */
function logged(...parts: readonly (string | readonly [name: string, given: object, result: string])[]) {
  let isUser = false;
  return parts.flatMap((part, at): object[] => {
    if (typeof part === 'string') {
      isUser = !isUser;
      return [{ role: isUser ? 'user' : 'assistant', content: part }];
    }
    const [name, given, content] = part;
    const call = { id: `c${at}`, type: 'function', function: { name, arguments: JSON.stringify(given) } };
    return [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content },
    ];
  });
}

const who = ['find_customer_by_email', { email: 'hugo.okafor@example.com' }, '{"customer_id":"C119"}'] as const;
const order = ['get_order', { order_id: 'W1138' }, '{"status":"pending"}'] as const;
const variants = ['list_variants', { product: 'desk lamp' }, '{"brass":{}}'] as const;
const change = (variant: string) =>
  ['change_item', { order_id: 'W1138', product: 'desk lamp', variant }, JSON.stringify({ variant })] as const;

test('a log with calls: a change of mind stays, unmentioned ids and failed calls do not', async () => {
  const changesMind = logged(
    'Hugo Okafor, hugo.okafor@example.com. Please change the desk lamp in W1138 to white.',
    who,
    order,
    variants,
    'Shall I change the desk lamp in W1138 to white?',
    'Sorry, I would rather have brass.',
    'Shall I change the desk lamp in W1138 to brass?',
    'Yes.',
    change('brass'),
    'Done.',
  );
  const cancelsToo = logged(
    'And cancel W1001, it is no longer needed.',
    'Shall I cancel W1001 because it is no longer needed?',
    'Yes.',
    ['cancel_order', { order_id: 'W1001', reason: 'no longer needed' }, '{}'],
    'Done.',
  );
  const namesNothing = logged(
    'Hugo Okafor, hugo.okafor@example.com. The desk lamp that I ordered should be brass.',
    who,
    ['get_order', { order_id: 'W9' }, 'Order W9 not found'],
    ['get_customer', { customer_id: 'C119' }, '{"name":"Hugo Okafor"}'],
    order,
    variants,
    'Shall I change the desk lamp in W1138 to brass?',
    'Yes.',
    change('brass'),
    'Done.',
  );
  const { tasks, drafts } = await drafted(withoutTasks('order-desk'), [
    { id: 'mind', messages: changesMind },
    { id: 'nothing', messages: namesNothing },
    { id: 'more', messages: [...changesMind, ...cancelsToo] },
  ]);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  expect(byId.get('mind')?.user).toMatchObject({
    known: { order_id: 'W1138', product: 'desk lamp', variant: 'white' },
    change: { when: 'proposed', say: 'Sorry, I would rather have brass.', known: { variant: 'brass' } },
  });
  expect(byId.get('more')?.user.goal).toContain(
    'variant: white). When that is offered you want it otherwise: variant: brass. You want this: cancel order (order id: W1001, reason: no longer needed).',
  );
  const nothing = byId.get('nothing');
  expect(nothing?.user.known).toEqual({
    email: 'hugo.okafor@example.com',
    product: 'desk lamp',
    variant: 'brass',
    name: 'Hugo Okafor',
  });
  expect(nothing?.user.goal).not.toMatch(/W1138|C119/);
  expect(nothing?.actions?.map(({ arguments: given }) => Object.values(given).at(0))).not.toContain('W9');
  const sound = drafts.filter(({ passes }) => passes).map(({ id }) => id);
  expect(sound).toEqual(['mind', 'nothing']);
});

inFullSuite('a log with calls: a change of mind between rows that the user names by their titles', async () => {
  const member = ['find_member', { card: '4471' }, '{"member_id":"M1","name":"Ada Brunner"}'] as const;
  const loans = ['list_loans', { member_id: 'M1' }, '[{"loan_id":"L11"},{"loan_id":"L12"}]'] as const;
  const renewed = ['renew_loan', { loan_id: 'L12' }, '{"loan_id":"L12","due":"2026-03-31"}'] as const;
  const messages = logged(
    'Card 4471. Can I renew The Winter Harbour?',
    'One moment, please.',
    'Actually no, Bread from Scratch.',
    member,
    loans,
    'Shall I renew Bread from Scratch?',
    'Yes.',
    renewed,
    'Done.',
  );
  const both = logged(
    'Card 4471. Please renew Bread from Scratch.',
    member,
    loans,
    'Shall I renew Bread from Scratch?',
    'Yes.',
    renewed,
    'Done. Anything else?',
    'No, but please record The Winter Harbour as lost.',
    'Shall I record The Winter Harbour as lost?',
    'Yes.',
    ['record_lost', { loan_id: 'L11' }, '{"title":"The Winter Harbour","amount":24.5}'],
    'Done.',
  );
  const { tasks, drafts } = await drafted(withoutTasks('library-desk'), [
    { id: 'mind', messages },
    { id: 'both', messages: both },
  ]);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  expect(byId.get('mind')?.user).toMatchObject({
    known: { card: '4471', loan_id: { value: 'L11', say: 'The Winter Harbour' } },
    change: {
      when: 'proposed',
      say: 'Actually no, Bread from Scratch.',
      known: { loan_id: { value: 'L12', say: 'Bread from Scratch' } },
    },
  });
  expect(byId.get('both')?.user.change).toBeUndefined();
  expect(byId.get('both')?.user.goal).toBe(
    'You want this: renew loan (title: Bread from Scratch). You want this: record lost (title: The Winter Harbour).',
  );
  expect(drafts).toContainEqual(expect.objectContaining({ id: 'mind', passes: true, findings: [] }));
});

inFullSuite('words alone: an id that no one tells comes from the look-up, in the row that they name', async () => {
  const renews = (title: string) =>
    said(`Card 4471. Please renew ${title}.`, `Shall I renew ${title}?`, 'Yes.', 'Done. It is due on 2026-03-31 now.');
  const swap = said(
    "Noor Haddad, card 6184. Please cancel my reservation of Numbers at Play and reserve The Clockmaker's Atlas.",
    'Shall I cancel your reservation of Numbers at Play?',
    'Yes.',
    "Done, your reservation of Numbers at Play is cancelled. Shall I reserve The Clockmaker's Atlas for you?",
    'Yes.',
    "Done, The Clockmaker's Atlas is reserved for you.",
  );
  const { tasks, drafts } = await drafted(withoutTasks('library-desk'), [
    { id: 'second', messages: renews('Bread from Scratch') },
    { id: 'none', messages: renews('my loan') },
    { id: 'two', messages: swap },
  ]);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  expect(byId.get('second')?.actions?.slice(-2)).toEqual([
    { tool: 'list_loans', arguments: { member_id: 'M1' } },
    { tool: 'renew_loan', arguments: { loan_id: 'L12' } },
  ]);
  expect(byId.get('none')?.description).toBe(
    'Drafted from a real conversation. TODO: the conversation does not tell the loan_id of renew_loan.',
  );
  expect(byId.get('two')?.actions?.slice(-2)).toEqual([
    { tool: 'cancel_reservation', arguments: { reservation_id: 'R23' } },
    { tool: 'reserve_book', arguments: { member_id: 'M5', book_id: 'B7' } },
  ]);
  for (const id of ['second', 'two'])
    expect(drafts).toContainEqual(expect.objectContaining({ id, passes: true, findings: [] }));
});

/** A domain in which a user names a day, and the write takes the slot that a look-up of the day returns. */
const visits = {
  'domain.yaml': 'name: visits\n',
  'policy.md': '# Visits\n\nAsk before you book.\n',
  'database.json':
    '{"slots":{"T1":{"day":"2026-04-14","taken":false},"T2":{"day":"2026-04-16","taken":false},"T3":{"day":"2026-04-17","taken":false}}}\n',
  'tools.ts': `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { slots: Record<string, { day: string; taken: boolean }> } }>();
export const find_slot = tool({
  description: 'Find a slot.', effect: 'read', input: z.object({ day: z.string() }),
  run: ({ day }, { db }) => ({ slot_id: Object.keys(db.slots).find((id) => db.slots[id]?.day === day) ?? '' }),
});
export const book_slot = tool({
  description: 'Book a slot.', effect: 'write', input: z.object({ slot_id: z.string() }),
  run: ({ slot_id }, { db }) => { db.slots[slot_id]!.taken = true; return { slot_id }; },
});
`,
  'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\n',
};

test('a later request is in the draft, or the draft is not sound', async () => {
  const cancels = 'Your reservation of Numbers at Play is cancelled.';
  const first = ['Card 6184. Please renew Small Boats.', 'Shall I renew Small Boats?', 'Yes.', 'Done.'] as const;
  const { tasks, sources } = await drafted(withoutTasks('library-desk'), [
    { id: 'also', messages: said(...first, 'Please also cancel my reservation of Numbers at Play.', cancels) },
    {
      id: 'reported',
      messages: said(
        'Card 6184. Please cancel my reservation of Numbers at Play.',
        cancels,
        "Please also reserve The Clockmaker's Atlas.",
        "Done, The Clockmaker's Atlas is reserved for you.",
      ),
    },
    {
      id: 'refused',
      messages: said(
        ...first,
        'Can you cancel my reservation of Numbers at Play, too?',
        'I am sorry, I cannot do that.',
      ),
    },
    {
      id: 'undone',
      messages: said(...first, 'Oh no, please undo that, I meant another book.', 'All right, I have taken note of it.'),
    },
    { id: 'thanks', messages: said(...first, 'Thank you, I am glad that I can keep it, too.', 'My pleasure.') },
  ]);
  const writes = (id: string) =>
    tasks.find((task) => task.id === id)?.actions?.flatMap(({ tool }) => (libraryWrites.includes(tool) ? [tool] : []));
  expect(writes('also')).toEqual(['renew_loan', 'cancel_reservation']);
  expect(writes('reported')).toEqual(['cancel_reservation', 'reserve_book']);
  expect(sources.map(({ id, todos }) => [id, todos])).toEqual([
    ['also', []],
    [
      'refused',
      [expect.stringMatching(/^nothing in the actions answers what the user asks for later: "Can you cancel/)],
    ],
    ['reported', []],
    ['thanks', []],
    ['undone', [expect.stringMatching(/^nothing in the actions takes back what the user no longer wants: "Oh no,/)]],
  ]);
});

test('a request that the user takes back is a change of mind, or the draft is not sound', async () => {
  const both = 'Hello, card 6184. Please renew Small Boats and cancel my reservation of Numbers at Play.';
  const cancels = ['Shall I cancel your reservation of Numbers at Play?', 'Yes.', 'Your reservation is cancelled.'];
  const reservations = JSON.stringify(
    ['The Winter Harbour', 'Numbers at Play', 'Letters to a Gardener'].map((title, at) => ({
      reservation_id: `R2${at + 2}`,
      title,
    })),
  );
  const { tasks, sources, drafts } = await drafted(withoutTasks('library-desk'), [
    {
      id: 'done',
      messages: said(both, ...renewed, 'Thanks. Leave the reservation, I will read it after all.', 'Yes.'),
    },
    {
      id: 'same',
      messages: said(
        'Card 6184, I wish to cancel my reservations of Numbers at Play and Letters to a Gardener.',
        'May I have your full name?',
        'Noor Haddad. And not Letters to a Gardener, I want to read that.',
        ...cancels,
      ),
    },
    { id: 'forgotten', messages: said(both, ...renewed, 'Thanks, bye.') },
    { id: 'kept', messages: said(both, ...renewed, 'And the rest?', ...cancels, 'Oh, leave the reservation please.') },
    {
      id: 'proposed',
      messages: logged(
        both.replace('Hello', 'Good day'),
        ['find_member', { card: '6184' }, '{"member_id":"M5","name":"Noor Haddad"}'],
        ['list_reservations', { member_id: 'M5' }, reservations],
        cancels[0] ?? '',
        'Yes.',
        ['cancel_reservation', { reservation_id: 'R23' }, '{"reservation_id":"R23"}'],
        'Your reservation is cancelled. Shall I renew Small Boats?',
        'Yes, and leave the reservation as it is.',
        ['list_loans', { member_id: 'M5' }, '[{"loan_id":"L17","title":"Small Boats","due":"2026-03-16"}]'],
        ['renew_loan', { loan_id: 'L17' }, '{"loan_id":"L17","due":"2026-04-06"}'],
        'Done, Small Boats is due on 2026-04-06 now.',
        'Thanks, bye.',
      ),
    },
    { id: 'whole', messages: said(both.replace('Hello', 'Hi'), ...renewed, 'And the rest?', ...cancels, 'Thanks.') },
  ]);
  const writes = tasks.map(({ id, user: { change }, actions = [] }) => [
    id,
    actions.flatMap(({ tool }) => (libraryWrites.includes(tool) ? [tool] : [])),
    change && [change.when, change.say],
  ]);
  const whole = ['renew_loan', 'cancel_reservation'];
  expect(writes).toEqual([
    ['done', ['renew_loan'], ['done', 'Thanks. Leave the reservation, I will read it after all.']],
    ['forgotten', ['renew_loan'], undefined],
    ['kept', whole, undefined],
    ['proposed', whole.toReversed(), undefined],
    ['same', ['cancel_reservation'], ['proposed', 'Noor Haddad. And not Letters to a Gardener, I want to read that.']],
    ['whole', whole, undefined],
  ]);
  expect(sources.flatMap(({ todos }) => todos)).toEqual([
    'nothing in the actions answers what the user asks for: "cancel my reservation of Numbers at Play"',
    'nothing in the actions takes back what the user no longer wants: "Oh, leave the reservation please."',
    'nothing in the actions takes back what the user no longer wants: "Yes, and leave the reservation as it is."',
  ]);
  const sound = tasks.filter(({ id }) => drafts.some((draft) => draft.id === id && draft.passes));
  expect(sound.map(({ id }) => id)).toEqual(['done', 'same', 'whole']);
});

const renewed = ['Shall I renew Small Boats?', 'Yes.', 'Done, Small Boats is due on 2026-04-06 now.'];

inFullSuite('the goal of a draft has a request whose row the user names loosely', async () => {
  const { tasks } = await drafted(withoutTasks('library-desk'), [
    {
      id: 'boats',
      messages: logged(
        'Hi there.',
        'Good morning! What is the number of your library card?',
        'It is card 6184.',
        ['find_member', { card: '6184' }, '{"member_id":"M5","name":"Noor Haddad"}'],
        'Thank you. What can I do for you?',
        'Renew my boats book please',
        ['list_loans', { member_id: 'M5' }, '[{"loan_id":"L17","title":"Small Boats","due":"2026-03-16"}]'],
        'Shall I renew Small Boats?',
        'yes',
        ['renew_loan', { loan_id: 'L17' }, '{"loan_id":"L17","title":"Small Boats","due":"2026-04-06"}'],
        'Done, Small Boats is due on 2026-04-06.',
        'ok bye',
      ),
    },
  ]);
  expect(tasks[0]?.user.goal).toBe(
    'You want this: renew loan. What you want, in your own words: "Renew my boats book please"',
  );
});

test('a log with calls: a change of mind has only what the user said', async () => {
  const booking = (name: string) =>
    logged(
      'Hello, card 3345. The Map Room on Saturday afternoon, please.',
      ['find_member', { card: '3345' }, '{"member_id":"M6","name":"Peter Amsler"}'],
      ['list_rooms', { day: 'Saturday' }, '[{"room_id":"X2","name":"Attic Room"},{"room_id":"X3","name":"Map Room"}]'],
      'Shall I book the Map Room on Saturday afternoon for you?',
      `Oh, I have a class then. Make it ${name === 'Map Room' ? '' : `the ${name} in `}the morning instead.`,
      `Shall I book the ${name} on Saturday morning?`,
      'Yes please.',
      [
        'book_room',
        { member_id: 'M6', room_id: name === 'Map Room' ? 'X3' : 'X2', day: 'Saturday', time: 'morning' },
        '{"booking_id":"K77777777"}',
      ],
      'Done. Anything else?',
      'No thanks, bye.',
    );
  const { tasks } = await drafted(withoutTasks('library-desk'), [
    { id: 'time', messages: booking('Map Room') },
    { id: 'room', messages: booking('Attic Room') },
  ]);
  const [time, room] = ['time', 'room'].map((id) => tasks.find((task) => task.id === id)?.user);
  expect(time?.change?.known).toEqual({ time: 'morning' });
  expect(time?.known).toEqual({ card: '3345', day: 'Saturday', name: 'Map Room', time: 'afternoon' });
  expect(time?.goal).toBe(
    'You want this: book room (name: Map Room, day: Saturday, time: afternoon). When that is offered you want it otherwise: time: morning.',
  );
  const [former, later] = [
    { value: 'X3', say: 'Map Room' },
    { value: 'X2', say: 'Attic Room' },
  ];
  expect(room?.change?.known).toEqual({ room_id: later, time: 'morning' });
  expect(room?.known).toEqual({ card: '3345', day: 'Saturday', room_id: former, time: 'afternoon' });
  expect(room?.goal).toBe(
    'You want this: book room (name: Map Room, day: Saturday, time: afternoon). When that is offered you want it otherwise: name: Attic Room, time: morning.',
  );
});

inFullSuite('a log with calls: a change of mind about what only a look-up takes', async () => {
  const found = (day: string, slot_id: string) => ['find_slot', { day }, JSON.stringify({ slot_id })] as const;
  const booked = (slot_id: string) => ['book_slot', { slot_id }, JSON.stringify({ slot_id })] as const;
  const changesMind = [
    'A visit on 2026-04-16, please.',
    found('2026-04-16', 'T2'),
    'The first hour is free on 2026-04-16.',
    'Hmm, actually no, 2026-04-14 would be better.',
    found('2026-04-14', 'T1'),
    'Shall I book the slot on 2026-04-14?',
    'Yes.',
    booked('T1'),
    'Done.',
  ] as const;
  const both = [
    ...changesMind.slice(0, 3),
    'Actually, I need 2026-04-14 as well.',
    found('2026-04-14', 'T1'),
    'Shall I book the slots on 2026-04-16 and 2026-04-14?',
    'Yes.',
    booked('T2'),
    booked('T1'),
    'Done.',
  ] as const;
  const { tasks, drafts } = await drafted(folderOf(visits), [
    { id: 'mind', messages: logged(...changesMind) },
    { id: 'both', messages: logged(...both) },
  ]);
  const [mind, other] = ['mind', 'both'].map((id) => tasks.find((task) => task.id === id));
  expect(mind?.user).toMatchObject({
    known: { day: '2026-04-16' },
    change: { when: 'proposed', say: changesMind[3], known: { day: '2026-04-14' } },
  });
  expect(mind?.actions?.map(({ arguments: given }) => Object.values(given))).toEqual([['2026-04-14'], ['T1']]);
  expect(other?.user.change).toBeUndefined();
  expect(other?.actions).toHaveLength(4);
  expect(drafts).toContainEqual(expect.objectContaining({ id: 'mind', passes: true, findings: [] }));
});

/** A domain whose tools have their own texts for refusals, and take lists and objects. */
const rooms = {
  'domain.yaml': 'name: rooms\n',
  'policy.md': '# Rooms\n\nAsk before you book.\n',
  'database.json': '{"rooms":{"X3":{"name":"Map Room","booked":{}}}}\n',
  'tools.ts': `import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { rooms: Record<string, { name: string; booked: object }> } }>();
export const find_room = tool({
  description: 'Find a room.', effect: 'read', input: z.object({ name: z.string() }),
  run: ({ name }, { db }) => {
    const found = Object.entries(db.rooms).find(([, room]) => room.name === name);
    if (!found) throw new ToolError(\`nothing is called \${name}\`);
    return { room_id: found[0], name };
  },
});
export const book = tool({
  description: 'Book a room.', effect: 'write',
  input: z.object({ room_id: z.string(), hours: z.number(), slot: z.object({ day: z.string(), part: z.string() }) }),
  run: ({ room_id, hours, slot }, { db }) => { db.rooms[room_id]!.booked = { hours, slot }; return { room_id, hours }; },
});
export const transfer_to_human = tool({
  description: 'Hand over.', effect: 'write', handsOff: true, input: z.object({ summary: z.string() }), run: () => 'ok',
});
`,
  'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\n',
};

const book = (hours: number, part: string) =>
  [
    'book',
    { room_id: 'X3', hours, slot: { day: 'Saturday', part } },
    JSON.stringify({ room_id: 'X3', hours }),
  ] as const;

inFullSuite(
  'a log with calls: structured changes, refusals in plain words, and a name that is not that of a person',
  async () => {
    const wavers = logged(
      'Hi.',
      'How can I help?',
      'The Map Room for 2 hours on Saturday afternoon, please.',
      ['find_room', { name: 'Mop Room' }, 'Nothing is called Mop Room'],
      ['find_room', { name: 'Map Room' }, '{"room_id":"X3","name":"Map Room"}'],
      'Shall I book the Map Room for 2 hours on Saturday afternoon?',
      'Yes.',
      book(2, 'afternoon'),
      'Done, the Map Room is booked for 2 hours.',
      'Sorry, rather 3 hours, in the morning.',
      'Shall I book 3 hours in the morning?',
      'Yes.',
      book(3, 'morning'),
      'Done, the Map Room is booked for 3 hours.',
    );
    const isHandedOver = logged(
      'Hello!',
      'How can I help?',
      'The window of the Map Room is broken, please send a person.',
      ['transfer_to_human', { summary: 'The window is broken.' }, 'ok'],
    );
    const domain = folderOf({ ...rooms, 'tasks/.keep': '' });
    const { tasks, drafts } = await drafted(domain, [
      { id: 'wavers', messages: wavers },
      { id: 'window', messages: isHandedOver },
    ]);
    const [first, second] = tasks;
    expect(first?.actions).toEqual([
      { tool: 'find_room', arguments: { name: 'Map Room' } },
      { tool: 'book', arguments: { room_id: 'X3', hours: 3, slot: { day: 'Saturday', part: 'morning' } } },
    ]);
    expect(first?.user).toMatchObject({
      goal: 'You want this: book (name: Map Room, hours: 2, day: Saturday, part: afternoon). When that is done you want it otherwise: hours: 3, part: morning.',
      known: { hours: 2, part: 'afternoon', name: 'Map Room', day: 'Saturday' },
      change: { when: 'done', known: { hours: 3, part: 'morning' } },
    });
    expect(second?.user.goal).toBe(
      'What you want, in your own words: "The window of the Map Room is broken, please send a person."',
    );
    // The persona is also new: it passes together with its only task.
    const sound = drafts.filter(({ passes }) => passes).map(({ id }) => id);
    expect(sound).toEqual(['seen-brief-omits-changes', 'wavers']);
  },
);

inFullSuite('a log with calls of a server that can be read: its state is compared', async () => {
  const program = createRequire(import.meta.url)
    .resolve('@modelcontextprotocol/server-memory/package.json')
    .replace('package.json', 'dist/index.js');
  const server = `  memory:
    command: ${JSON.stringify(process.execPath)}
    args: [${JSON.stringify(program)}]
    env: { MEMORY_FILE_PATH: "\${instanceFolder}/memory.json" }
    reader: { tool: read_graph }
    writes: [create_entities]
`;
  const domain = approveDomain(mcpDomain('notes', server, '', { 'tasks/a.task.yaml': null, 'tasks/.keep': '' }));
  const messages = logged(
    'Please keep that the lamp is a thing.',
    'Shall I keep that?',
    'Yes.',
    ['create_entities', { entities: [{ name: 'lamp', entityType: 'thing', observations: [] }] }, '[{"name":"lamp"}]'],
    'Done.',
  );
  const { tasks, sound } = await drafted(domain, [{ id: 'keeps', messages }]);
  expect(tasks[0]).toMatchObject({ assertions: [{ in: 'memory', sameAs: 'gold' }], evaluate: ['assertions'] });
  expect(sound).toBe(1);
});

inFullSuite(
  'a log with calls: a result that differs is left to do, and what the customer insists on stays',
  async () => {
    const isOther = logged(
      'Hugo Okafor, hugo.okafor@example.com. Please change the desk lamp in W1138 to brass.',
      who,
      ['get_order', { order_id: 'W1138' }, '{"status":"delayed"}'],
      variants,
      'Shall I change the desk lamp in W1138 to brass?',
      'Yes.',
      change('brass'),
      'Done.',
    );
    const pleads = said(
      'Boris Tanaka, boris.tanaka@example.com. Please cancel half of my order W1001.',
      'I am sorry, I cannot cancel half of an order.',
      'Please make an exception, my daughter is ill.',
      'I am sorry, I cannot do that.',
      'Goodbye then.',
    );
    const { tasks, drafts } = await drafted(withoutTasks('order-desk'), [
      { id: 'other', messages: isOther },
      { id: 'pleads', messages: pleads },
    ]);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    expect(byId.get('other')?.description).toContain(
      'TODO: get_order returns status "delayed" in the conversation and "pending" in the rollout.',
    );
    expect(byId.get('pleads')?.user.insist).toEqual({ say: 'Please make an exception, my daughter is ill.' });
    expect(drafts.filter(({ passes }) => passes)).toEqual([]);
  },
);

inFullSuite('a log with calls: what the customer insists on after a refusal stays, with the amount', async () => {
  const refusal = 'I can book at most 8 hours.';
  const messages = logged(
    'The Map Room for 20 hours, please.',
    ['find_room', { name: 'Map Room' }, '{"room_id":"X3","name":"Map Room"}'],
    refusal,
    'Please, make an exception.',
    refusal,
    'OK, bye.',
  );
  const lexicon = `name: rooms\nlexicon: { refusals: ["${refusal}"] }\n`;
  const domain = folderOf({ ...rooms, 'domain.yaml': lexicon, 'tasks/.keep': '' });
  const { tasks, sources } = await drafted(domain, [{ id: 'pleads', messages }]);
  expect(tasks[0]?.user).toMatchObject({
    known: { name: 'Map Room', hours: 20 },
    insist: { say: 'Please, make an exception.' },
  });
  expect(sources[0]?.todos).toEqual([expect.stringContaining('shows what a correct agent does')]);
});

inFullSuite('a draft whose tool returns an error in plain text is not sound', async () => {
  const folder = withoutTasks('order-desk');
  const tools = join(folder, 'tools.ts');
  const text = readFileSync(tools, 'utf8');
  writeFileSync(
    tools,
    `${text}\nexport const find_shelf = tool({ description: 'Find a shelf.', effect: 'read', input: z.object({ shelf: z.string() }), run: ({ shelf }) => \`No such shelf: \${shelf}\` });\n`,
  );
  writeFileSync(
    join(folder, 'tasks', 'shelf.task.yaml'),
    'id: shelf\ndraft: true\npersona: patient\nuser: { goal: You look for shelf 4., opening: Where is shelf 4?, known: { shelf: "4" } }\nactions: [{ tool: find_shelf, arguments: { shelf: "4" } }]\ncommunicate: [No such shelf]\n',
  );
  const { code, out } = await rehearsal('draft', 'list', folder, '--json');
  const { drafts } = JSON.parse(out) as Drafts;
  expect([code, drafts[0]?.findings]).toMatchObject([
    1,
    [{ code: 'task/gold-fails', message: 'The gold action find_shelf fails: No such shelf: 4.' }],
  ]);
});

inFullSuite('what a conversation does not contain is marked in the draft, and the audit reports it', async () => {
  const vague = said(
    'I am Boris Tanaka, boris.tanaka@example.com. Cancel it.',
    'Shall I cancel your order?',
    'Yes.',
    'I have cancelled it.',
  );
  const { code, tasks, drafts } = await drafted(withoutTasks('order-desk'), [{ id: 'vague', messages: vague }]);
  expect(code).toBe(1);
  expect(tasks[0]?.description).toMatch(/TODO: the conversation does not tell the order_id/);
  expect(drafts[0]?.findings.map(({ code: each }) => each)).toContain('task/todo');
});

inFullSuite(
  'a model is asked for what the words do not tell, and told what does not fit; where it gives nothing, it is left to do',
  async () => {
    const chats = [
      {
        id: 'vague',
        messages: said(
          'Boris Tanaka, boris.tanaka@example.com. Stop it please, I ordered it by mistake.',
          'It is stopped.',
        ),
      },
    ];
    const asked: string[] = [];
    const right = {
      actions: [
        { tool: 'find_customer_by_email', arguments: { email: 'boris.tanaka@example.com' } },
        { tool: 'get_order', arguments: { order_id: 'W1001' } },
        { tool: 'cancel_order', arguments: { order_id: 'W1001', reason: 'ordered by mistake' } },
      ],
    };
    const { url } = await modelServer(({ messages }, nth) => {
      asked.push(messages.at(-1)?.content ?? '');
      return JSON.stringify(nth === 1 ? { actions: [{ tool: 'cancel', arguments: {} }] } : right);
    });
    const first = await drafted(withoutTasks('order-desk'), chats);
    expect(first.sound).toBe(0);
    rmSync(first.files[0] ?? '');
    const { out } = await rehearsal('draft', 'from-chats', first.run, '--model', `openai:m@${url}`, '--json');
    const found = JSON.parse(out) as Drafts;
    expect(asked[1]).toMatch(/could not be used: there is no tool cancel/);
    const task = parse(readFileSync(found.files[0] ?? '', 'utf8')) as Task;
    expect(task.actions).toEqual(right.actions);
    expect(task.description).toMatch(/written by m\.$/);
    expect(found.sound).toBe(1);
    rmSync(found.files[0] ?? '');
    const { url: silent } = await modelServer(() => 'I do not know.');
    const none = JSON.parse(
      (await rehearsal('draft', 'from-chats', first.run, '--model', `openai:m@${silent}`, '--json')).out,
    ) as Drafts;
    expect(none.sources[0]?.todos.at(-1)).toMatch(/the model wrote no calls: m gave no draft/);
    expect(none.sound).toBe(0);
  },
);

inFullSuite('a persona that was drafted before is used again; a new one does not take its name', async () => {
  const domain = withoutTasks('order-desk');
  rmSync(join(domain, 'personas', 'forgetful.persona.yaml'));
  const chats = [{ id: 'redirects', messages: written.redirects }];
  const first = await drafted(domain, chats);
  rmSync(first.files[0] ?? '');
  const again = await drafted(domain, chats);
  const names = (files: readonly string[]) => files.map((file) => basename(file));
  expect(names(first.files)).toEqual(['from-chats.task.yaml', 'seen-brief-omits.persona.yaml']);
  expect(names(again.files)).toEqual(['from-chats.task.yaml']);
  expect(again.tasks[0]?.persona).toBe('seen-brief-omits');
  expect([again.code, again.sound]).toEqual([first.code, first.sound]);
  const file = first.files[1] ?? '';
  writeFileSync(file, readFileSync(file, 'utf8').replace('omits: true', 'insists: true'));
  const other = await drafted(domain, chats);
  expect(names(other.files)).toEqual(['from-chats-2.task.yaml', 'seen-brief-omits-2.persona.yaml']);
  expect(other.tasks[0]?.persona).toBe('seen-brief-omits-2');
});

inFullSuite('a persona is drafted if no persona of the domain behaves so; nothing is overwritten', async () => {
  const domain = withoutTasks('order-desk');
  rmSync(join(domain, 'personas', 'forgetful.persona.yaml'));
  const chats = [{ id: 'redirects', messages: written.redirects }];
  const first = await drafted(domain, chats);
  expect(first.tasks[0]?.persona).toBe('seen-brief-omits');
  const persona = first.files.find((name) => name.endsWith('.persona.yaml')) ?? '';
  expect(parse(readFileSync(persona, 'utf8'))).toMatchObject({ draft: true, behaviours: { omits: true } });
  const again = await rehearsal('draft', 'from-chats', first.run, '--print');
  expect(again.out).toMatch(/id: redirects-2/);
  expect(readdirSync(join(domain, 'tasks'))).toEqual(['from-chats.task.yaml']);
});

inFullSuite('a draft of one imported recording is the same as of its run', async () => {
  const domain = withoutTasks('order-desk');
  const { run, tasks } = await drafted(domain, [{ id: 'cancels', messages: written.cancels }]);
  rmSync(join(domain, 'tasks', 'from-chats.task.yaml'));
  const one = await rehearsal('draft', 'task', join(run, 'cancels.0.traj.jsonl'), '--json');
  const [file = ''] = (JSON.parse(one.out) as Drafts).files;
  expect(parse(readFileSync(file, 'utf8'))).toEqual(tasks[0]);
  const named = await rehearsal('draft', 'task', join(run, 'cancels.0.traj.jsonl'), '--id', 'stop-it', '--print');
  expect(named.out).toMatch(/^id: stop-it$/m);
  const taken = await rehearsal('draft', 'from-chats', run, '--id', 'cancels');
  expect(taken).toMatchObject({ code: 2, err: expect.stringMatching(/the domain already has a task cancels \(/) });
});

let wrongRun = '';
beforeAll(() => {
  wrongRun = fresh();
  writeFileSync(join(wrongRun, 'broken.0.traj.jsonl'), '{\n');
});

test.each(
  sampled(
    [
      ['nothing', () => [], /name the conversations: recordings, or the folder of the run/],
      ['what is not there', () => ['nowhere'], /nowhere: there is no such recording/],
      ['a folder without recordings', () => ['docs'], /docs: this folder has no recordings/],
      ['another file', () => ['package.json'], /package\.json is not a recording .*import the conversations first/],
      ['a recording of no domain', () => [wrongRun], /which domain was it recorded in/],
      ['a broken recording', () => [wrongRun, '--domain', 'domains/order-desk'], /broken\.0\.traj\.jsonl:1: /],
    ],
    4,
  ),
)('drafting from %s is refused in one message', async (_, args, message) => {
  for (const command of [
    ['draft', 'from-chats'],
    ['coverage', 'chats'],
  ]) {
    const { code, out, err } = await rehearsal(...command, ...args());
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
  }
});

test('coverage of nothing is refused', async () => {
  expect(await rehearsal('coverage')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/rehearsal coverage chats RECORDINGS/),
  });
  expect(await rehearsal('coverage', 'runs')).toMatchObject({ code: 2, err: expect.stringMatching(/not "runs"/) });
});

inFullSuite('the report lists the intents of real conversations and the tasks that cover them', async () => {
  const domain = withoutTasks('order-desk');
  writeFileSync(
    join(domain, 'tasks', 'one.task.yaml'),
    readFileSync('domains/order-desk/tasks/lamp-variant.task.yaml', 'utf8'),
  );
  const hours = said('When are you open on Sunday?', 'From ten to four.', 'Thanks.');
  const opening = said('Hi, what are your opening hours? Are you open on Sundays?', 'From ten to four.', 'Thanks.');
  const chats = [
    ...Object.entries(written).map(([id, messages]) => ({ id, messages })),
    {
      id: 'lamp',
      messages: said(
        'I am Hugo Okafor, hugo.okafor@example.com. Please change the desk lamp in W1138 to brass.',
        'Shall I change the desk lamp in W1138 to brass?',
        'Yes.',
        'Done.',
      ),
    },
    { id: 'hours', messages: hours },
    { id: 'opening', messages: opening },
  ];
  const { run } = await importChats(domain, jsonl(...chats));
  const { code, out } = await rehearsal('coverage', 'chats', run, '--json');
  expect(code).toBe(1);
  const { intents } = JSON.parse(out) as {
    readonly intents: readonly {
      readonly tool: string | null;
      readonly label: string;
      readonly requests: readonly string[];
      readonly tasks: readonly string[];
    }[];
  };
  const names = (requests: readonly string[]) =>
    requests.map((path) => path.split('/').at(-1)?.replace('.0.traj.jsonl', '')).sort();
  expect(intents.map(({ tool, requests, tasks }) => [tool, names(requests), tasks])).toEqual(
    expect.arrayContaining([
      ['change_item', ['lamp'], ['lamp-variant']],
      ['cancel_order', ['cancels'], []],
      ['change_address', ['redirects'], []],
      [null, ['hours', 'opening'], []],
    ]),
  );
  const told = await rehearsal('coverage', 'chats', run);
  expect(told.out).toMatch(
    /intents of \d+ conversations without a task\n.*draft a task: npx rehearsal draft from-chats /s,
  );
});
