// One tool call and its answer, of the size that a retail domain has.
export const call = (id) => ({
  type: 'callTool',
  rollout: id % 256,
  id: `call_${id}`,
  name: 'modify_pending_order_items',
  arguments: {
    order_id: '#W2378156',
    item_ids: ['1151293680', '4983901480'],
    new_item_ids: ['7706410293', '7747408585'],
    payment_method_id: 'credit_card_9513926',
  },
});
export const answer = (message) => ({
  type: 'toolReturned',
  rollout: message.rollout,
  id: message.id,
  isError: false,
  result: JSON.stringify({
    order_id: message.arguments.order_id,
    status: 'pending (item modified)',
    items: message.arguments.new_item_ids.map((item) => ({
      item_id: item,
      name: 'Mechanical Keyboard',
      options: { 'switch type': 'clicky', backlight: 'RGB', size: 'full size' },
      price: 272.33,
    })),
    address: { city: 'Denver', zip: '80202', state: 'CO' },
  }),
  patches: [
    {
      op: 'replace',
      path: ['orders', message.arguments.order_id, 'status'],
      value: 'pending (item modified)',
      old: 'pending',
    },
    {
      op: 'replace',
      path: ['orders', message.arguments.order_id, 'items', 0, 'item_id'],
      value: '7706410293',
      old: '1151293680',
    },
    { op: 'replace', path: ['orders', message.arguments.order_id, 'items', 0, 'price'], value: 272.33, old: 341.69 },
    {
      op: 'add',
      path: ['orders', message.arguments.order_id, 'payment_history', 1],
      value: { transaction_type: 'refund', amount: 69.36, payment_method_id: 'credit_card_9513926' },
    },
  ],
});
