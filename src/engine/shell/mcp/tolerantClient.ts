import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { textOrJson } from '../../core/values/json.ts';
import { redacted } from '../keys/secrets.ts';
import { meaningOf, ServerError } from './errors.ts';

/**
 * A client that requires nothing of what a server answers when it starts. It also speaks with a server of an unknown
 * protocol version: what it sends is in all versions, and what it reads need not follow any.
 */
export class TolerantClient extends Client {
  /** The version that the server named, where it is not one of those that the SDK knows. */
  unknownVersion: string | undefined;

  override request: Client['request'] = (request, schema, options) => {
    if (request.method !== 'initialize') return super.request(request, schema, options);
    const start = (params: object = {}) =>
      super.request(
        { ...request, params: { ...request.params, ...params } } as typeof request,
        this.#start as unknown as typeof schema,
        options,
      );
    // A server may refuse a version, and name others, in place of answering with its own.
    return start().catch((error: unknown) => {
      const offered = versionsIn(error);
      const protocolVersion = SUPPORTED_PROTOCOL_VERSIONS.find((each) => offered.includes(each)) ?? offered[0];
      if (protocolVersion === undefined) throw error;
      this.#note(protocolVersion);
      return start({ protocolVersion });
    });
  };

  /** Nothing else of the answer is needed, so a wrong value of it counts as absent. */
  readonly #start = z.object({
    protocolVersion: z
      .unknown()
      .optional()
      .transform((version) => this.#note(version)),
    capabilities: z.looseObject({}).catch({}),
  });

  /** Returns the version that the SDK may take a server's version for. */
  #note(version: unknown): string {
    const isKnown = typeof version === 'string' && SUPPORTED_PROTOCOL_VERSIONS.includes(version);
    const isGiven = version !== undefined && version !== null;
    this.unknownVersion = isKnown || !isGiven ? undefined : textOf(version);
    return isKnown ? version : LATEST_PROTOCOL_VERSION;
  }
}

/** The longest version that a message quotes. */
const longest = 40;

const textOf = (version: unknown) =>
  redacted(textOrJson(version))
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, longest);

const refusalSchema = z.object({ supported: z.array(z.string()) });

/** Returns the protocol versions that a refusal offers in place of the one that was requested. */
function versionsIn(error: unknown): readonly string[] {
  const meant = meaningOf(error);
  const read = refusalSchema.safeParse(meant instanceof ServerError ? meant.data : undefined);
  return read.success ? read.data.supported : [];
}
