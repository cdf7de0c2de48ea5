import { userSeatFor } from '../../core/domain.ts';
import { parseSeat } from '../seats/seatSpec.ts';
import { placeOf } from './items.ts';
import type { Parts } from './loadedDomain.ts';
import type { Note } from './note.ts';

const purposes = ['train', 'evaluate'] as const;

/** The user's seats of domain.yaml: that they are seats, and that training and evaluation do not share a model. */
export function checkUserSeats({ file }: Parts, note: Note): void {
  const { user } = file.value;
  const places =
    typeof user === 'string'
      ? ([['evaluate', ['user']]] as const)
      : purposes.map((name) => [name, ['user', name]] as const);
  for (const [purpose, path] of places) {
    const parsed = parseSeat(userSeatFor(file.value, purpose), 'user', 'domain', {});
    if (typeof parsed !== 'string') continue;
    const hint = 'Write agenda, human, or openai:MODEL@BASE_URL.';
    note(placeOf(file, ...path), 'error', 'domain/bad-seat', `${parsed}.`, hint);
  }
  const seats = purposes.map((purpose) => parseSeat(userSeatFor(file.value, purpose), 'user', 'domain', {}));
  const [train, evaluate] = seats;
  if (typeof train !== 'object' || typeof evaluate !== 'object') return;
  if (train.type !== 'openai' || evaluate.type !== 'openai' || train.model !== evaluate.model) return;
  note(
    typeof user === 'string' ? placeOf(file, 'user') : placeOf(file, 'user', 'evaluate'),
    'warning',
    'domain/same-simulator',
    `${train.model} plays the user both in training and in evaluation, so what a model learns about this user looks like success.`,
    'Write user: { train: openai:ONE, evaluate: openai:ANOTHER }, or agenda for one of them.',
  );
}
