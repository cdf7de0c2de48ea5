// A synthetic database of a retail domain's shape and size: 500 users, 1,000 orders, 50 products, 2.8 MB of JSON.

/** A small deterministic generator, so that every run measures the same data. */
function stream(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function retailDatabase() {
  const pick = stream(42);
  const digits = (count) => Array.from({ length: count }, () => pick(10)).join('');
  const address = () => ({
    address1: `${pick(999)} Maple Drive`,
    address2: `Suite ${pick(999)}`,
    city: 'Denver',
    country: 'USA',
    state: 'CO',
    zip: digits(5),
  });
  const products = {};
  const items = [];
  for (let p = 0; p < 50; p++) {
    const variants = {};
    for (let v = 0; v < 20; v++) {
      const id = digits(10);
      variants[id] = {
        item_id: id,
        options: { color: 'black', size: 'medium', material: 'stainless steel', capacity: '750ml' },
        available: pick(2) === 0,
        price: pick(50000) / 100,
      };
      items.push({
        name: `Product number ${p}`,
        product_id: `${p}`.padStart(10, '1'),
        item_id: id,
        price: variants[id].price,
        options: variants[id].options,
      });
    }
    products[`P${digits(9)}`] = { name: `Product number ${p}`, product_id: `${p}`.padStart(10, '1'), variants };
  }
  const users = {};
  const orders = {};
  for (let u = 0; u < 500; u++) {
    const id = `first_last_${1000 + u}`;
    users[id] = {
      name: { first_name: 'First', last_name: 'Last' },
      address: address(),
      email: `first.last${1000 + u}@example.com`,
      payment_methods: {
        [`credit_card_${u}`]: { source: 'credit_card', brand: 'visa', last_four: digits(4), id: `credit_card_${u}` },
        [`paypal_${u}`]: { source: 'paypal', id: `paypal_${u}` },
      },
      orders: [],
    };
    for (let o = 0; o < 2; o++) {
      const orderId = `#W${digits(7)}${u * 2 + o}`;
      users[id].orders.push(orderId);
      orders[orderId] = {
        order_id: orderId,
        user_id: id,
        address: address(),
        status: ['pending', 'delivered', 'processed', 'cancelled'][pick(4)],
        items: Array.from({ length: 8 + pick(8) }, () => ({ ...items[pick(items.length)] })),
        fulfillments: [{ tracking_id: [digits(12)], item_ids: [digits(10), digits(10), digits(10)] }],
        payment_history: [
          { transaction_type: 'payment', amount: pick(100000) / 100, payment_method_id: `credit_card_${u}` },
        ],
      };
    }
  }
  return { products, users, orders };
}
