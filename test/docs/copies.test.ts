import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';

/** Sample domains and templates are copied to another place, where the documentation is not. */
const folders = ['domains', 'templates'].flatMap((kind) => readdirSync(inRoot(kind)).map((name) => inRoot(kind, name)));

test.each(folders.map((folder) => [relative(inRoot(), folder), folder] as const))(
  '%s refers only to files that its copy has',
  (_, folder) => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /^(?!\.rehearsal).*\.(?:md|yaml|ts|py)$/.test(path),
    );
    const missing = files.flatMap((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, target = '']) => target);
      const gone = links.filter((target) => {
        const to = relative(folder, join(folder, dirname(path), target));
        return to.startsWith('..') || !existsSync(join(folder, to));
      });
      return [...gone, ...(text.match(/\bdocs\/[\w-]+\.md/g) ?? [])].map((target) => `${path}: ${target}`);
    });
    expect(missing).toEqual([]);
  },
);
