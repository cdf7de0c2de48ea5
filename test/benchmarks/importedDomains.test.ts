import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importEach } from '../../src/benchmarks/importedDomains.ts';
import { leftOut } from '../../src/benchmarks/importReport.ts';
import type { NotCarriedList } from '../../src/benchmarks/notCarriedList.ts';
import { scratch } from '../support/benchmarkCopy.ts';

const source = { benchmark: 'tau2', from: '/copy', version: 'tau2 0.0.1' } as const;
const names = ['retail', 'airline', 'mock'] as const;

function made(name: string, notCarried: NotCarriedList) {
  notCarried.ofDomain('a thing');
  const persona = { id: 'customer', description: 'Somebody.' };
  const [train, test] = ['train', 'test'].map((split) => ({ id: split, split }));
  const tasks = [train, test, { ...test, id: 'other' }] as readonly Record<string, unknown>[];
  const head = { name: `tau2-${name}`, description: name };
  const domain = {
    benchmark: 'tau2',
    head,
    python: undefined,
    settings: {},
    policy: name,
    database: {},
    persona,
  } as const;
  return { ...domain, tasks };
}

test('every domain is complete in a folder of its name, and the folder has nothing else', async () => {
  const out = join(scratch(), 'domains');
  mkdirSync(join(out, 'mock'), { recursive: true });
  mkdirSync(join(out, '.airline.importing'));
  writeFileSync(join(out, '.airline.importing', 'left.md'), 'by one that was killed');
  const report = await importEach(source, names, { out }, async (name, list) => made(name, list));
  expect(report.domains).toEqual(names.map((name) => ({ name, folder: join(out, name), tasks: 3, train: 1, test: 2 })));
  expect(report.notCarried).toEqual(names.map((domain) => ({ domain, what: 'a thing' })));
  expect(readdirSync(out).toSorted()).toEqual(['airline', 'mock', 'retail']);
  expect(readdirSync(join(out, 'airline')).toSorted()).toEqual([
    'database.json',
    'domain.yaml',
    'personas',
    'policy.md',
    'tasks',
  ]);
  expect(readFileSync(join(out, 'mock', 'policy.md'), 'utf8')).toBe('mock');
});

test('nothing is made where the folder of one of them is taken', async () => {
  const out = scratch();
  const asked: string[] = [];
  const take = async (file: string) => {
    mkdirSync(join(out, 'mock'), { recursive: true });
    writeFileSync(join(out, 'mock', file), '');
    return importEach(source, names, { out }, async (name, list) => {
      asked.push(name);
      return made(name, list);
    });
  };
  await expect(take('notes.md')).rejects.toThrow(/mock already exists and is not empty; choose another --out/);
  await expect(take('domain.yaml')).rejects.toThrow(/mock already contains a domain; choose another --out/);
  expect([asked, readdirSync(out)]).toEqual([[], ['mock']]);
});

test('one that can not be made leaves nothing behind, so that the next try finds the place free', async () => {
  const out = join(scratch(), 'domains');
  const failing = importEach(source, names, { out }, async (name, list) => {
    if (name === 'mock') throw new Error('its database is garbled');
    return made(name, list);
  });
  await expect(failing).rejects.toThrow('its database is garbled');
  expect(existsSync(out)).toBe(false);
  expect((await importEach(source, names, { out }, async (name, list) => made(name, list))).domains).toHaveLength(3);
});

test('one that is stopped leaves nothing behind', async () => {
  const out = join(scratch(), 'domains');
  const stop = new AbortController();
  const stopped = importEach(source, names, { out, signal: stop.signal }, async (name, list) => {
    if (name === 'airline') stop.abort();
    return made(name, list);
  });
  await expect(stopped).rejects.toThrow('the import was stopped, and nothing was written');
  expect(existsSync(out)).toBe(false);
});

test('a file in place of the folder is reported, and parts without a domain', async () => {
  const file = join(scratch(), 'out');
  writeFileSync(file, '');
  await expect(importEach(source, names, { out: file }, async (name, list) => made(name, list))).rejects.toThrow(
    /out is a file, and a folder is expected there; choose another --out/,
  );
  const nothing = importEach(source, names.slice(0, 1), { out: scratch() }, async (name, list) => {
    made(name, list);
    return null;
  });
  await expect(nothing).rejects.toThrow('retail a thing');
});

test.runIf(process.platform === 'linux')('a place where no folder can be created is reported', async () => {
  const nowhere = importEach(source, names, { out: '/proc/domains' }, async (name, list) => made(name, list));
  await expect(nowhere).rejects.toThrow(/\/proc accepts no new folders/);
});

test('a folder that appears meanwhile is kept, and what was written before it is named', async () => {
  const out = join(scratch(), 'domains');
  const late = importEach(source, names, { out }, async (name, list) => {
    mkdirSync(join(out, 'airline'), { recursive: true });
    writeFileSync(join(out, 'airline', 'notes.md'), 'mine');
    return made(name, list);
  });
  await expect(late).rejects.toThrow(
    /airline can't be made \(ENOTEMPTY.*\); written and kept: retail; import the rest with --domains airline,mock$/,
  );
  expect(readdirSync(out).toSorted()).toEqual(['airline', 'retail']);
  expect(readdirSync(join(out, 'airline'))).toEqual(['notes.md']);
});

test('what is left out is counted: whole domains, and tasks of those that were made', () => {
  const domains = [{ name: 'retail', folder: '/retail', tasks: 3, train: 1, test: 2 }];
  const notCarried = [
    { domain: 'airline', what: 'this copy has none of it' },
    { domain: 'mock', what: 'has no split "x"' },
    { domain: 'mock', task: '1', what: 'it has a different layout' },
    { domain: 'retail', what: 'rules.py' },
    { domain: 'retail', task: '4', what: 'it has a different layout' },
  ];
  expect(leftOut({ domains, notCarried })).toEqual({ domains: 2, tasks: 1 });
});
