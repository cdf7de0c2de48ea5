import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readBoundedText } from '../files/boundedFile.ts';
import { namesIn } from '../files/disk.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { isRecording } from '../records/recordingName.ts';
import { type PolicyChange, type RunFile, readRunFile } from '../records/runFile.ts';
import { runFileName } from '../records/runFiles.ts';

/**
 * Returns what a policy says otherwise than that of the last run of the same domain, which is beside this one;
 * undefined if there was no change or no earlier run. The earlier text comes from the instructions of that run's agent.
 */
export function policyChangeSince(folder: string, { domain, folder: source }: LoadedDomain): PolicyChange | undefined {
  const last = lastRunBeside(folder, (file) => file.domain === domain.name && file.folder === source);
  if (!last) return undefined;
  const { policyHash } = last.file;
  const change = { run: basename(last.path), policyHash };
  if (policyHash === domain.policy.hash) return { ...change, lines: [] };
  const before = policyOf(last.path);
  return before === null ? change : { ...change, lines: changedLines(before, domain.policy.text.trim()) };
}

/** The newest first, so that most runs beside this one are never read. */
function lastRunBeside(folder: string, isMeant: (file: RunFile) => boolean) {
  const beside = dirname(folder);
  const runs = namesIn(beside).flatMap((name) => {
    const path = join(beside, name);
    const at = path === folder ? null : writtenAt(join(path, runFileName));
    return at === null ? [] : [{ path, at }];
  });
  for (const { path } of runs.toSorted((a, b) => b.at - a.at || (a.path < b.path ? 1 : -1))) {
    const file = readRunFile(path);
    if (typeof file !== 'string' && isMeant(file)) return { path, file };
  }
  return null;
}

function writtenAt(file: string): number | null {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return null;
  }
}

/** The policy as the first recording of a run has it: the system prompt without the time, which is last. */
function policyOf(run: string): string | null {
  for (const name of namesIn(run).filter(isRecording)) {
    try {
      const [line = ''] = readBoundedText(join(run, name)).split('\n', 1);
      const { event } = JSON.parse(line) as { readonly event: { readonly system: string } };
      return event.system.replace(/\n\nThe current time is [^\n]*$/, '');
    } catch {}
  }
  return null;
}

/** The lines that went, with `-`, and those that came, with `+`, in the order of the texts. */
export function changedLines(before: string, after: string): readonly string[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const longest = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number) => longest[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    const row = longest[i] as Uint32Array;
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && a[i] === b[j]) [i, j] = [i + 1, j + 1];
    else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push(`-${a[i++]}`);
    else lines.push(`+${b[j++]}`);
  }
  return lines;
}
