import type { ModelSeat } from '../../engine/core/domain/seatSpec.ts';
import { throwUnlessApproved } from '../../engine/shell/approvals/approvals.ts';
import { effectsOfDomain } from '../../engine/shell/approvals/effects.ts';
import { loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { throwUnlessAllowed } from '../../engine/shell/keys/keyOrigins.ts';
import { withFilledHeaders } from '../../engine/shell/models/modelSettings.ts';
import { type Endpoint, endpointSchema } from '../../training/trainingProtocol.ts';
import { settledUser } from '../options/trainingUser.ts';
import type { Launch } from './target.ts';

/**
 * Throws a `Fault` for an endpoint of a configuration's simulated users that no one answers at or that refuses its key.
 * Each is asked as in a rollout, with the headers of its domain.
 */
export async function throwUnlessUsersServed(
  launch: Pick<Launch, 'kind' | 'config'>,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const seats = usersOf(launch).map((user) => seatOf(user, environment));
  if (seats.length === 0) return;
  const { throwUnlessServed } = await import('../../engine/shell/models/openai.ts');
  for (const seat of new Map(seats.map((each) => [JSON.stringify(each), each])).values()) {
    const key = (seat.keyName !== null && environment[seat.keyName]) || '';
    await throwUnlessServed(await withFilledHeaders(seat, (name) => environment[name]), key, signal);
  }
}

/** A model that plays users: in which domain, if the configuration names one, and for what. */
type PlayingModel = {
  readonly endpoint: Endpoint;
  readonly folder: string | undefined;
  readonly basis: 'train' | 'evaluate';
};

/** Returns the models that play users in rollouts of a run. A domain has its own or that of the whole configuration. */
function usersOf({ kind, config }: Pick<Launch, 'kind' | 'config'>): readonly PlayingModel[] {
  const { domain = {}, held_out: heldOut = [], basis, evaluate_basis: evaluateBasis } = config;
  const purposes = {
    user: basis ?? (kind === 'evaluate' ? 'evaluate' : 'train'),
    ...(config['evaluate_every'] === 0 ? {} : { evaluate_user: evaluateBasis ?? 'evaluate' }),
  };
  const { user: _, ...ofHeldOut } = purposes;
  const usersIn = (shares: unknown, asked: Readonly<Record<string, unknown>>) =>
    [shares].flat().flatMap((share): readonly PlayingModel[] => {
      const fields = (typeof share === 'string' ? { folder: share } : share) as Launch['config'];
      return Object.entries(asked).flatMap(([key, purpose]) => {
        const { data: endpoint } = endpointSchema.safeParse(fields[key] ?? config[key]);
        const folder = fields['folder'] as string | undefined;
        return endpoint ? [{ endpoint, folder, basis: purpose === 'train' ? 'train' : 'evaluate' }] : [];
      });
    });
  return [...usersIn(domain, purposes), ...usersIn(heldOut, ofHeldOut)];
}

function seatOf({ endpoint, folder, basis }: PlayingModel, environment: NodeJS.ProcessEnv): ModelSeat {
  const { base_url: baseUrl, model, api_key_env: keyName = null } = endpoint;
  allowed(baseUrl, keyName, environment);
  const seat = { type: 'openai', model, baseUrl, keyName } as const;
  if (folder === undefined) return seat;
  const domain = loadDomain(folder, { soundness: false });
  const settled = settledUser(seat, domain.file, basis, environment);
  if (settled.headers) throwUnlessApproved(effectsOfDomain(domain), environment);
  return settled;
}

/** Throws a `Fault` where a configuration would send a key to an address that it does not belong to. */
export function throwUnlessKeysAllowed(config: Launch['config'], environment: NodeJS.ProcessEnv): void {
  for (const { base_url: baseUrl, api_key_env: keyName = null } of endpointsIn(config))
    allowed(baseUrl, keyName, environment);
}

function allowed(url: string, name: string | null, environment: NodeJS.ProcessEnv): void {
  if (name !== null) throwUnlessAllowed({ name, url, namedBy: 'base_url of the training configuration' }, environment);
}

function endpointsIn(value: unknown): readonly Endpoint[] {
  if (typeof value !== 'object' || value === null) return [];
  const { data } = endpointSchema.safeParse(value);
  return data ? [data] : Object.values(value).flatMap(endpointsIn);
}
