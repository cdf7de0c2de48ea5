import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isConfirmation, isProposal, namesValue, recogniser } from '../../../../src/engine/core/dialogue/dialogue.ts';
import { lexiconSchema } from '../../../../src/engine/core/dialogue/lexicon.ts';

const lexicon = lexiconSchema.parse({
  facts: {
    order_id: { label: 'order number', synonyms: ['which order'] },
    email: { label: 'email address' },
    address: { label: 'new address', ask: ['Where should it go?'] },
    day: { label: 'day' },
    reason: { label: 'reason' },
  },
});
const { agent, user } = recogniser(lexicon, ['order_id', 'email', 'address', 'day', 'reason', 'refund_method']);

const proposal = 'I will cancel order W1004 and refund 20.00 to your card. Shall I go ahead?';

it('reads any text: signs of a regular expression are not patterns', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'only',
      'just',
      'the',
      'lamp',
      'and',
      'chair',
      'yes',
      'no',
      'but',
      'instead',
      'to',
      'not',
      'cancel',
    ),
    fc.constantFrom('++', '+1)', '(', '[a', '*', '?', '\\\\', '{2', '|', '^', '$', '.', ',', '🙂'),
  );
  const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
  const any = fc.oneof(
    text,
    word.map((last) => `only the lamp ${last}`),
  );
  fc.assert(
    fc.property(text, any, (said, answer) => {
      user(answer);
      agent(said);
      isConfirmation(answer, said);
      isConfirmation(answer, 'Shall I cancel the lamp and the chair?');
    }),
    { numRuns: 500 },
  );
});

it.each([
  ['Shall I put you on the waiting list for The Four Seasons?', true],
  ['Fine. Shall I put you on the waiting list for The Four Seasons?', true],
  ['I have put you on the waiting list for The Four Seasons.', false],
  ['Who is on the list?', false],
])('a sentence by which a domain proposes a call: %s', (text, isDeclared) => {
  const propose = ['It is sold out. Shall I put you on the waiting list for {concert_id.title}?', '{concert_id}?'];
  const own = lexiconSchema.parse({ tools: { join_waitlist: { propose } } });
  expect([isProposal(text), isProposal(text, own), recogniser(own, []).agent(text).proposes]).toEqual([
    false,
    isDeclared,
    isDeclared,
  ]);
});

describe('namesValue', () => {
  it.each<[string, string, boolean]>([
    ['Shall I cancel #W1004?', 'W1004', true],
    ['cancel w-1004 please', '#W1004', true],
    ['cancel W10045', 'W1004', false],
    ['10 mugs', '10', true],
    ['100 mugs', '10', false],
    ['That costs $1,249.50 in total.', '1249.5', true],
    ['That costs 24.90 EUR.', '24.9', true],
    ['It is 24.', '24', true],
    ['It is 24.5.', '24', false],
    ['to the Front Door', 'front_door', true],
    ['to the **front-door**.', 'front door', true],
    ['two desk lamps', 'desk lamp', true],
    ['two lamps', '2', true],
    ['at 12 Oak Lane, Ashford.', '12 Oak Lane, Ashford', true],
    ['at 12 Oak Ln, Ashford.', '12 Oak Lane, Ashford', true],
    ['at 12 Oak Street, Ashford.', '12 Oak Lane, Ashford', false],
    ['Write to ada.lovelace@example.com.', 'Ada.Lovelace@example.com', true],
    ['call 555 123 4567', '5551234567', true],
    ['rooms 1, 2', '12', false],
    ['on 9 January', '2026-01-09', true],
    ['on January 9th, 2026', '2026-01-09', true],
    ['on 19 January', '2026-01-09', false],
    ['the zip is 02134', '02134', true],
    ['the zip is 2134', '02134', false],
    ['the café in Zürich', 'cafe in zurich', true],
    ['lamp in white, 2 pieces', '{"item":"lamp","quantity":2}', true],
    ['anything', '', true],
  ])('%s names %s: %s', (text, value, named) => {
    expect(namesValue(text, value)).toBe(named);
  });
});

describe('a yes', () => {
  it.each([
    'yes',
    'Yes.',
    'YES please!',
    'Yes, please cancel it, if possible.',
    'Yes, please cancel it. Nothing to add.',
    'yeah, go ahead',
    'Yep that works',
    'Sure',
    'ok',
    'Okay, do it.',
    'Sounds good',
    'Correct.',
    "That's right, thanks.",
    'Please do.',
    'Please proceed',
    'I confirm',
    'yes, please cancel it',
    'Go ahead, no problem',
    'No problem, go ahead.',
    'Absolutely!',
    'Great, yes',
    "yes that's correct",
    'Perfect, please go ahead.',
    'Thanks, yes please',
    'Yes, please. My email is ada@example.com.',
    'Yes, go ahead. How long will it take?',
    'Sure, why not?',
    "Yes, that's fine with me.",
    'y',
    'Yes I do',
    'of course',
    'Confirmed.',
    'Yes, cancel W1004.',
    'Please go ahead and cancel it.',
    'eys please',
    'Yes, I understand it cannot be undone.',
    "I can't wait any longer, so yes, send it.",
    "Yes please, I don't need it anymore.",
    'Ok cancel it then',
    'No objections, book it.',
  ])('%s', (text) => expect(isConfirmation(text, proposal)).toBe(true));
});

describe('a yes to this proposal and to no other', () => {
  const black = 'I will change the kettle of order W1004 to black (89.00). Shall I go ahead?';
  it.each([
    ['Yes, switch it to black.', true],
    ['Yes please, change W1004 to the black one.', true],
    ['Yes, thanks for checking, go ahead with it.', true],
    ['Yes, switch it to white.', false],
    ['Yes, change W1005.', false],
    ['Sure, go ahead with the toaster.', false],
  ])('%s', (text, expected) => expect(isConfirmation(text, black)).toBe(expected));
});

describe('a yes beside the answer to a question', () => {
  const mixed = 'I will upgrade W1004 to express. Shall I do that? And which phone number should the courier call?';
  it.each([
    ["Yes, go ahead. It's 555 0134.", mixed, true],
    ['Yes please. My phone number is 555 0134.', mixed, true],
    ['Yes, upgrade W1005. It is 555 0134.', mixed, false],
    ['Yes. Upgrade W1005, please.', mixed, false],
    ["Yes, go ahead. It's 555 0134.", 'I will upgrade W1004 to express. Shall I do that?', false],
    ['Yes, to 9 Garden Close.', 'I can send W1004 again. Shall I? Where should it go?', false],
  ])('%s to %s: %s', (text, said, expected) => expect(isConfirmation(text, said)).toBe(expected));
});

describe('not a yes', () => {
  it.each([
    'no',
    'No, thanks.',
    'not yet',
    'Yes, but change the address first.',
    'yes, what is the fee?',
    'What is the fee?',
    'Wait, Friday please.',
    'No, Friday is better.',
    'Sorry, make it L4.',
    'ok but make it two',
    'Yes, actually use my other card.',
    'Hold on',
    "I'm not sure",
    'My order number is W1004.',
    '',
    'Yes, and change it to blue instead',
    'maybe',
    "Don't do that.",
    'Never mind.',
    'Thank you, bye!',
    'Sorry, I thought about it again. I would rather have brass.',
    'Please bring P46 on Tuesday.',
    'Can you cancel my order?',
    'yes no',
    "That's not right.",
    'No, that is all, thank you.',
    "Great, that's all.",
    'It is not correct.',
    'Yes, unless it costs extra.',
    'ok wait',
    'I want to cancel my order.',
    'Of course it broke again.',
    'Absolutely terrible service.',
    'Yes, as soon as you tell me the price.',
    'Go ahead and explain it to me first.',
    'I confirmed already with your colleague last week.',
    'Continue to hold, please.',
    'Yes and no.',
    'Fine, but in beige.',
    'Correct me if I am wrong.',
  ])('%s', (text) => expect(isConfirmation(text, proposal)).toBe(false));
});

describe('a proposal', () => {
  it.each([
    'Shall I bring P46 on Tuesday?',
    'I will cancel order W1004. Do you confirm (yes/no)?',
    'I will cancel W1004. Is that correct?',
    'Would you like me to proceed?',
    'Should I go ahead',
    "To confirm: you'd like W1004 cancelled?",
    'Do you want me to cancel it?',
    'Please confirm that I should send it to 9 Garden Close.',
    'I can cancel W1004. Please reply yes to proceed.',
    'Is that okay?',
    'Ready to proceed?',
    'Can you confirm this change?',
    '**Change** W1004 to blue - does that sound good?',
    'shall i cancel it',
    'Please confirm your cancellation of W1004.',
    'Let me know if I should go ahead.',
    'Do I have your permission?',
    'Is it ok if I cancel W1004?',
    'I can send W1012 to 9 Garden Close. Is that right?',
    'ok?',
    'Please confirm.',
    'Do you confirm?',
  ])('%s', (text) => expect(isProposal(text)).toBe(true));
});

describe('not a proposal', () => {
  it.each([
    'I have cancelled order W1004.',
    'What is your order number?',
    'Please confirm your email address.',
    'Could you confirm your order number?',
    'Is there anything else I can help you with?',
    'I will cancel order W1004.',
    'How can I help you?',
    'Shall I help you with anything else?',
    'I can confirm that your order was cancelled.',
    'May I have your email?',
    '',
    'Can I ask why?',
    'Would you like me to help you with something else?',
    'Done, P46 comes on Tuesday.',
    'Which day suits you?',
    'I cannot cancel a shipped order.',
  ])('%s', (text) => expect(isProposal(text)).toBe(false));
});

describe('what an agent asks for', () => {
  it.each<[string, string[]]>([
    ['What is your order number?', ['order_id']],
    ['Could I have your order ID and email address, please?', ['order_id', 'email']],
    ['Please provide the following:\n- Order number\n- E-mail', ['order_id', 'email']],
    ['Which order is it?', ['order_id']],
    ['Where should it go?', ['address']],
    ['sure i can help what is your email', ['email']],
    ['To change your address I need your order number.', ['order_id']],
    ['I need your order number to change the address.', ['order_id']],
    ['Your order number please.', ['order_id']],
    ['Why do you want to cancel?', ['reason']],
    ['When would you like it?', ['day']],
    ['How would you like the refund method to be?', ['refund_method']],
    ['Shall I change the address of order number W1004?', []],
    ['I found order number W1004. What is the new address?', ['address']],
    ['Your order number is W1004.', []],
    ['Could you confirm your email address?', ['email']],
    ['Do you have the order number?', ['order_id']],
    ['What is the new address for order number W1004?', ['address']],
    ['Is there anything else, perhaps another order number?', []],
    ['ORDER NUMBER?', ['order_id']],
    ['May I know the day and the reason?', ['day', 'reason']],
    ["Let's start with your order number.", ['order_id']],
    ['To begin, your order number please, and the email.', ['order_id', 'email']],
  ])('%s', (text, asks) => {
    expect([...agent(text).asks].sort()).toEqual([...asks].sort());
  });
});

describe('other acts of an agent', () => {
  it.each<[string, string]>([
    ['Is there anything else I can do for you?', 'offersMore'],
    ['Done, P46 comes on Tuesday.', 'reportsDone'],
    ['Your order W1004 has been cancelled.', 'reportsDone'],
    ['Booked. Please come ten minutes early. Anything else?', 'reportsDone'],
    ["I've updated the address.", 'reportsDone'],
    ['I am sorry, I cannot do that.', 'refuses'],
    ['That is not allowed under our policy.', 'refuses'],
    ['Transferring you to a human agent now.', 'handsOff'],
    ['A colleague will take over from here.', 'handsOff'],
    ['How can I help you today?', 'asksWish'],
    ["Sorry, I didn't understand that.", 'notUnderstood'],
    ['One moment, please.', 'waits'],
    ['Your order is pending and was placed on 3 January.', 'informs'],
    ['flarb wug blicket', 'nonsense'],
    ['order order order order order order order order order', 'nonsense'],
    ['<tool_call>{"name": "x"}', 'nonsense'],
    ['The the the the of of.', 'nonsense'],
    ['', 'nonsense'],
  ])('%s: %s', (text, act) => {
    const acts = agent(text) as unknown as Record<string, unknown>;
    expect(acts[act]).toBe(true);
  });

  it.each<[string, string]>([
    ["I can't find it without your order number.", 'refuses'],
    ['Once it has been cancelled, I will tell you.', 'reportsDone'],
    ["I can't do anything else for you.", 'offersMore'],
    ['Sure, I can help with that.', 'nonsense'],
    ['Your order is pending and was placed on 3 January.', 'reportsDone'],
  ])('%s: not %s', (text, act) => {
    const acts = agent(text) as unknown as Record<string, unknown>;
    expect(acts[act]).toBe(false);
  });
});

describe("a domain's own sentences", () => {
  const facts = ['order_id'];
  const own = lexiconSchema.parse({
    refusals: ['{order} stays as it is.', "That's where our rules end."],
    handOffs: ['Our depot looks after {parcel} from now on.'],
  });
  const taught = recogniser(own, facts);
  const untaught = recogniser(lexiconSchema.parse({}), facts);

  it.each<[string, 'refuses' | 'handsOff']>([
    ['I hear you, but W1004 stays as it is.', 'refuses'],
    ['The lamp of your order stays as it is!', 'refuses'],
    ['I am sorry. That is where **our rules** end.', 'refuses'],
    ['Thank you for your patience. Our depot looks after P46 from now on.', 'handsOff'],
  ])('%s: %s', (text, act) => {
    expect(taught.agent(text)[act]).toBe(true);
    expect(untaught.agent(text)[act]).toBe(false);
  });

  it.each<[string, 'refuses' | 'handsOff']>([
    ['Nothing stays as it was.', 'refuses'],
    ['Our depot looks after a great many parcels that were lost on their way and found again from now on.', 'handsOff'],
    ['Stays as it is.', 'refuses'],
  ])('%s: not %s', (text, act) => {
    expect(taught.agent(text)[act]).toBe(false);
  });

  it.each(['order-desk', 'parcel-desk'])('are understood in %s', (name) => {
    const file = new URL(`../../../../domains/${name}/domain.yaml`, import.meta.url);
    const lexiconOf = lexiconSchema.parse(parse(readFileSync(file, 'utf8')).lexicon);
    const { agent: understands } = recogniser(lexiconOf, Object.keys(lexiconOf.facts));
    const filled = (phrase: string) => phrase.replace(/\{\w+\}/g, 'W1004');
    expect(lexiconOf.refusals.length).toBeGreaterThan(0);
    expect(lexiconOf.handOffs.length).toBeGreaterThan(0);
    for (const phrase of lexiconOf.refusals) expect(understands(filled(phrase)).refuses, phrase).toBe(true);
    for (const phrase of lexiconOf.handOffs) expect(understands(filled(phrase)).handsOff, phrase).toBe(true);
  });
});

describe('other acts of a user', () => {
  it.each<[string, string, boolean]>([
    ['No, that is wrong.', 'denies', true],
    ['not yet', 'denies', true],
    ['No problem, go ahead.', 'denies', false],
    ['Actually, make it blue.', 'changes', true],
    ['Yes, but use my other card.', 'changes', true],
    ['I want to change my address.', 'changes', false],
    ['What does that cost?', 'asks', true],
    ['how much is it', 'asks', true],
    ['My number is W1004.', 'asks', false],
    ['No, that is all, thanks.', 'closes', true],
    ['Thank you!', 'closes', true],
  ])('%s: %s is %s', (text, act, expected) => {
    expect(user(text)[act as 'asks']).toBe(expected);
  });
});

it('words and facts may be what every object has', () => {
  const words = ['constructor', 'to_string', 'toString', 'hasOwnProperty', '__proto__'];
  const heard = recogniser(lexiconSchema.parse({}), words);
  for (const word of words) {
    expect(heard.agent(`What is your ${word}, please?`)).toEqual(expect.anything());
    expect(heard.user(`My ${word} is the constructor of the email.`)).toEqual(expect.anything());
    expect(namesValue(`the ${word} is red`, `${word} is red`)).toBe(true);
  }
  expect(heard.agent('What is your constructor, please?').asks).toEqual(['constructor']);
});

it('an argument that is not a fact has a name in words', () => {
  expect(recogniser(lexicon, []).labelOf('appointment_id')).toBe('appointment number');
});
