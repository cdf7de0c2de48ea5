import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../../src/engine/core/tool.ts';
import { check } from '../../../../src/engine/shell/check.ts';
import { describeCodeTools } from '../../../../src/engine/shell/describe.ts';
import { loadDomain } from '../../../../src/engine/shell/load/loadDomain.ts';
import { folderOf } from '../load/domainFolder.ts';
import { auditOnce, type Checked, mendFirst, once } from './findings.ts';
import { faultySamples, planted, type SampleFault, sampleFaults, sampleFiles } from './sampleFaults.ts';

/** What was found before in the same texts: most fixes give the text back that is there in the sample. */
const described = new Map<string, Promise<readonly Tool[]>>();

/** Every finding of `rehearsal check`. */
const checked: Checked = (folder) =>
  check({
    folder,
    describeTools: () =>
      once(described, readFileSync(join(folder, 'tools.ts'), 'utf8'), () => describeCodeTools(loadDomain(folder))),
  });

const auditOf = auditOnce(checked);

/** Fixes that give another text than the sample's, each with an audit of its own. */
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
/** `npm run test:full` tries all of them; otherwise those of the smallest sample stand for the others. */
const isTried = ([sample, code]: SampleFault) =>
  process.env['REHEARSAL_SUITE'] === 'full' || sample === 'parcel-desk' || !rewriting.includes(code);

describe.each(faultySamples)('in %s', (sample) => {
  const files = sampleFiles('.', sample);

  it('the audit finds nothing but rules and tools that the few tasks leave out', async () => {
    const found = await auditOf(folderOf(files));
    expect(found).toEqual(found.map(() => expect.stringMatching(/ (?:tool\/unused|policy\/uncovered-rule) /)));
  });

  it.each(sampleFaults.filter((fault) => fault[0] === sample && isTried(fault)))(
    '(%s) the audit is clean after the fix of %s in %s: %j',
    async (...fault) => {
      const [, code] = fault;
      const folder = folderOf(planted(files, fault));
      await mendFirst(checked, folder, code);
      expect(await auditOf(folder)).toEqual(await auditOf(folderOf(files)));
    },
  );
});
