import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { version } from '../../src/engine/shell/files/version.ts';

const found = (file: string, pattern: RegExp) => pattern.exec(readFileSync(inRoot(file), 'utf8'))?.[1];

test.each([
  ['package.json', /"version": "([^"]+)"/],
  ['package-lock.json', /"version": "([^"]+)"/],
  ['CHANGELOG.md', /^## (\S+)$/m],
  ['trainer/pyproject.toml', /^version = "([^"]+)"$/m],
  ['.github/actions/evaluate/action.yml', /^ {4}default: rehearsal@(\S+)$/m],
  ['trainer/rehearsal_trainer/__init__.py', /^__version__ = "([^"]+)"$/m],
])('%s has the version that the engine writes into recordings and tells MCP servers', (file, pattern) => {
  expect(found(file, pattern)).toBe(version);
});
