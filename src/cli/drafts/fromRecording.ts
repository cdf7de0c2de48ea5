import { draftTask } from '../../authoring/drafts/draftTask.ts';
import { describedDomain } from '../../engine/shell/describe.ts';
import { domainBeside } from '../../engine/shell/domain/domainBeside.ts';
import { readRecording } from '../../engine/shell/records/recording.ts';
import { type Given, refuseStray, text } from '../options/command.ts';
import { requireRecording } from '../options/requireRecording.ts';
import { domainFolder, openDomainAt, unknownDomain } from '../options/rolloutOptions.ts';
import type { ExitCode, Io } from '../terminal/io.ts';
import { freeFile } from './freeFile.ts';
import { requireFree } from './freeId.ts';
import { isImported, putChatDrafts } from './fromChats.ts';
import { putDrafts } from './putDrafts.ts';

/** Drafts a task from a recording. */
export async function draftFromRecording(given: Given, io: Io): Promise<ExitCode> {
  const [named] = given.positionals;
  const path = requireRecording(named, io);
  const chosen = text(given, 'domain');
  const folder = chosen === undefined ? domainBeside(path) : domainFolder(io, chosen);
  if (folder === undefined) throw unknownDomain(path, 'Name its folder with --domain FOLDER');
  // One task is asked for: its user is somebody whom the domain has.
  if (isImported(path)) return putChatDrafts({ folder, recordings: [path], newPersonas: false }, given, io);
  refuseStray(given, ['domain', 'id', 'print'], 'a recording that was rehearsed');
  const loaded = await describedDomain(openDomainAt(folder));
  const id = text(given, 'id');
  if (id !== undefined) requireFree('task', id, loaded, io);
  const drafted = draftTask(loaded, readRecording(path), id);
  const files = new Map([[freeFile(loaded, 'task', drafted.id), drafted.text]]);
  return putDrafts({ folder: loaded.folder, files, ids: [drafted.id] }, given, io);
}
