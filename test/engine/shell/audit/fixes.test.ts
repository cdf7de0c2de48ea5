import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeCodeTools } from '../../../../src/engine/shell/describe.ts';
import { completeDomain } from '../../../../src/engine/shell/domain/completeDomain.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { inFullSuite, sampled } from '../../../support/suite.ts';
import { rehearsal } from '../../../support/terminal.ts';
import { folderOf } from '../load/domainFolder.ts';
import { auditOnce, checkWithKnownTools, mendFirst } from './findings.ts';
import { desk, faulty, fixableFaults, persona, tasks } from './fixableFaults.ts';

const checked = checkWithKnownTools();
const auditOf = auditOnce(checked);

describe('the fix of a finding', () => {
  it('is tried on a domain in which the audit finds nothing', async () => {
    const folder = folderOf(desk);
    expect(await auditOf(folder)).toEqual([]);
  });

  it.each(sampled(fixableFaults, 16))('$code in $file: the audit is clean after it', async (fault) => {
    const { code, noted } = fault;
    const folder = folderOf(faulty(fault));
    await mendFirst(checked, folder, code);
    expect(await auditOf(folder)).toEqual(noted.map((each) => expect.stringMatching(each)));
  });
});

inFullSuite('the command line fixes one fault in each file at once, and its audit finds nothing', async () => {
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
  expect([code, out]).toEqual([0, expect.stringMatching(/no findings, [5-9] fixed, audited\n/)]);
});

const files = ['domain.yaml', 'rules.yaml', 'policy.md', persona, tasks];

inFullSuite('every code that has a fix for a word with two letters swapped is among them', async () => {
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
