import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { draftChats } from '../../authoring/drafts/draftChats.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { domainBeside } from '../../engine/shell/domain/domainBeside.ts';
import { readRecording } from '../../engine/shell/records/recording.ts';
import { isForkName, isRecording, recordingEnding } from '../../engine/shell/records/recordingName.ts';
import { openDomainAt, unknownDomain } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, progress, UsageError } from '../terminal/io.ts';
import { drafterOf } from './drafter.ts';
import type { DraftOptions } from './draftOptions.ts';
import { freeName } from './freeFile.ts';
import { requireFree } from './freeId.ts';
import type { GatedRow } from './gatedText.ts';
import { putDrafts } from './putDrafts.ts';

/** Whether a recording is of a conversation that was not rehearsed. */
export function isImported(path: string): boolean {
  const [first] = readRecording(path).lines;
  return first?.event.type === 'rolloutStarted' && first.event.imported !== undefined;
}

/** Drafts a task of each of the conversations that a person named. */
export async function draftFromChats(options: DraftOptions, positionals: readonly string[], io: Io): Promise<ExitCode> {
  const recordings = conversationsNamed(positionals, io);
  const [first = ''] = recordings;
  const folder = options.domain === undefined ? domainBeside(first) : resolve(io.cwd, options.domain);
  if (folder === undefined) throw unknownDomain(first, 'Name its folder with --domain FOLDER');
  return putChatDrafts({ folder, recordings, newPersonas: true }, options, io);
}

/** The recordings that a person named, those of a folder in their order. */
export function conversationsNamed(named: readonly string[], { cwd }: Pick<Io, 'cwd'>): readonly string[] {
  if (named.length === 0)
    throw new UsageError('name the conversations: recordings, or the folder of the run that they were imported into');
  return named.flatMap((each) => {
    const path = resolve(cwd, each);
    if (!existsSync(path)) throw new UsageError(`${each}: there is no such recording`);
    const found = statSync(path).isDirectory()
      ? readdirSync(path)
          .filter((name) => isRecording(name) && !isForkName(name))
          .sort()
          .map((name) => join(path, name))
      : [path];
    if (found.length === 0) throw new UsageError(`${each}: this folder has no recordings`);
    if (!isRecording(path) && !statSync(path).isDirectory())
      throw new UsageError(
        `${each} is not a recording (*${recordingEnding}); import the conversations first: npx rehearsal import chats`,
      );
    return found;
  });
}

type Wanted = {
  readonly folder: string;
  readonly recordings: readonly string[];
  /** Whether personas may be drafted in addition to the tasks. */
  readonly newPersonas: boolean;
};

/** Writes drafts of conversations into files of the domain, or prints them, and says what the audit finds in them. */
export async function putChatDrafts(
  { folder, recordings, newPersonas }: Wanted,
  options: DraftOptions,
  io: Io,
): Promise<ExitCode> {
  const loaded = openDomainAt(folder);
  const { id } = options;
  if (id !== undefined && recordings.length > 1)
    throw new UsageError('--id names one task, and there are several conversations');
  if (id !== undefined) requireFree('task', id, loaded, io);
  const { drafts, files, ids } = await draftChats(loaded, recordings, {
    name: freeName(loaded, 'task', id ?? 'from-chats'),
    ...(id === undefined ? {} : { id }),
    drafter: drafterOf(options, io),
    newPersonas,
    signal: io.signal,
    onProgress: progress(io),
  });
  const sources = drafts.map(({ task, recording, todos }) => ({ id: task.id, recording, todos }));
  const more = (rows: readonly GatedRow[]) => {
    const sound = rows.filter(({ kind, passes }) => kind === 'task' && passes).length;
    return { keys: { sound, sources }, closing: `${sound} of ${counted(drafts.length, 'draft')} pass the audit` };
  };
  return putDrafts({ folder, files, ids, more }, options, io);
}
