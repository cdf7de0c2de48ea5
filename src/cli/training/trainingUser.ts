import { type DomainFile, userSeatFor } from '../../engine/core/domain.ts';
import { parseSeat, type SeatSpec, seatName } from '../../engine/shell/seats/seatSpec.ts';
import { type Io, UsageError } from '../io.ts';

/** Who plays the user, as the training protocol names a seat. A key stays in the environment. */
export type TrainingUser =
  | 'agenda'
  | { readonly base_url: string; readonly model: string; readonly api_key_env?: string };

/**
 * The user of a training run: the chosen seat, else the domain's for this purpose. Warns where one model plays the user
 * for both purposes. Throws a `UsageError` for what is no seat, and for a seat that training can't
 * ask, such as a person.
 */
export function trainingUser(
  file: Pick<DomainFile, 'user'>,
  purpose: 'train' | 'evaluate',
  chosen: string | undefined,
  io: Pick<Io, 'err' | 'environment'>,
): TrainingUser {
  const own = (basis: 'train' | 'evaluate') => parseSeat(userSeatFor(file, basis), 'user', 'domain', io.environment);
  const user = chosen === undefined ? own(purpose) : parseSeat(chosen, 'user', 'person', io.environment);
  if (typeof user === 'string') throw new UsageError(user);
  if (user.type === 'agenda') return 'agenda';
  if (user.type !== 'openai')
    throw new UsageError(`${user.type} can't play the user of a training run: say agenda or openai:MODEL[@BASE_URL]`);
  if (user.isPreview)
    throw new UsageError(
      `${seatName(user)} is a preview and can't play the user of a training run: say agenda or openai:MODEL[@BASE_URL]`,
    );
  if (isModel(own(purpose === 'train' ? 'evaluate' : 'train'), user.model))
    io.err(`warning: ${user.model} plays the user both in training and in evaluation\n`);
  return {
    base_url: user.baseUrl,
    model: user.model,
    ...(user.keyName === null ? {} : { api_key_env: user.keyName }),
  };
}

function isModel(seat: SeatSpec | string, model: string): boolean {
  return typeof seat === 'object' && seat.type === 'openai' && seat.model === model;
}
