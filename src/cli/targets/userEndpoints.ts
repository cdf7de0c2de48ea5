import { throwUnlessAllowed } from '../../engine/shell/keys/keyOrigins.ts';
import { type Endpoint, endpointSchema } from '../../training/trainingProtocol.ts';
import type { Launch } from './target.ts';

/**
 * Throws a `Fault` for an endpoint of a configuration's simulated users that no one answers at or that refuses its key.
 */
export async function throwUnlessUsersServed(
  config: Launch['config'],
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const isAsked = (key: string) => key !== 'evaluate_user' || config['evaluate_every'] !== 0;
  const found = new Map(endpointsIn(config, isAsked).map((each) => [JSON.stringify(each), each]));
  if (found.size === 0) return;
  const { throwUnlessServed } = await import('../../engine/shell/models/openai.ts');
  for (const { base_url: baseUrl, model, api_key_env: keyName = null } of found.values()) {
    allowed(baseUrl, keyName, environment);
    const key = (keyName !== null && environment[keyName]) || '';
    await throwUnlessServed({ type: 'openai', model, baseUrl, keyName }, key, signal);
  }
}

/** Throws a `Fault` where a configuration would send a key to an address that it does not belong to. */
export function throwUnlessKeysAllowed(config: Launch['config'], environment: NodeJS.ProcessEnv): void {
  for (const { base_url: baseUrl, api_key_env: keyName = null } of endpointsIn(config, () => true))
    allowed(baseUrl, keyName, environment);
}

function allowed(url: string, name: string | null, environment: NodeJS.ProcessEnv): void {
  if (name !== null) throwUnlessAllowed({ name, url, namedBy: 'base_url of the training configuration' }, environment);
}

function endpointsIn(value: unknown, isAsked: (key: string) => boolean): readonly Endpoint[] {
  if (typeof value !== 'object' || value === null) return [];
  const { data } = endpointSchema.safeParse(value);
  if (data) return [data];
  return Object.entries(value).flatMap(([key, inner]) => (isAsked(key) ? endpointsIn(inner, isAsked) : []));
}
