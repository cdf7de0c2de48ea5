import { drawnPersona, modelPersona } from '../../authoring/drafts/draftPersona.ts';
import { draftText } from '../../authoring/draftText.ts';
import { describedDomain } from '../../engine/shell/describe.ts';
import { domainFolder, openDomainAt } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { drafterOf } from './drafter.ts';
import type { DraftOptions } from './draftOptions.ts';
import { freeFile } from './freeFile.ts';
import { requireFree } from './freeId.ts';
import { putDrafts } from './putDrafts.ts';

export async function draftPersona(options: DraftOptions, [folder]: readonly string[], io: Io): Promise<ExitCode> {
  const loaded = await describedDomain(openDomainAt(domainFolder(io, folder)));
  const drafter = drafterOf(options, io);
  const { words, id, seed = '1' } = options;
  if (words !== undefined && drafter === null)
    throw new UsageError('--words goes with --model: without one a persona is drawn by seed');
  if (id !== undefined) requireFree('persona', id, loaded, io);
  const made = drafter ? await modelPersona(loaded, words, drafter, id) : drawnPersona(loaded, seed, id);
  if (typeof made === 'string') throw new UsageError(made);
  const by = drafter ? `by ${drafter.seat.model}` : `without a model, drawn by seed ${seed}`;
  const content = draftText([made], [`A persona, drafted ${by}. Read it, and accept it if it is right.`]);
  const files = new Map([[freeFile(loaded, 'persona', made.id), content]]);
  return putDrafts(
    { folder: loaded.folder, files, ids: [made.id], ...(drafter ? { sound: 'persona' } : {}) },
    options,
    io,
  );
}
