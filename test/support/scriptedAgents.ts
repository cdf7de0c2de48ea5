import { calling, type ModelRequest } from './scriptedModel.ts';

const results = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === 'tool').length;
const agreed = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === 'user').length > 1;

/** Reschedules a parcel according to the policy of the parcel desk. */
export function parcelAgent(request: ModelRequest): string | object {
  const [, parcel = '', day = ''] =
    /(P\d+)\D*?\b(\w+day)\b/.exec(request.messages.find(({ role }) => role === 'user')?.content ?? '') ?? [];
  if (results(request) === 0) return calling(['find_parcel', { parcel }]);
  if (!agreed(request)) return `Shall I bring ${parcel} on ${day}?`;
  return results(request) === 1 ? calling(['reschedule', { parcel, day }]) : `Done, ${parcel} comes on ${day}.`;
}

/** Cancels W1014 of the order desk. It asks first only if its policy says to wait for a yes. */
export function cancellingAgent(request: ModelRequest): string | object {
  const order = { order_id: 'W1014' };
  const reason = 'ordered by mistake';
  const asks = /wait for an explicit\s+yes/.test(request.messages[0]?.content ?? '');
  switch (results(request)) {
    case 0:
      return calling(['find_customer_by_email', { email: 'femi.lindqvist@example.com' }]);
    case 1:
      return calling(['get_order', order]);
    case 2:
      return asks && !agreed(request)
        ? `Shall I cancel W1014 with the reason "${reason}"?`
        : calling(['cancel_order', { ...order, reason }]);
    default:
      return 'Done, W1014 is cancelled. The refund arrives within 5 to 7 business days.';
  }
}
