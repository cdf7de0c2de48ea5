import { Fault } from '../../engine/shell/fault.ts';
import { type Endpoint, endpointSchema } from '../training/trainingProtocol.ts';
import type { Launch } from './target.ts';
import { environmentFault } from './targetFaults.ts';

/** How long an endpoint may take to say which models it has, in milliseconds. */
const patienceMs = 15_000;

/**
 * Asks the endpoints of a configuration's simulated users which models they have. Throws a `Fault` for one that nobody
 * answers at, and for one that refuses its key; whatever else is answered is left to the first rollout.
 */
export async function throwUnlessUsersAnswer(
  config: Launch['config'],
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const isAsked = (key: string) => key !== 'evaluate_user' || config['evaluate_every'] !== 0;
  const found = new Map(endpointsIn(config, isAsked).map((each) => [JSON.stringify(each), each]));
  for (const endpoint of found.values()) await throwUnlessAnswered(endpoint, environment, signal);
}

function endpointsIn(value: unknown, isAsked: (key: string) => boolean): readonly Endpoint[] {
  if (typeof value !== 'object' || value === null) return [];
  const { data } = endpointSchema.safeParse(value);
  if (data) return [data];
  return Object.entries(value).flatMap(([key, inner]) => (isAsked(key) ? endpointsIn(inner, isAsked) : []));
}

async function throwUnlessAnswered(
  { base_url: baseURL, model, api_key_env: keyName }: Endpoint,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const { OpenAI, APIConnectionError, AuthenticationError, PermissionDeniedError } = await import('openai');
  const apiKey = (keyName === undefined ? '' : environment[keyName]) || 'none';
  const fault = (problem: string) =>
    environmentFault('user/endpoint', `the user's model ${model} at ${baseURL} ${problem}`);
  try {
    await new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: patienceMs }).models.list({ signal });
  } catch (error) {
    if (signal.aborted) throw new Fault({ who: 'infrastructure', code: 'cancelled', message: 'cancelled' });
    if (error instanceof APIConnectionError)
      throw fault("can't be reached: start what answers there, or name another with --user or --evaluate-user");
    if (error instanceof AuthenticationError || error instanceof PermissionDeniedError)
      throw fault(
        `refuses the key: ${keyName === undefined ? 'name the variable that holds it in api_key_env' : `look at ${keyName} in the environment`}`,
      );
  }
}
