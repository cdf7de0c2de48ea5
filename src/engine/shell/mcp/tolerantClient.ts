import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import * as z from 'zod';

/** A client that requires only the protocol version of what a server says of itself when it starts. */
export class TolerantClient extends Client {
  override request: Client['request'] = (request, schema, options) =>
    super.request(
      request,
      request.method === 'initialize' ? (tolerantStart as unknown as typeof schema) : schema,
      options,
    );
}

/** Nothing else of the answer is needed, so a wrong value of it counts as absent. */
const tolerantStart = z.object({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}).catch({}),
});
