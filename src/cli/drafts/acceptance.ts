import { acceptDraft } from '../../authoring/drafts/acceptDraft.ts';
import { gate } from '../../engine/shell/audit/draftGate.ts';
import { loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { draftsOf } from '../../engine/shell/load/drafts.ts';
import { domainFolder } from '../options/rolloutOptions.ts';
import { auditProgress } from '../terminal/auditProgress.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import type { DraftOptions } from './draftOptions.ts';
import { gatedRow, gatedText } from './gatedText.ts';

/** Lists the drafts of a domain, with what the audit finds in each. */
export async function listDrafts({ json }: DraftOptions, [named]: readonly string[], io: Io): Promise<ExitCode> {
  const folder = domainFolder(io, named);
  const drafts = await gate(folder, { signal: io.signal, ...auditProgress(io) });
  if (io.signal.aborted) throw new UsageError('cancelled');
  if (json) io.out(`${JSON.stringify({ drafts: drafts.map(gatedRow) })}\n`);
  else io.out(drafts.length === 0 ? 'no drafts\n' : gatedText(drafts.map(gatedRow), io.cwd));
  return drafts.every(({ passes }) => passes) ? 0 : 1;
}

/** Accepts the drafts in which the audit finds nothing. */
export async function acceptDrafts(
  { all: isAll = false, json }: DraftOptions,
  [domain, ...named]: readonly string[],
  io: Io,
): Promise<ExitCode> {
  const folder = domainFolder(io, domain);
  const known = draftsOf(loadDomain(folder).parts).map(({ placed }) => placed.value.id);
  if (isAll === named.length > 0) throw new UsageError('name the drafts to accept, or give --all for all of them');
  const stranger = named.find((id) => !known.includes(id));
  if (stranger !== undefined)
    throw new UsageError(
      `there is no draft "${stranger}" in ${folder}; ${known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`}`,
    );
  const ids = isAll ? known : named;
  const drafts = await gate(folder, { ids, signal: io.signal, ...auditProgress(io) });
  if (io.signal.aborted) throw new UsageError('cancelled');
  const sound = drafts.filter(({ passes }) => passes);
  // From the end of a file to its start, so that no place moves before its edit is made.
  for (const { draft: each } of sound.toReversed()) acceptDraft(each);
  const left = drafts.filter(({ passes }) => !passes);
  if (json) io.out(`${JSON.stringify({ accepted: sound.map(gatedRow), left: left.map(gatedRow) })}\n`);
  else {
    for (const { draft: each } of sound) io.out(`accepted ${each.kind} ${each.placed.value.id}\n`);
    io.out(gatedText(left.map(gatedRow), io.cwd));
    if (left.length > 0)
      io.out(left.length === 1 ? 'it stays a draft until you fix that\n' : 'they stay drafts until you fix that\n');
  }
  return left.length === 0 ? 0 : 1;
}
