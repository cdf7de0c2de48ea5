import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RefusedFile } from '../../../../src/engine/shell/files/boundedFile.ts';
import { copyFiles } from '../../../../src/engine/shell/files/copyFiles.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** A domain with a start state, and a folder outside of it. */
function folders() {
  const scratch = temporaryFolder('copy');
  const [domain, secrets, to] = [join(scratch, 'domain'), join(scratch, 'secrets'), join(scratch, 'to')];
  mkdirSync(join(domain, 'start', 'sub'), { recursive: true });
  mkdirSync(secrets);
  writeFileSync(join(domain, 'start', 'sub', 'note.txt'), 'Dear');
  writeFileSync(join(secrets, 'key.txt'), 'secret');
  return { domain, secrets, to };
}

test('files and folders are copied, and counted', () => {
  const { domain, to } = folders();
  expect(copyFiles(join(domain, 'start'), to, domain)).toBe(1);
  expect(readdirSync(join(to, 'sub'))).toEqual(['note.txt']);
});

const refused: readonly (readonly [string, (at: ReturnType<typeof folders>) => readonly [string, string], RegExp])[] = [
  [
    'a folder that is a link out of the domain',
    ({ domain, secrets, to }) => {
      symlinkSync(secrets, join(domain, 'linked'));
      return [join(domain, 'linked'), to];
    },
    /linked is a link to \S+secrets, outside of/,
  ],
  [
    'a folder that contains its copy',
    ({ domain }) => [domain, join(domain, 'files')],
    /contains \S+files, where its copy/,
  ],
  ['its own folder', ({ domain }) => [domain, domain], /contains/],
];

test.each(refused)('%s is refused, and nothing is copied', (_, paths, message) => {
  const made = folders();
  const [from, to] = paths(made);
  expect(() => copyFiles(from, to, made.domain)).toThrow(RefusedFile);
  expect(() => copyFiles(from, to, made.domain)).toThrow(message);
  expect(readdirSync(to).filter((name) => name !== 'start')).toEqual([]);
});
