import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepExperimentRecord, readExperimentRecord } from '../../../src/cli/experiment/experimentRecord.ts';
import { temporaryFolder } from '../../support/temporary.ts';

function folder(): string {
  const made = temporaryFolder('rehearsal-record');
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test('what is kept is read again, and a folder without it has none', () => {
  const at = folder();
  expect(readExperimentRecord(at)).toBeUndefined();
  for (const python of [undefined, 'python3.12']) {
    const record = { file: '/a.experiment.yaml', target: 'ssh://gpu', ...(python ? { python } : {}) };
    keepExperimentRecord(at, record);
    expect(readExperimentRecord(at)).toEqual(record);
  }
});

test.each([
  ['no JSON', '{'],
  ['a list', '[]'],
  ['no experiment', '{"target": "local"}'],
  ['no target', '{"file": "/a.experiment.yaml"}'],
  ['a target that is not a string', '{"file": "/a.experiment.yaml", "target": 1}'],
  ['a key that it never had', '{"file": "/a.experiment.yaml", "target": "local", "seed": 1}'],
])('%s is refused with what to do', (_, text) => {
  const at = folder();
  writeFileSync(join(at, 'experiment.json'), text);
  expect(() => readExperimentRecord(at)).toThrow(
    /experiment\.json was changed after Rehearsal wrote it, .*which experiment this is.*"file".*--out/,
  );
});
