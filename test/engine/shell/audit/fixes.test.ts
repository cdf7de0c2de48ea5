import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audit } from '../../../../src/engine/shell/audit/audit.ts';
import { check } from '../../../../src/engine/shell/check.ts';
import { describeCodeTools, describeOutsideTools } from '../../../../src/engine/shell/describe.ts';
import type { Diagnostic } from '../../../../src/engine/shell/diagnostic.ts';
import { applyFixes } from '../../../../src/engine/shell/fixes.ts';
import { completeDomain } from '../../../../src/engine/shell/load/completeDomain.ts';
import { loadDomain } from '../../../../src/engine/shell/load/loadDomain.ts';
import { rehearsal } from '../../../support/terminal.ts';
import { folderOf } from '../load/domainFolder.ts';
import { desk, faulty, fixableFaults, persona, tasks } from './fixableFaults.ts';

/** Every finding of `rehearsal check`. */
const checked = (folder: string) =>
  check({
    folder,
    describeTools: () => describeCodeTools(loadDomain(folder)),
    describeOutside: describeOutsideTools,
  });

/** Every finding of `rehearsal check --audit`. */
async function audited(folder: string): Promise<readonly Diagnostic[]> {
  const { loaded, diagnostics, ok } = await checked(folder);
  const played = ok ? await audit(loaded, { signal: new AbortController().signal }) : null;
  expect(played?.undecided ?? []).toEqual([]);
  return [...diagnostics, ...(played?.diagnostics ?? [])];
}

const shown = (folder: string, found: readonly Diagnostic[]) =>
  found.map(({ code, file, line, message }) => `${relative(folder, file)}:${line} ${code} ${message}`);

describe('the fix of a finding', () => {
  it('is tried on a domain in which the audit finds nothing', async () => {
    const folder = folderOf(desk);
    expect(shown(folder, await audited(folder))).toEqual([]);
  });

  it.each(fixableFaults)('$code in $file: the audit is clean after it', async (fault) => {
    const { code, noted } = fault;
    const folder = folderOf(faulty(fault));
    const isTheirs = (each: Diagnostic) => each.code === code && each.fix !== undefined;
    const { diagnostics } = await checked(folder);
    const found = diagnostics.some(isTheirs) ? diagnostics : await audited(folder);
    expect(found.filter(isTheirs).length, shown(folder, found).join('\n')).toBeGreaterThan(0);
    expect(applyFixes(found.filter(isTheirs).slice(0, 1)).count).toBe(1);
    expect(shown(folder, await audited(folder))).toEqual(noted.map((each) => expect.stringMatching(each)));
  });
});

it('the command line mends one fault in each file at once, and its audit finds nothing', async () => {
  const faults: readonly (readonly [string, string, string])[] = [
    ['domain.yaml', 'turnCap: 30', 'turnCap: "30"'],
    ['rules.yaml', 'rule: look-up', 'rule: look-pu'],
    ['policy.md', '{#confirm}', '{#con firm}'],
    [persona, 'Someone who', 'Someone ## who'],
    [tasks, 'split: train', 'split: trian'],
  ];
  const broken = Object.fromEntries(
    faults.map(([file, right, wrong]) => [file, String(desk[file]).replace(right, wrong)] as const),
  );
  const folder = folderOf({ ...desk, ...broken });
  const { code, out } = await rehearsal('check', folder, '--audit', '--fix');
  expect([code, out]).toEqual([0, expect.stringMatching(/no findings, [5-9] mended, audited with \d+ rollouts/)]);
});

const files = ['domain.yaml', 'rules.yaml', 'policy.md', persona, tasks];

it('every code that has a fix for a word with two letters swapped is among them', async () => {
  const folder = folderOf(desk);
  const tools = await describeCodeTools(loadDomain(folder));
  const codes = new Set<string>();
  for (const file of files) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    for (const { 0: word, index } of text.matchAll(/\w{4,}/g)) {
      const swapped = `${word[0]}${word[2]}${word[1]}${word.slice(3)}`;
      writeFileSync(path, `${text.slice(0, index)}${swapped}${text.slice(index + word.length)}`);
      const { diagnostics } = completeDomain(loadDomain(folder), tools);
      for (const { code, fix } of diagnostics) if (fix) codes.add(code);
    }
    writeFileSync(path, text);
  }
  const tried = new Set(fixableFaults.map(({ code }) => code));
  expect([...codes].filter((code) => !tried.has(code))).toEqual([]);
  expect(codes.size).toBeGreaterThan(12);
});
