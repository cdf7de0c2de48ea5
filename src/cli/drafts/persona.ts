import { drawnPersona, modelPersona } from '../../authoring/drafts/draftPersona.ts';
import { draftText } from '../../authoring/draftText.ts';
import { describedDomain } from '../../engine/shell/describe.ts';
import { type Given, text } from '../options/command.ts';
import { domainFolder, openDomainAt } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { drafterOf } from './drafter.ts';
import { freeFile } from './freeFile.ts';
import { requireFree } from './freeId.ts';
import { putDrafts } from './putDrafts.ts';

/** Drafts a persona. */
export async function draftPersona(given: Given, io: Io): Promise<ExitCode> {
  const loaded = await describedDomain(openDomainAt(domainFolder(io, given.positionals[0])));
  const drafter = drafterOf(given, io);
  const words = text(given, 'words');
  if (words !== undefined && drafter === null)
    throw new UsageError('--words goes with --model: without one a persona is drawn by seed');
  const id = text(given, 'id');
  if (id !== undefined) requireFree('persona', id, loaded, io);
  const seed = text(given, 'seed') ?? '1';
  const made = drafter ? await modelPersona(loaded, words, drafter, id) : drawnPersona(loaded, seed, id);
  if (typeof made === 'string') throw new UsageError(made);
  const by = drafter ? `by ${drafter.seat.model}` : `without a model, drawn by seed ${seed}`;
  const content = draftText([made], [`A persona, drafted ${by}. Read it, and accept it if it is right.`]);
  const files = new Map([[freeFile(loaded, 'persona', made.id), content]]);
  return putDrafts(
    { folder: loaded.folder, files, ids: [made.id], ...(drafter ? { sound: 'persona' } : {}) },
    given,
    io,
  );
}
