import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { userSeatFor } from '../../core/domain/domain.ts';
import { modelRoles } from '../../core/evaluation/measure.ts';
import type { Diagnostic } from '../files/diagnostic.ts';
import { agentFilesIn, parseAgentFile } from '../load/agentFile.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { namesAddress } from '../models/modelSettings.ts';
import { parseLentModel, parseSeat, simpleSeats } from '../models/parseSeat.ts';
import { respelt } from '../source/edit.ts';
import { placeOf } from '../source/items.ts';
import type { Note } from '../source/note.ts';
import type { Overlay } from '../source/source.ts';

const purposes = ['train', 'evaluate'] as const;
const agentPrefix = 'agent:';

/** The seats of domain.yaml: that they are seats, and that training and evaluation do not share a model. */
export function checkSeats(parts: Parts, folder: string, note: Note): void {
  checkAgentSeat(parts, folder, note);
  checkUserSeats(parts, note);
  checkHeaders(parts, note);
  checkModalities(parts, note);
}

/** Checks the agent seat. `agentFileProblems` reports the contents of an agent's file at their own location. */
function checkAgentSeat({ file }: Parts, folder: string, note: Note): void {
  const { agent } = file.value;
  const path = agentPathOf(agent);
  const problem =
    path === null
      ? parseSeat(agent, 'agent', 'domain', {})
      : existsSync(resolve(folder, path))
        ? null
        : `there is no agent file ${resolve(folder, path)}`;
  if (typeof problem !== 'string') return;
  const hint =
    path === null ? 'Write gold, human, openai:MODEL@BASE_URL, or agent:FILE.' : 'Create it, or name another file.';
  const at = placeOf(file, 'agent');
  note(at, 'error', 'domain/bad-seat', `${problem}.`, hint, respelt(at, agent, simpleSeats('agent')));
}

function checkUserSeats({ file }: Parts, note: Note): void {
  const { user } = file.value;
  const places =
    typeof user === 'string'
      ? ([['evaluate', ['user']]] as const)
      : purposes.map((name) => [name, ['user', name]] as const);
  for (const [purpose, path] of places) {
    const seat = userSeatFor(file.value, purpose);
    const parsed = parseSeat(seat, 'user', 'domain', {});
    if (typeof parsed !== 'string') continue;
    const hint = 'Write agenda, human, or openai:MODEL@BASE_URL.';
    const at = placeOf(file, ...path);
    note(at, 'error', 'domain/bad-seat', `${parsed}.`, hint, respelt(at, seat, simpleSeats('user')));
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

/** Headers are sent only to an address in the same file. */
function checkHeaders({ file }: Parts, note: Note): void {
  const { agent, user, simulator, models = {} } = file.value;
  const seats = {
    agent: [agent],
    user: typeof user === 'string' ? [user] : Object.values(user),
    judge: [],
    tools: [simulator ?? ''],
  };
  for (const role of modelRoles) {
    if (!models[role]?.headers || seats[role].some(namesAddress)) continue;
    note(
      placeOf(file, 'models', role, 'headers'),
      'warning',
      'domain/unsent-headers',
      `These headers are never sent: domain.yaml names no address for the model of the seat ${role}.`,
      role === 'judge'
        ? 'Name the judge and its headers on the command line.'
        : `Write ${role === 'tools' ? 'simulator' : role}: openai:MODEL@BASE_URL.`,
    );
  }
}

/** Only the agent's seat has results with media: the others are shown texts. */
function checkModalities({ file }: Parts, note: Note): void {
  for (const role of modelRoles) {
    if (role === 'agent' || !file.value.models?.[role]?.modalities?.length) continue;
    note(
      placeOf(file, 'models', role, 'modalities'),
      'warning',
      'domain/unused-modalities',
      `These modalities have no effect: only the agent's model receives media. The model of the seat ${role} reads a line of text instead.`,
      'Delete the key, or write it under models.agent.',
    );
  }
}

/**
 * Returns what is wrong with agents' files: the one that domain.yaml names, wherever it lies, and those in the domain's
 * folder, read as a rollout reads them.
 */
export function agentFileProblems(agent: string, folder: string, overlay?: Overlay): readonly Diagnostic[] {
  const path = agentPathOf(agent);
  const named = path === null ? null : resolve(folder, path);
  const files = new Set([...(named !== null && existsSync(named) ? [named] : []), ...agentFilesIn(folder, overlay)]);
  return [...files].flatMap((file) => {
    const read = parseAgentFile(file, (text) => parseLentModel(text, {}), overlay);
    return Array.isArray(read) ? read : [];
  });
}

const agentPathOf = (seat: string) => (seat.startsWith(agentPrefix) ? seat.slice(agentPrefix.length) : null);
