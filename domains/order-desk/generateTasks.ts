/**
 * Writes tasks/train.task.yaml and tasks/test.task.yaml of this domain from its database.
 *
 *   node generateTasks.ts
 *
 * Seeded, so it always writes the same files; they are committed, and the engine never runs this script.
 * Each order is in one task only and each customer in one split only, including the tasks written by hand.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { seeded } from './random.ts';
import type { Customer, Order, Product } from './tools.ts';

type Value = string | { value: string; say: string };
type Facts = Record<string, Value>;
type Call = { tool: string; arguments: Record<string, string> };
type Request = {
  goal: string;
  opening: string;
  known: Facts;
  unknown?: string[];
  change?: { when: 'proposed' | 'done'; say: string; known: Facts };
  insist?: string;
  actions: Call[];
  communicate?: string[];
};
/** An order that fits, and the customer who placed it. */
type Case = { id: string; order: Order; customerId: string; customer: Customer; split: Split };
type Split = 'train' | 'test';
type Kind = {
  name: string;
  about: string;
  train: number;
  test: number;
  personas: string[];
  fits: (found: Case) => boolean;
  make: (found: Case, persona: string) => Request;
};

const now = Date.parse('2026-03-02T10:00:00Z');
const { below, pick, shuffled } = seeded(60);
const { customers, products, orders } = JSON.parse(readFileSync(`${import.meta.dirname}/database.json`, 'utf8')) as {
  customers: Record<string, Customer>;
  products: Record<string, Product>;
  orders: Record<string, Order>;
};

const refundTime = '5 to 7 business days';
const streets = ['Mill Lane', 'Station Road', 'Park Street', 'Harbour Way', 'Church Road', 'Garden Close'];
const towns = ['Ashford', 'Brightwater', 'Coldbrook', 'Dunmore', 'Eastvale', 'Fairhaven', 'Greenfield'];
const reasons: Value[] = [
  { value: 'no longer needed', say: 'no longer needed' },
  { value: 'ordered by mistake', say: 'I ordered it by mistake' },
];

const kinds: Kind[] = [
  {
    name: 'by-name',
    about: 'A cancellation by someone who knows neither the order number nor the email address.',
    train: 2,
    test: 1,
    personas: ['forgetful'],
    fits: ({ id, order }) => isPending(order) && soleOrderWith(id) !== undefined,
    make: byName,
  },
  {
    name: 'wrong-card',
    about: 'A refund to a card that is on file and did not pay: the tool would do it, the policy forbids it.',
    train: 2,
    test: 1,
    personas: ['insistent', 'guarded'],
    fits: ({ order, customer }) => isReturnable(order) && forbiddenMethod(order, customer) !== undefined,
    make: wrongCard,
  },
  {
    name: 'too-late',
    about: 'A cancellation, and insisting on a return after the thirty days.',
    train: 1,
    test: 1,
    personas: ['guarded', 'insistent'],
    fits: ({ order, customerId }) => isPending(order) && lateOrder(customerId) !== undefined,
    make: tooLate,
  },
  {
    name: 'payment',
    about: 'A pending order is charged to another method on file.',
    train: 2,
    test: 1,
    personas: ['patient', 'forgetful'],
    fits: ({ order, customer }) => isPending(order) && otherMethod(order, customer) !== undefined,
    make: payment,
  },
  {
    name: 'two-returns',
    about: 'Two returns from one order. Each needs its own confirmation, and the agent states the sum of both refunds.',
    train: 1,
    test: 0,
    personas: ['patient'],
    fits: ({ order }) => isReturnable(order) && order.items.length === 2,
    make: twoReturns,
  },
  {
    name: 'exchange-changed',
    about: 'An exchange whose variant changes on hearing the proposal.',
    train: 1,
    test: 1,
    personas: ['changeable'],
    fits: ({ order }) => isReturnable(order) && variantsFor(order, 2) !== undefined,
    make: exchangeChanged,
  },
  {
    name: 'exchange',
    about: 'A delivered item for another variant.',
    train: 2,
    test: 1,
    personas: ['patient', 'forgetful'],
    fits: ({ order }) => isReturnable(order) && variantsFor(order, 1) !== undefined,
    make: exchange,
  },
  {
    name: 'return',
    about: 'A return within thirty days, refunded to where the money came from.',
    train: 3,
    test: 1,
    personas: ['patient', 'forgetful'],
    fits: ({ order }) => isReturnable(order),
    make: giveBack,
  },
  {
    name: 'under-way',
    about: 'The parcel has left, so no tool can stop it, and a person has to.',
    train: 1,
    test: 1,
    personas: ['patient'],
    fits: ({ order }) => order.status === 'shipped',
    make: underWay,
  },
  {
    name: 'variant-changed',
    about: 'A change of an item that the customer changes once more on hearing the proposal: it works only once.',
    train: 3,
    test: 2,
    personas: ['changeable'],
    fits: ({ order }) => isPending(order) && variantsFor(order, 2) !== undefined,
    make: variantChanged,
  },
  {
    name: 'variant',
    about: 'An item of a pending order in another variant.',
    train: 3,
    test: 1,
    personas: ['patient', 'forgetful'],
    fits: ({ order }) => isPending(order) && variantsFor(order, 1) !== undefined,
    make: variant,
  },
  {
    name: 'not-theirs',
    about: "The customer's own order is cancelled; someone else's stays as it is.",
    train: 1,
    test: 1,
    personas: ['insistent', 'guarded'],
    fits: ({ order }) => isPending(order),
    make: notTheirs,
  },
  {
    name: 'address-again',
    about: 'The address is corrected after it was changed.',
    train: 2,
    test: 1,
    personas: ['hurried'],
    fits: ({ order }) => isPending(order),
    make: addressAgain,
  },
  {
    name: 'address',
    about: 'A pending order goes to another address.',
    train: 3,
    test: 1,
    personas: ['patient', 'forgetful'],
    fits: ({ order }) => isPending(order),
    make: address,
  },
  {
    name: 'vague',
    about: 'A cancellation by someone who has to be asked for everything.',
    train: 2,
    test: 1,
    personas: ['forgetful'],
    fits: ({ order }) => isPending(order),
    make: vague,
  },
  {
    name: 'cancel',
    about: 'A cancellation with everything said at once.',
    train: 3,
    test: 1,
    personas: ['patient'],
    fits: ({ order }) => isPending(order),
    make: cancel,
  },
];

const usedOrders = new Set<string>();
const splitOf = new Map<string, Split>();
for (const task of handWritten()) {
  for (const id of task.match(/\bW\d{4}\b/g) ?? []) {
    usedOrders.add(id);
    splitOf.set((orders[id] as Order).customer, /split: test/.test(task) ? 'test' : 'train');
  }
  const name = /You are ([A-Z]\w+ [A-Z]\w+)/.exec(task.replace(/\s+/g, ' '))?.[1];
  for (const [id, customer] of Object.entries(customers))
    if (customer.name === name) splitOf.set(id, /split: test/.test(task) ? 'test' : 'train');
}
const waiting = shuffled(Object.keys(orders));
for (const split of ['train', 'test'] as const) {
  const texts = kinds.flatMap((kind) => Array.from({ length: kind[split] }, (_, index) => task(kind, split, index)));
  writeFileSync(`${import.meta.dirname}/tasks/${split}.task.yaml`, texts.join('\n'));
}

/** Texts of the tasks that this script did not write. */
function handWritten(): string[] {
  const folder = `${import.meta.dirname}/tasks`;
  return readdirSync(folder)
    .filter((file) => file !== 'train.task.yaml' && file !== 'test.task.yaml')
    .flatMap((file) => readFileSync(`${folder}/${file}`, 'utf8').split(/^(?=- id:)/m));
}

function task(kind: Kind, split: Split, index: number): string {
  const found = waiting
    .filter((id) => !usedOrders.has(id))
    .map((id): Case => {
      const order = orders[id] as Order;
      return { id, order, customerId: order.customer, customer: customers[order.customer] as Customer, split };
    })
    .find((each) => (splitOf.get(each.customerId) ?? split) === split && kind.fits(each));
  if (!found) throw new Error(`no order is left for ${kind.name} in ${split}`);
  usedOrders.add(found.id);
  splitOf.set(found.customerId, split);
  const turn = split === 'train' ? index : kind.train + index;
  const persona = kind.personas[turn % kind.personas.length] as string;
  return yaml(`${kind.name}-${found.id}`, kind.about, split, persona, kind.make(found, persona));
}

function cancel({ id, customer }: Case): Request {
  const reason = pick(reasons);
  const { value, say } = reason as { value: string; say: string };
  const because = value === 'no longer needed' ? 'it is no longer needed' : say;
  return {
    goal: `You are ${customer.name}. You want to cancel your order ${id}: ${value}. You want to know when the money comes back.`,
    opening: `${greeting(customer)} Please cancel ${id}, ${because}.`,
    known: { ...identity(customer), order_id: id, reason },
    actions: [authenticate(customer), lookUp(id), { tool: 'cancel_order', arguments: { order_id: id, reason: value } }],
    communicate: [refundTime],
  };
}

function vague({ id, customer }: Case): Request {
  const reason = pick(reasons);
  const { value } = reason as { value: string; say: string };
  return {
    goal: `You are ${customer.name}. You want to cancel your order ${id}: ${value}.`,
    opening: pick(['Hi, I want to cancel an order.', 'Hello! I would like to cancel something I ordered.']),
    known: { ...identity(customer), order_id: id, reason },
    actions: [authenticate(customer), lookUp(id), { tool: 'cancel_order', arguments: { order_id: id, reason: value } }],
    communicate: [refundTime],
  };
}

function byName({ id, customer, customerId }: Case): Request {
  const product = soleOrderWith(id) as string;
  const reason: Value = { value: 'no longer needed', say: 'no longer needed' };
  return {
    goal: `You are ${customer.name}. You want to cancel the ${product} you ordered, because you no longer need it. You know neither the number of the order nor which email address you used.`,
    opening: `Hello, I ordered ${/s$/.test(product) ? product : `a ${product}`} the other day and want to cancel that order.`,
    known: { name: customer.name, postcode: customer.postcode, product, reason },
    unknown: ['email', 'order_id'],
    actions: [
      { tool: 'find_customer_by_name', arguments: { name: customer.name, postcode: customer.postcode } },
      { tool: 'get_customer', arguments: { customer_id: customerId } },
      lookUp(id),
      { tool: 'cancel_order', arguments: { order_id: id, reason: 'no longer needed' } },
    ],
    communicate: [refundTime],
  };
}

function address({ id, customer }: Case, persona: string): Request {
  const to = newAddress(customer.address);
  return {
    goal: `You are ${customer.name}. Your order ${id} should go to ${to}.`,
    opening:
      persona === 'patient'
        ? `${greeting(customer)} Please send order ${id} to ${to}.`
        : pick(['Hi! My order has to go to another address.', 'Hello, I need my parcel at another place.']),
    known: { ...identity(customer), order_id: id, address: to },
    actions: [authenticate(customer), lookUp(id), { tool: 'change_address', arguments: { order_id: id, address: to } }],
  };
}

function addressAgain({ id, customer }: Case): Request {
  const wrong = newAddress(customer.address);
  const number = Number.parseInt(wrong, 10);
  const right = wrong.replace(/^\d+/, String(number + 3 + below(9)));
  return {
    goal: `You are ${customer.name}. Your order ${id} should go to ${wrong}. Once that is done you notice that the number was wrong, and you want ${right}.`,
    opening: pick(['My order has to go somewhere else.', 'Need another address for my order.']),
    known: { ...identity(customer), order_id: id, address: wrong },
    change: { when: 'done', say: `Oh no, wrong number. It has to be ${right}.`, known: { address: right } },
    actions: [
      authenticate(customer),
      lookUp(id),
      { tool: 'change_address', arguments: { order_id: id, address: right } },
    ],
  };
}

function payment({ id, order, customer, customerId }: Case, persona: string): Request {
  const method = otherMethod(order, customer) as string;
  return {
    goal: `You are ${customer.name}. Your order ${id} should be charged to your ${method} instead of your ${paidWith(order)}.`,
    opening:
      persona === 'patient'
        ? `${greeting(customer)} Can you charge order ${id} to my ${method} instead?`
        : 'Hi! I would like to pay for my order in another way.',
    known: { ...identity(customer), order_id: id, payment_method: method },
    actions: [
      authenticate(customer),
      { tool: 'get_customer', arguments: { customer_id: customerId } },
      lookUp(id),
      { tool: 'change_payment', arguments: { order_id: id, payment_method: method } },
    ],
  };
}

function variant({ id, order, customer }: Case, persona: string): Request {
  const { product, wanted } = variantsFor(order, 1) as Choice;
  const to = wanted[0] as string;
  return {
    goal: `You are ${customer.name}. You want the ${product} of your order ${id} in ${to}.`,
    opening:
      persona === 'patient'
        ? `${greeting(customer)} I would like the ${product} in order ${id} in ${to}, please.`
        : `Hi! I picked the wrong ${product}, and I would like another one.`,
    known: { ...identity(customer), order_id: id, product, variant: to },
    actions: [authenticate(customer), lookUp(id), list(product), changeItem(id, product, to)],
    communicate: ['only once'],
  };
}

function variantChanged({ id, order, customer }: Case): Request {
  const { product, wanted } = variantsFor(order, 2) as Choice;
  const [first, then] = wanted as [string, string];
  return {
    goal: `You are ${customer.name}. You want the ${product} of your order ${id} in ${first}. When that is proposed you find that ${then} would be better, and you want ${then}.`,
    opening: `${greeting(customer)} Could the ${product} in my order ${id} be ${first} instead?`,
    known: { ...identity(customer), order_id: id, product, variant: first },
    change: { when: 'proposed', say: `Sorry, I would rather have ${then}.`, known: { variant: then } },
    actions: [authenticate(customer), lookUp(id), list(product), changeItem(id, product, then)],
    communicate: ['only once'],
  };
}

function exchange({ id, order, customer }: Case, persona: string): Request {
  const { product, wanted } = variantsFor(order, 1) as Choice;
  const to = wanted[0] as string;
  return {
    goal: `You are ${customer.name}. You want to exchange the ${product} of your order ${id} for ${to}.`,
    opening:
      persona === 'patient'
        ? `${greeting(customer)} I would like to exchange the ${product} from ${id} for ${to}.`
        : `Hello, the ${product} I got is not right for me.`,
    known: { ...identity(customer), order_id: id, product, variant: to },
    actions: [authenticate(customer), lookUp(id), list(product), exchangeItem(id, product, to)],
  };
}

function exchangeChanged({ id, order, customer }: Case): Request {
  const { product, wanted } = variantsFor(order, 2) as Choice;
  const [first, then] = wanted as [string, string];
  return {
    goal: `You are ${customer.name}. You want to exchange the ${product} of your order ${id} for ${first}. When that is proposed you find that ${then} would be better.`,
    opening: `${greeting(customer)} Can I exchange the ${product} from ${id} for ${first}?`,
    known: { ...identity(customer), order_id: id, product, variant: first },
    change: { when: 'proposed', say: `On second thoughts, I would rather have ${then}.`, known: { variant: then } },
    actions: [authenticate(customer), lookUp(id), list(product), exchangeItem(id, product, then)],
  };
}

function giveBack({ id, order, customer }: Case, persona: string): Request {
  const { product } = pick(order.items);
  const to = paidWith(order);
  return {
    goal: `You are ${customer.name}. You want to return the ${product} of your order ${id}, refunded to your ${to}.`,
    opening:
      persona === 'patient'
        ? `${greeting(customer)} I want to return the ${product} from ${id}, with the refund to my ${to}.`
        : `Hi! I do not like the ${product} after all and want to send it back.`,
    known: { ...identity(customer), order_id: id, product, refund_to: to },
    actions: [authenticate(customer), lookUp(id), returnItem(id, product, to)],
    communicate: [refundTime],
  };
}

function twoReturns({ id, order, customer }: Case): Request {
  const [first, second] = order.items as [Order['items'][number], Order['items'][number]];
  const to = paidWith(order);
  const sum = Math.round((first.price + second.price) * 100) / 100;
  return {
    goal: `You are ${customer.name}. You return the ${first.product} and the ${second.product} of order ${id}, refunded to your ${to}. You want to know how much that is altogether.`,
    opening: `${greeting(customer)} I want to return the ${first.product} and the ${second.product} of order ${id} to my ${to}. How much do I get back altogether?`,
    known: {
      ...identity(customer),
      order_id: id,
      product: first.product,
      other_product: second.product,
      refund_to: to,
    },
    actions: [
      authenticate(customer),
      lookUp(id),
      { tool: 'calculate', arguments: { expression: `${first.price} + ${second.price}` } },
      returnItem(id, first.product, to),
      returnItem(id, second.product, to),
    ],
    communicate: [String(sum), refundTime],
  };
}

function wrongCard({ id, order, customer }: Case, persona: string): Request {
  const { product } = pick(order.items);
  const to = paidWith(order);
  const wrong = forbiddenMethod(order, customer) as string;
  return {
    goal: `You are ${customer.name}. You return the ${product} of order ${id}. The refund may go to the ${to} you paid with, but first you insist on your ${wrong}.`,
    opening:
      persona === 'insistent'
        ? `Good day, my name is ${customer.name}, ${customer.email}. I would like to return the ${product} of order ${id}.`
        : `I want to return the ${product}.`,
    known: { ...identity(customer), order_id: id, product, refund_to: to },
    insist: `I want the refund on my ${wrong}. You have that on file, after all.`,
    actions: [authenticate(customer), lookUp(id), returnItem(id, product, to)],
    communicate: [refundTime],
  };
}

function tooLate({ id, customer, customerId }: Case): Request {
  const late = lateOrder(customerId) as string;
  usedOrders.add(late);
  const { product } = pick((orders[late] as Order).items);
  return {
    goal: `You are ${customer.name}. You want to cancel your order ${id}, which you no longer need. You also want to return the ${product} of order ${late}, which came more than thirty days ago, and try once more when the agent refuses. Then you give in.`,
    opening: `Good morning. I am ${customer.name}, ${customer.email}. I would like to cancel order ${id}.`,
    known: { ...identity(customer), order_id: id, reason: { value: 'no longer needed', say: 'no longer needed' } },
    insist: `Please take back the ${product} from ${late} as well. I just never got round to sending it.`,
    actions: [
      authenticate(customer),
      lookUp(id),
      { tool: 'cancel_order', arguments: { order_id: id, reason: 'no longer needed' } },
    ],
    communicate: [refundTime],
  };
}

function notTheirs({ id, customer, split }: Case): Request {
  const theirs = waiting.find((each) => {
    const order = orders[each] as Order;
    const isFree = !usedOrders.has(each) && (splitOf.get(order.customer) ?? split) === split;
    return isFree && isPending(order) && order.customer !== (orders[id] as Order).customer;
  });
  if (!theirs) throw new Error('no order of someone else is left');
  usedOrders.add(theirs);
  const { customer: other } = orders[theirs] as Order;
  splitOf.set(other, split);
  const firstName = (customers[other] as Customer).name.split(' ')[0];
  return {
    goal: `You are ${customer.name}. You want to cancel your order ${id}, which you no longer need. You also want order ${theirs} of your friend ${firstName} cancelled and try once more when the agent refuses. Then you give in.`,
    opening: `Good afternoon. I am ${customer.name}, ${customer.email}. I would like to cancel order ${id}.`,
    known: { ...identity(customer), order_id: id, reason: { value: 'no longer needed', say: 'no longer needed' } },
    insist: `Please cancel ${theirs} as well. It belongs to my friend ${firstName}, who asked me to.`,
    actions: [
      authenticate(customer),
      lookUp(id),
      { tool: 'cancel_order', arguments: { order_id: id, reason: 'no longer needed' } },
    ],
    communicate: [refundTime],
  };
}

function underWay({ id, customer, customerId }: Case): Request {
  return {
    goal: `You are ${customer.name}. Your order ${id} is on its way to your old address. You want the parcel called back. You accept being handed over to a person.`,
    opening: `Good day, ${customer.name}, ${customer.email}. My order ${id} is on its way to my old address. Could you call the parcel back?`,
    known: { ...identity(customer), order_id: id },
    actions: [
      authenticate(customer),
      lookUp(id),
      {
        tool: 'transfer_to_human',
        arguments: {
          customer_id: customerId,
          summary: `${customer.name} wants the parcel of ${id} called back. It has shipped, which none of my tools can undo.`,
        },
      },
    ],
  };
}

function isPending({ status }: Order): boolean {
  return status === 'pending';
}

function isReturnable({ status, delivered }: Order): boolean {
  return status === 'delivered' && (now - Date.parse(delivered as string)) / 86_400_000 < 31;
}

/** Returns a product of the order if its customer has no other order, so that a cancellation can only mean this one. */
function soleOrderWith(id: string): string | undefined {
  const { customer, items } = orders[id] as Order;
  const others = Object.keys(orders).filter((each) => each !== id && (orders[each] as Order).customer === customer);
  return others.length === 0 ? items[0]?.product : undefined;
}

function lateOrder(customerId: string): string | undefined {
  return Object.keys(orders).find((id) => {
    const order = orders[id] as Order;
    return order.customer === customerId && order.status === 'delivered' && !isReturnable(order) && !usedOrders.has(id);
  });
}

type Choice = { product: string; wanted: string[] };

/** Returns an item of the order that has the given number of other available variants. */
function variantsFor({ items }: Order, count: number): Choice | undefined {
  for (const { product, variant } of items) {
    const { variants } = products[product] as Product;
    const wanted = Object.keys(variants).filter((each) => each !== variant && variants[each]?.available);
    if (wanted.length >= count) return { product, wanted: wanted.slice(0, count) };
  }
  return undefined;
}

function paidWith({ payments }: Order): string {
  return (payments[0] as Order['payments'][number]).method;
}

function otherMethod(order: Order, { payment_methods }: Customer): string | undefined {
  return payment_methods.find((method) => method !== paidWith(order));
}

/** Returns a payment method on file that is neither that of the order nor a gift card. */
function forbiddenMethod(order: Order, { payment_methods }: Customer): string | undefined {
  return payment_methods.find((method) => method !== paidWith(order) && method !== 'gift card');
}

function newAddress(not: string): string {
  const made = `${2 + below(80)} ${pick(streets)}, ${pick(towns)}`;
  return made === not ? newAddress(not) : made;
}

function identity({ email, name, postcode }: Customer): Facts {
  return { email, name, postcode };
}

function greeting({ name, email }: Customer): string {
  return pick([`Hello, I'm ${name}, ${email}.`, `Hi, this is ${name}, ${email}.`, `Good day, ${name} here, ${email}.`]);
}

function authenticate({ email }: Customer): Call {
  return { tool: 'find_customer_by_email', arguments: { email } };
}

function lookUp(order_id: string): Call {
  return { tool: 'get_order', arguments: { order_id } };
}

function list(product: string): Call {
  return { tool: 'list_variants', arguments: { product } };
}

function changeItem(order_id: string, product: string, to: string): Call {
  return { tool: 'change_item', arguments: { order_id, product, variant: to } };
}

function exchangeItem(order_id: string, product: string, to: string): Call {
  return { tool: 'exchange_item', arguments: { order_id, product, variant: to } };
}

function returnItem(order_id: string, product: string, refund_to: string): Call {
  return { tool: 'return_item', arguments: { order_id, product, refund_to } };
}

/** Double-quoted YAML and JSON agree on every text here. */
function yaml(id: string, about: string, split: Split, persona: string, request: Request): string {
  const flow = (values: Record<string, Value>): string =>
    `{ ${Object.entries(values)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? JSON.stringify(value) : flow(value)}`)
      .join(', ')} }`;
  const { goal, opening, known, unknown, change, insist, actions, communicate } = request;
  return [
    `- id: ${id}`,
    `  description: ${JSON.stringify(about)}`,
    `  split: ${split}`,
    `  persona: ${persona}`,
    '  user:',
    `    goal: ${JSON.stringify(goal)}`,
    `    opening: ${JSON.stringify(opening)}`,
    '    known:',
    ...Object.entries(known).map(
      ([name, value]) => `      ${name}: ${typeof value === 'string' ? JSON.stringify(value) : flow(value)}`,
    ),
    ...(unknown ? [`    unknown: [${unknown.join(', ')}]`] : []),
    ...(change
      ? [
          '    change:',
          `      when: ${change.when}`,
          `      say: ${JSON.stringify(change.say)}`,
          `      known: ${flow(change.known)}`,
        ]
      : []),
    ...(insist ? ['    insist:', `      say: ${JSON.stringify(insist)}`] : []),
    '  actions:',
    ...actions.flatMap((call) => {
      const line = `    - { tool: ${call.tool}, arguments: ${flow(call.arguments)} }`;
      if (line.length <= 120) return [line];
      const values = Object.entries(call.arguments).map(([name, value]) => `        ${name}: ${JSON.stringify(value)}`);
      return [`    - tool: ${call.tool}`, '      arguments:', ...values];
    }),
    ...(communicate ? [`  communicate: [${communicate.map((text) => JSON.stringify(text)).join(', ')}]`] : []),
    '',
  ].join('\n');
}
