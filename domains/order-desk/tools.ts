import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';
import { evaluate } from './arithmetic.ts';

export type Customer = { name: string; email: string; postcode: string; address: string; payment_methods: string[] };
export type Product = { category: string; variants: Record<string, { price: number; available: boolean }> };
type Item = { product: string; variant: string; price: number; returned?: boolean; exchange_for?: string };
export type Order = {
  customer: string;
  status: 'pending' | 'shipped' | 'delivered' | 'cancelled';
  placed: string;
  delivered?: string;
  address: string;
  items: Item[];
  /** Payments and, as negative amounts, refunds. The first entry is the purchase. */
  payments: { method: string; amount: number }[];
  items_changed?: boolean;
  cancel_reason?: string;
};
type OrderDesk = {
  customers: Record<string, Customer>;
  products: Record<string, Product>;
  orders: Record<string, Order>;
  /** The time of the hand-over to a person, by customer id. */
  handoffs: Record<string, string>;
};

const { tool } = defineTools<{ agent: OrderDesk }>();

const order_id = z.string().describe('Such as "W1004".');
const product = z.string().describe('Name of the product, such as "desk lamp".');
const variant = z.string().describe('One of list_variants, such as "black".');

// Who is asking

export const find_customer_by_email = tool({
  description: 'Authenticate a customer by email address.',
  effect: 'read',
  input: z.object({ email: z.string() }),
  run: ({ email }, { db }) => identify(db, (customer) => same(customer.email, email), `the email ${email}`),
});

export const find_customer_by_name = tool({
  description: 'Authenticate a customer by full name and postcode.',
  effect: 'read',
  input: z.object({ name: z.string().describe('First and last name.'), postcode: z.string() }),
  run: ({ name, postcode }, { db }) =>
    identify(
      db,
      (customer) => same(customer.name, name) && customer.postcode === postcode,
      `the name ${name} in ${postcode}`,
    ),
});

export const get_customer = tool({
  description: 'Address, payment methods and order numbers of a customer.',
  effect: 'read',
  input: z.object({ customer_id: z.string().describe('Such as "C117".') }),
  run: ({ customer_id }, { db }) => {
    const { name, address, payment_methods } = row(db.customers, customer_id, 'customer');
    const orders = Object.keys(db.orders).filter((id) => db.orders[id]?.customer === customer_id);
    return { name, address, payment_methods, orders };
  },
});

// What there is

export const get_order = tool({
  description: 'Everything about an order.',
  effect: 'read',
  input: z.object({ order_id }),
  run: ({ order_id }, { db }) => row(db.orders, order_id, 'order'),
});

export const list_variants = tool({
  description: 'Variants of a product, with prices, and whether they are available.',
  effect: 'read',
  input: z.object({ product }),
  run: ({ product }, { db }) => row(db.products, product, 'product').variants,
});

// Pending orders

export const change_item = tool({
  description: 'Change the variant of an item in a pending order. Works once for an order.',
  effect: 'write',
  input: z.object({ order_id, product, variant }),
  run: ({ order_id, product, variant }, { db }) => {
    const order = pending(db, order_id);
    if (order.items_changed)
      throw new ToolError(`the items of ${order_id} were changed before and cannot change again`);
    const item = itemOf(order, order_id, product);
    const { price } = available(db, item, variant);
    const difference = cents(price - item.price);
    Object.assign(item, { variant, price });
    order.items_changed = true;
    const { method } = purchase(order);
    if (difference !== 0) order.payments.push({ method, amount: difference });
    return { order_id, product, variant, price, difference, settled_with: method };
  },
});

export const change_address = tool({
  description: 'Send a pending order to another address.',
  effect: 'write',
  input: z.object({ order_id, address: z.string().describe('Number and street, town.') }),
  run: ({ order_id, address }, { db }) => {
    pending(db, order_id).address = address;
    return { order_id, address };
  },
});

export const change_payment = tool({
  description: 'Charge a pending order to another payment method of the same customer.',
  effect: 'write',
  input: z.object({ order_id, payment_method: z.string().describe('As get_customer lists it, such as "paypal".') }),
  run: ({ order_id, payment_method }, { db }) => {
    const order = pending(db, order_id);
    onFile(db, order, payment_method);
    for (const payment of order.payments) payment.method = payment_method;
    return { order_id, payment_method };
  },
});

export const cancel_order = tool({
  description: 'Cancel a pending order. The refund goes back the way it was paid.',
  effect: 'write',
  input: z.object({ order_id, reason: z.enum(['no longer needed', 'ordered by mistake']) }),
  run: ({ order_id, reason }, { db }) => {
    const order = pending(db, order_id);
    const { method } = purchase(order);
    const refund = cents(order.payments.reduce((sum, { amount }) => sum + amount, 0));
    order.payments.push({ method, amount: -refund });
    Object.assign(order, { status: 'cancelled', cancel_reason: reason });
    return { order_id, status: order.status, refund, refund_to: method };
  },
});

// Delivered orders

export const return_item = tool({
  description: 'Take an item of a delivered order back and refund it.',
  effect: 'write',
  input: z.object({ order_id, product, refund_to: z.string().describe('A payment method of the customer.') }),
  run: ({ order_id, product, refund_to }, { db, now }) => {
    const order = returnable(db, order_id, now);
    const item = itemOf(order, order_id, product);
    unsettled(item);
    onFile(db, order, refund_to);
    item.returned = true;
    order.payments.push({ method: refund_to, amount: -item.price });
    return { order_id, product, refund: item.price, refund_to };
  },
});

export const exchange_item = tool({
  description: 'Exchange an item of a delivered order for another variant.',
  effect: 'write',
  input: z.object({ order_id, product, variant }),
  run: ({ order_id, product, variant }, { db, now }) => {
    const order = returnable(db, order_id, now);
    const item = itemOf(order, order_id, product);
    unsettled(item);
    const difference = cents(available(db, item, variant).price - item.price);
    item.exchange_for = variant;
    const { method } = purchase(order);
    if (difference !== 0) order.payments.push({ method, amount: difference });
    return { order_id, product, exchange_for: variant, difference, settled_with: method };
  },
});

// Generic tools

export const think = tool({
  description: 'Write down a thought. The customer does not see it, and it changes nothing.',
  effect: 'read',
  generic: true,
  input: z.object({ thought: z.string() }),
  run: () => 'ok',
});

export const calculate = tool({
  description: 'Value of an arithmetic expression with numbers, + - * / and parentheses.',
  effect: 'read',
  generic: true,
  input: z.object({ expression: z.string().describe('Such as "(49.9 - 34.5) * 2".') }),
  run: ({ expression }) => {
    try {
      return String(cents(evaluate(expression)));
    } catch (error) {
      throw new ToolError(error instanceof Error ? error.message : String(error));
    }
  },
});

export const transfer_to_human = tool({
  description: 'Hand the conversation to a person. It ends your part.',
  effect: 'write',
  generic: true,
  handsOff: true,
  input: z.object({
    customer_id: z.string().optional().describe('Omit it if no customer was authenticated.'),
    summary: z.string().describe('What the customer wants, what was done, and why you cannot do it.'),
  }),
  run: ({ customer_id }, { db, now }) => {
    if (customer_id !== undefined) row(db.customers, customer_id, 'customer');
    db.handoffs[customer_id ?? 'unknown'] = now;
    return 'transferred';
  },
});

function identify(db: OrderDesk, isMeant: (customer: Customer) => boolean, by: string) {
  const found = Object.entries(db.customers).find(([, customer]) => isMeant(customer));
  if (!found) throw new ToolError(`no customer has ${by}`);
  return { customer_id: found[0], name: found[1].name };
}

function row<Row>(table: Record<string, Row>, id: string, kind: string): Row {
  const found = Object.hasOwn(table, id) ? table[id] : undefined;
  if (found === undefined) throw new ToolError(`there is no ${kind} "${id}"`);
  return found;
}

function pending(db: OrderDesk, order_id: string): Order {
  const order = row(db.orders, order_id, 'order');
  if (order.status !== 'pending') throw new ToolError(`${order_id} is ${order.status}; only pending orders can change`);
  return order;
}

function returnable(db: OrderDesk, order_id: string, now: string): Order {
  const order = row(db.orders, order_id, 'order');
  if (order.status !== 'delivered') throw new ToolError(`${order_id} is ${order.status}, not delivered`);
  const days = Math.floor((Date.parse(now) - Date.parse(order.delivered ?? now)) / 86_400_000);
  if (days > 30) throw new ToolError(`${order_id} was delivered ${days} days ago; returns end after 30 days`);
  return order;
}

function itemOf(order: Order, order_id: string, product: string): Item {
  const item = order.items.find((each) => each.product === product);
  if (!item)
    throw new ToolError(
      `${order_id} has no "${product}"; it has ${order.items.map((each) => each.product).join(', ')}`,
    );
  return item;
}

function unsettled(item: Item): void {
  if (item.returned) throw new ToolError(`the ${item.product} was returned before`);
  if (item.exchange_for) throw new ToolError(`the ${item.product} was exchanged before`);
}

function available(db: OrderDesk, item: Item, variant: string) {
  const { variants } = row(db.products, item.product, 'product');
  const found = row(variants, variant, `variant of the ${item.product}`);
  if (variant === item.variant) throw new ToolError(`the ${item.product} is ${variant} already`);
  if (!found.available) throw new ToolError(`the ${item.product} in ${variant} is not available`);
  return found;
}

function onFile(db: OrderDesk, order: Order, method: string): void {
  const { payment_methods } = row(db.customers, order.customer, 'customer');
  if (!payment_methods.includes(method)) {
    throw new ToolError(`${method} is not on file; the customer has ${payment_methods.join(', ')}`);
  }
}

function purchase(order: Order) {
  const [first] = order.payments;
  if (!first) throw new ToolError('the order has no payment');
  return first;
}

const same = (one: string, other: string) => one.trim().toLowerCase() === other.trim().toLowerCase();
const cents = (amount: number) => Math.round(amount * 100) / 100;
