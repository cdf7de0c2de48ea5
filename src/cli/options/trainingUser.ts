import { type DomainFile, userSeatFor } from '../../engine/core/domain/domain.ts';
import { type ModelSeat, seatName } from '../../engine/core/domain/seatSpec.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import { suggestion } from '../../engine/shell/source/nearest.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { settledModel } from './rolloutOptions.ts';

/** The seat of the user, as the training protocol names it. A key stays in the environment. */
export type TrainingUser =
  | 'agenda'
  | { readonly base_url: string; readonly model: string; readonly api_key_env?: string };

/**
 * The user of a training run: the chosen seat, else the domain's for this purpose. Throws a `UsageError` for what is
 * not a seat, and for a seat that training can't ask, such as a person.
 */
export function trainingUser(
  file: Pick<DomainFile, 'user'>,
  purpose: 'train' | 'evaluate',
  chosen: string | undefined,
  { environment }: Pick<Io, 'environment'>,
): TrainingUser {
  const user =
    chosen === undefined
      ? parseSeat(userSeatFor(file, purpose), 'user', 'domain', environment)
      : parseSeat(chosen, 'user', 'person', environment);
  // parseSeat would name seats that training can't ask, such as a person.
  if (typeof user === 'string' && chosen !== undefined && !/^(?:openai|editor):/.test(chosen))
    throw new UsageError(
      `"${chosen}" can't play the user of a training run: use agenda or openai:MODEL[@BASE_URL]${suggestion(chosen, ['agenda'])}`,
    );
  if (typeof user === 'string') throw new UsageError(user);
  if (user.type === 'agenda') return 'agenda';
  if (user.type !== 'openai')
    throw new UsageError(`${user.type} can't play the user of a training run: use agenda or openai:MODEL[@BASE_URL]`);
  if (user.isPreview)
    throw new UsageError(
      `${seatName(user)} is a preview and can't play the user of a training run: use agenda or openai:MODEL[@BASE_URL]`,
    );
  return {
    base_url: user.baseUrl,
    model: user.model,
    ...(user.keyName === null ? {} : { api_key_env: user.keyName }),
  };
}

/** Returns a model of the user's seat with the settings of the domain; with their headers where the domain names it. */
export function settledUser(
  model: ModelSeat,
  file: DomainFile,
  basis: 'train' | 'evaluate',
  environment: NodeJS.ProcessEnv,
): ModelSeat {
  const own = userSeatFor(file, basis);
  const parsed = parseSeat(own, 'user', 'domain', {});
  const isOwn =
    typeof parsed !== 'string' &&
    parsed.type === 'openai' &&
    parsed.baseUrl === model.baseUrl &&
    parsed.model === model.model;
  const chosen = isOwn ? undefined : seatName(model);
  return settledModel(model, { role: 'user', chosen, own, settings: {} }, file, environment);
}
