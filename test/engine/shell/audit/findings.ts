import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import { audit, withAudit } from '../../../../src/engine/shell/audit/audit.ts';
import { describeCodeTools, describeExternalTools } from '../../../../src/engine/shell/describe.ts';
import { check } from '../../../../src/engine/shell/domain/check.ts';
import { applyFixes } from '../../../../src/engine/shell/domain/fixes.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import type { Diagnostic } from '../../../../src/engine/shell/files/diagnostic.ts';

/** Checks a folder as `rehearsal check` does. */
export type Checked = (folder: string) => ReturnType<typeof check>;

/** Returns a check that describes code tools with the same texts only once, because each description starts a worker. */
export function checkWithKnownTools(): Checked {
  const described = new Map<string, Promise<readonly Tool[]>>();
  const describedBy = (name: string) => name.endsWith('.ts') || name === 'domain.yaml';
  return (folder) =>
    check({
      folder,
      describeTools: () => once(described, textsIn(folder, describedBy), () => describeCodeTools(loadDomain(folder))),
      describeExternal: describeExternalTools,
    });
}

/** Returns all findings of `rehearsal check --audit`. */
export async function auditedBy(checked: Checked, folder: string): Promise<readonly Diagnostic[]> {
  const { loaded, diagnostics, ok } = await checked(folder);
  const played = ok ? await audit(loaded, { signal: new AbortController().signal }) : null;
  expect(played?.undecided ?? []).toEqual([]);
  return withAudit(diagnostics, played?.diagnostics ?? []);
}

/** Returns all findings of `rehearsal check --audit` as text. Texts that were audited before are not audited again. */
export function auditOnce(checked: Checked): (folder: string) => Promise<readonly string[]> {
  const audits = new Map<string, Promise<readonly string[]>>();
  return (folder) => once(audits, textsIn(folder), async () => shown(folder, await auditedBy(checked, folder)));
}

function once<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? ask();
  known.set(key, found);
  // An error names the folder that it was found in.
  found.catch(() => known.delete(key));
  return found;
}

const textsIn = (folder: string, isWanted: (name: string) => boolean = () => true) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isWanted(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => `${relative(folder, path)}\n${readFileSync(path, 'utf8')}`)
    .join('\n');

/** Formats findings as text. */
export const shown = (folder: string, found: readonly Diagnostic[]) =>
  found.map(({ code, file, line, message }) => `${relative(folder, file)}:${line} ${code} ${message}`);

/** Applies the fix of the first finding with a code. The finding comes from a check or, failing that, from an audit. */
export async function mendFirst(checked: Checked, folder: string, code: string): Promise<void> {
  const isTheirs = (each: Diagnostic) => each.code === code && each.fix !== undefined;
  const { diagnostics } = await checked(folder);
  const found = diagnostics.some(isTheirs) ? diagnostics : await auditedBy(checked, folder);
  expect(found.filter(isTheirs).length, shown(folder, found).join('\n')).toBeGreaterThan(0);
  expect(applyFixes(found.filter(isTheirs).slice(0, 1)).mended.length).toBe(1);
}
