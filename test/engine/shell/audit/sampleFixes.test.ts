import { describe, expect, it } from 'vitest';
import { isFullSuite, sampled } from '../../../support/suite.ts';
import { folderOf } from '../load/domainFolder.ts';
import { auditOnce, checkWithKnownTools, mendFirst } from './findings.ts';
import { faultySamples, planted, type SampleFault, sampleFaults, sampleFiles } from './sampleFaults.ts';

const checked = checkWithKnownTools();
const auditOf = auditOnce(checked);

/** Codes whose fixes do not restore the text of the sample, so each of them needs an audit. */
const rewriting = [
  'domain/bad-seat',
  'persona/stop-word',
  'persona/stops-early',
  'task/empty-basis',
  'task/stops-early',
  'task/untold-argument',
  'task/unused-demand',
  'tool/undeclared-write',
];
/** `npm run test:full` tries all of them. Otherwise, those of the smallest sample represent the others. */
const isTried = ([, code]: SampleFault) => isFullSuite || rewriting.includes(code);

describe.each(isFullSuite ? faultySamples : ['parcel-desk'])('in %s', (sample) => {
  const files = sampleFiles('.', sample);

  it('the audit finds only rules and tools that the few tasks do not cover', async () => {
    const found = await auditOf(folderOf(files));
    expect(found).toEqual(
      found.map(() => expect.stringMatching(/ (?:tool\/unused|policy\/uncovered-rule|rule\/never-evaluated) /)),
    );
  });

  it.each(
    sampled(
      sampleFaults.filter((fault) => fault[0] === sample && isTried(fault)),
      8,
    ),
  )('(%s) the audit is clean after the fix of %s in %s: %j', async (...fault) => {
    const [, code] = fault;
    const folder = folderOf(planted(files, fault));
    await mendFirst(checked, folder, code);
    expect(await auditOf(folder)).toEqual(await auditOf(folderOf(files)));
  });
});
