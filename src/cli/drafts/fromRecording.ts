import { draftTask } from '../../authoring/drafts/draftTask.ts';
import { describedDomain } from '../../engine/shell/describe.ts';
import { domainBeside } from '../../engine/shell/domain/domainBeside.ts';
import { readRecording } from '../../engine/shell/records/recording.ts';
import { refuseStray } from '../options/command.ts';
import { requireRecording } from '../options/requireRecording.ts';
import { domainFolder, openDomainAt, unknownDomain } from '../options/rolloutOptions.ts';
import type { ExitCode, Io } from '../terminal/io.ts';
import type { DraftOptions } from './draftOptions.ts';
import { freeFile } from './freeFile.ts';
import { requireFree } from './freeId.ts';
import { isImported, putChatDrafts } from './fromChats.ts';
import { putDrafts } from './putDrafts.ts';

/** Drafts a task from a recording. */
export async function draftFromRecording(options: DraftOptions, [named]: readonly string[], io: Io): Promise<ExitCode> {
  const path = requireRecording(named, io);
  const { domain: chosen, id } = options;
  const folder = chosen === undefined ? domainBeside(path) : domainFolder(io, chosen);
  if (folder === undefined) throw unknownDomain(path, 'Name its folder with --domain FOLDER');
  // One task is asked for: its user is somebody whom the domain has.
  if (isImported(path)) return putChatDrafts({ folder, recordings: [path], newPersonas: false }, options, io);
  refuseStray(options, ['domain', 'id', 'print'], 'a recording that was rehearsed');
  const loaded = await describedDomain(openDomainAt(folder));
  if (id !== undefined) requireFree('task', id, loaded, io);
  const drafted = draftTask(loaded, readRecording(path), id);
  const files = new Map([[freeFile(loaded, 'task', drafted.id), drafted.text]]);
  return putDrafts({ folder: loaded.folder, files, ids: [drafted.id] }, options, io);
}
