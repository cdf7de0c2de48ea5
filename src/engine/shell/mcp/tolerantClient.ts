import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InitializeResultSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import type { Json } from '../../core/json.ts';

/** A client that reads null as absent in what a server says of itself when it starts. */
export class TolerantClient extends Client {
  override request: Client['request'] = (request, schema, options) =>
    super.request(
      request,
      request.method === 'initialize' ? (tolerantStart as unknown as typeof schema) : schema,
      options,
    );
}

const tolerantStart = z.preprocess((value) => withoutNulls(value as Json), InitializeResultSchema);

function withoutNulls(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const given = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(given.map(([key, each]) => [key, withoutNulls(each)]));
}
