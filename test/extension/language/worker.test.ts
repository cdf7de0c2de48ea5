import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, it } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { readFiles } from '../../../src/engine/shell/domain/loadDomain.ts';
import type { Question } from '../../../src/language/answer.ts';
import type { Contents, ListedItem } from '../../../src/language/contents.ts';
import type { OutlineItem } from '../../../src/language/outline.ts';
import { codeStamp } from '../../../src/language/service/codeStamp.ts';
import type { DomainOutline } from '../../../src/language/service/domainRow.ts';
import type { FromService, ToService } from '../../../src/language/service/messages.ts';
import { desk, deskTools, folderOf } from '../../engine/shell/load/domainFolder.ts';
import { inFullSuite } from '../../support/suite.ts';

const worker = new Worker(inRoot('src/extension/language/worker.ts'));
const heard: FromService[] = [];
let wake = () => {};
/** Each version of a domain's code for which its tools were requested. */
const asked: { readonly folder: string; readonly stamp: string }[] = [];
worker.on('message', (message: FromService) => {
  heard.push(message);
  if (message.type === 'undescribed') asked.push(message);
  wake();
});
afterAll(() => worker.terminate());

const tell = (message: ToService) => worker.postMessage(message);

/** Waits for the next message of a kind; earlier ones are discarded. */
async function next<Type extends FromService['type']>(type: Type): Promise<Extract<FromService, { type: Type }>> {
  for (;;) {
    for (let message = heard.shift(); message; message = heard.shift())
      if (message.type === type) return message as Extract<FromService, { type: Type }>;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

let last = 0;
async function ask(folder: string, question: Question): Promise<unknown> {
  const id = ++last;
  tell({ type: 'ask', id, folder, question });
  for (;;) {
    const answer = await next('answer');
    if (answer.id === id) return answer.value;
  }
}

/** Returns the versions of the code for which the tools of a domain were requested so far. */
async function stampsOf(folder: string): Promise<readonly string[]> {
  await ask(folder, { type: 'symbols', query: '' });
  return asked.filter((each) => each.folder === folder).map(({ stamp }) => stamp);
}

/** Waits for the next findings of a domain; those of another one may come late. */
async function codesOf(folder: string): Promise<readonly string[]> {
  for (;;) {
    const found = await next('found');
    if (found.folder === folder) return found.diagnostics.map(({ code }) => code);
  }
}

it('finds what is wrong with a text that is typed, change by change, and with the file again once it is saved', async () => {
  const folder = folderOf(desk);
  const file = join(folder, 'tasks/first.task.yaml');
  const text = readFileSync(file, 'utf8');
  tell({ type: 'touch', folder });
  expect(await codesOf(folder)).toEqual([]);
  tell({ type: 'text', folder, file, text: text.replace('tool: find_order', 'tool: find_orde') });
  expect(await codesOf(folder)).toEqual(['task/unknown-tool']);
  const offset = text.indexOf('find_order') + 'find_orde'.length;
  tell({ type: 'change', folder, file, changes: [{ offset, length: 0, text: 'r' }] });
  expect(await codesOf(folder)).toEqual([]);
  tell({
    type: 'change',
    folder,
    file,
    changes: [
      { offset: 0, length: 0, text: 'x' },
      { offset: 0, length: 1, text: '' },
    ],
  });
  expect(await codesOf(folder)).toEqual([]);
  tell({ type: 'change', folder, file, changes: [{ offset: 0, length: 2, text: 'ix' }] });
  expect(await codesOf(folder)).not.toEqual([]);
  tell({ type: 'text', folder, file, text: null });
  expect(await codesOf(folder)).toEqual([]);
  writeFileSync(file, text.replace('persona: plain', 'persona: plian'));
  tell({ type: 'touch', folder });
  expect(await codesOf(folder)).toEqual(['task/unknown-persona']);
});

inFullSuite(
  'answers a question about another domain while thousands of tasks are read',
  async () => {
    const task = String(desk['tasks/first.task.yaml']).trimEnd().replaceAll('\n', '\n  ');
    const many = Array.from({ length: 4000 }, (_, at) => `- ${task.replace('id: cancel', `id: cancel-${at}`)}\n`);
    const [large, small] = [folderOf({ ...desk, 'tasks/many.task.yaml': many.join('') }), folderOf(desk)];
    tell({ type: 'touch', folder: large });
    await setTimeout(100);
    await ask(small, { type: 'symbols', query: '' });
    // The large domain had no findings before the answer.
    const found = await next('found');
    expect([found.folder, found.diagnostics.length]).toEqual([large, 1001]);
  },
  60_000,
);

it('looks at many keystrokes together', async () => {
  const folder = folderOf(desk);
  const file = join(folder, 'policy.md');
  for (let count = 0; count < 200; count++) tell({ type: 'text', folder, file, text: `# Desk ${count}\n` });
  // The finding of the last text shows that all of them were checked.
  tell({ type: 'text', folder, file, text: '# Desk {#not a mark}\n' });
  let looks = 1;
  while (!(await codesOf(folder)).includes('policy/bad-mark')) looks += 1;
  expect(looks).toBeLessThan(20);
});

it('asks for the tools of a domain that somebody works on, and knows them in that state of their code', async () => {
  const folder = folderOf(desk);
  const at = { file: join(folder, 'tasks/first.task.yaml'), line: 7, column: 44 };
  await ask(folder, { type: 'hover', at });
  const { stamp } = await next('undescribed');
  tell({ type: 'described', folder, stamp, tools: deskTools, isWhole: false });
  await next('found');
  const text = readFileSync(at.file, 'utf8');
  tell({
    type: 'text',
    folder,
    file: at.file,
    text: text.replace(
      'arguments: { order: W1 } }\n  - { tool: cancel',
      'arguments: { odrer: W1 } }\n  - { tool: cancel',
    ),
  });
  expect(await codesOf(folder)).toContain('task/bad-arguments');
  expect(await stampsOf(folder)).toEqual([stamp]);
  writeFileSync(join(folder, 'tools.ts'), `${desk['tools.ts']}// more\n`);
  tell({ type: 'touch', folder });
  expect(await codesOf(folder)).toEqual([]);
  expect((await next('undescribed')).stamp).not.toBe(stamp);
});

it('asks for the tools of code that is typed once it is saved: what describes them reads the disk', async () => {
  const folder = folderOf(desk);
  const file = join(folder, 'tools.ts');
  tell({ type: 'text', folder, file, text: `${desk['tools.ts']}// more\n` });
  await next('found');
  expect(await stampsOf(folder)).toEqual([]);
  tell({ type: 'text', folder, file, text: `${desk['tools.ts']}// more and more\n` });
  await next('found');
  expect(await stampsOf(folder)).toEqual([]);
  writeFileSync(file, `${desk['tools.ts']}// more and more\n`);
  tell({ type: 'text', folder, file, text: null });
  await next('undescribed');
  expect(await stampsOf(folder)).toHaveLength(1);
});

it('takes the tools that a check described for the code that it read, also while other code is typed', async () => {
  const folder = folderOf({
    ...desk,
    'tasks/first.task.yaml': String(desk['tasks/first.task.yaml']).replace('arguments: { order', 'arguments: { odrer'),
  });
  const file = join(folder, 'tools.ts');
  tell({ type: 'text', folder, file, text: `${desk['tools.ts']}// more\n` });
  expect(await codesOf(folder)).not.toContain('task/bad-arguments');
  tell({ type: 'described', folder, stamp: codeStamp(readFiles(folder)), tools: deskTools, isWhole: true });
  expect(await codesOf(folder)).not.toContain('task/bad-arguments');
  tell({ type: 'text', folder, file, text: null });
  expect(await codesOf(folder)).toContain('task/bad-arguments');
});

it('does not take the tools that a check described for the code as it was before', async () => {
  const folder = folderOf({ ...desk, 'tools.ts': '' });
  const stamp = codeStamp(readFiles(folder));
  writeFileSync(join(folder, 'tools.ts'), String(desk['tools.ts']));
  tell({ type: 'touch', folder });
  expect(await codesOf(folder)).toEqual([]);
  tell({ type: 'described', folder, stamp, tools: [], isWhole: true });
  expect(await codesOf(folder)).toEqual([]);
});

it('asks again for the tools of newer code when a check of earlier code took their place', async () => {
  const folder = folderOf(desk);
  const [stamp = ''] = await stampsOf(folder).then(() => stampsOf(folder));
  tell({ type: 'described', folder, stamp, tools: deskTools, isWhole: false });
  await next('found');
  expect(await stampsOf(folder)).toEqual([stamp]);
  tell({ type: 'described', folder, stamp: 'of earlier code', tools: deskTools, isWhole: true });
  await next('found');
  expect(await stampsOf(folder)).toEqual([stamp, stamp]);
});

it('asks once for each state of the code, whatever is typed elsewhere, and again when something is new on the disk', async () => {
  const folder = folderOf(desk);
  const [first, ...others] = await stampsOf(folder).then(() => stampsOf(folder));
  expect(others).toEqual([]);
  const typed = async (path: string, text: string | null) => {
    tell({ type: 'text', folder, file: join(folder, path), text });
    await next('found');
  };
  for (const count of [1, 2, 3]) await typed('policy.md', `${desk['policy.md']}\n${count}\n`);
  await typed('tools.ts', `${desk['tools.ts']}// more\n`);
  await typed('tools.ts', null);
  expect(await stampsOf(folder)).toEqual([first]);
  const saved = async (text: string) => {
    writeFileSync(join(folder, 'tools.ts'), text);
    await typed('tools.ts', null);
    return (await stampsOf(folder)).at(-1);
  };
  expect(await saved(`${desk['tools.ts']}// more\n`)).not.toBe(first);
  expect(await saved(String(desk['tools.ts']))).toBe(first);
  expect(await stampsOf(folder)).toHaveLength(3);
  tell({ type: 'touch', folder });
  await next('found');
  expect(await stampsOf(folder)).toHaveLength(4);
});

it('what is asked about a domain whose domain.yaml is broken at the moment is answered with what it was before', async () => {
  const folder = folderOf(desk);
  const symbols = { type: 'symbols', query: 'cancel' } as const;
  const before = (await ask(folder, symbols)) as readonly unknown[];
  expect(before.length).toBeGreaterThan(0);
  tell({ type: 'text', folder, file: join(folder, 'domain.yaml'), text: 'name: desk\nturnC' });
  expect(await ask(folder, symbols)).toEqual(before);
});

it('fixes a file, or the whole domain, in as many rounds as it takes', async () => {
  const folder = folderOf({
    ...desk,
    'tasks/first.task.yaml': String(desk['tasks/first.task.yaml'])
      .replace('find_order', 'find_ordr')
      .replace('persona: plain', 'persona: plian'),
    'tasks/other.task.yaml': String(desk['tasks/first.task.yaml'])
      .replace('id: cancel', 'id: other')
      .replace('find_order', 'find_ordr')
      .replaceAll('W1', 'W2'),
  });
  const fixAll = async (file: string | null) => {
    const id = ++last;
    tell({ type: 'fixAll', id, folder, file });
    return (await next('answer')).value as readonly (readonly [string, string])[];
  };
  const file = join(folder, 'tasks/first.task.yaml');
  expect(await fixAll(file)).toEqual([[file, desk['tasks/first.task.yaml']]]);
  expect((await fixAll(null)).map(([path]) => path)).toEqual([file, join(folder, 'tasks/other.task.yaml')]);
});

it('a question that is taken back is not answered', async () => {
  const folder = folderOf(desk);
  const [busy, one, two] = [++last, ++last, ++last];
  tell({ type: 'ask', id: busy, folder, question: { type: 'symbols', query: '' } });
  tell({ type: 'ask', id: one, folder, question: { type: 'symbols', query: '' } });
  tell({ type: 'cancel', id: one });
  tell({ type: 'ask', id: two, folder, question: { type: 'symbols', query: '' } });
  expect([(await next('answer')).id, (await next('answer')).id]).toEqual([busy, two]);
});

it('asks for the whole text where changes come of one that it does not have, as after its domain was gone', async () => {
  const folder = folderOf(desk);
  const file = join(folder, 'tasks/first.task.yaml');
  const text = readFileSync(file, 'utf8');
  tell({ type: 'text', folder, file, text });
  expect(await codesOf(folder)).toEqual([]);
  tell({ type: 'forget', folder });
  const changes = [{ offset: text.indexOf('find_order'), length: 'find_order'.length, text: 'find_orde' }];
  tell({ type: 'change', folder, file, changes });
  expect(await next('unknown')).toEqual({ type: 'unknown', folder, file });
  tell({ type: 'text', folder, file, text: text.replace('find_order', 'find_orde') });
  expect(await codesOf(folder)).toEqual(['task/unknown-tool']);
});

it('a domain that breaks the reader does not affect the others, and the error is reported', async () => {
  const folder = folderOf(desk);
  tell({ type: 'touch', folder: null as unknown as string });
  const { id, message } = await next('failed');
  expect([id, message]).toEqual([null, expect.stringContaining('must be of type string')]);
  tell({ type: 'touch', folder });
  expect(await codesOf(folder)).toEqual([]);
});

inFullSuite('sends thousands of tasks in pages, and of thousands of findings the most important ones', async () => {
  const folder = folderOf(desk);
  const [task = ''] = readFileSync(join(folder, 'tasks/first.task.yaml'), 'utf8').split(/^(?=- id: )/m);
  const copy = (id: string) => task.replace(/^(- )?id: .*$/m, `$1id: ${id}`);
  const many = Array.from({ length: 1200 }, (_, number) => copy(`many-${number}`));
  writeFileSync(join(folder, 'tasks/many.task.yaml'), listed(many));
  tell({ type: 'touch', folder });
  const { diagnostics } = await next('found');
  expect(diagnostics).toHaveLength(1001);
  expect(diagnostics.at(-1)).toMatchObject({ code: 'domain/more-findings', file: join(folder, 'domain.yaml') });
  const answerTo = async (message: (id: number) => ToService) => {
    const id = ++last;
    tell(message(id));
    for (;;) {
      const answer = await next('answer');
      if (answer.id === id) return answer.value;
    }
  };
  const row = (await answerTo((id) => ({ type: 'row', id, folder, grouping: 'split' }))) as DomainOutline;
  expect(row.groups.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(1200);
  expect(JSON.stringify(row)).not.toContain('many-0');
  const rows = await answerTo((id) => ({ type: 'taskRows', id, folder, from: 700, to: 1200 }));
  expect(rows).toHaveLength(500);
  expect(await ask(folder, { type: 'symbols', query: 'many' })).toHaveLength(500);
  const outline = (await ask(folder, { type: 'outline', file: join(folder, 'tasks/many.task.yaml') })) as OutlineItem[];
  expect([outline.length, outline.flatMap(({ children }) => children)]).toEqual([1200, []]);
  const contents = (await ask(folder, { type: 'contents' })) as Contents;
  expect(JSON.stringify(contents)).not.toContain('many-0');
  expect(contents.taskPages.map(({ name }) => name)).toEqual([
    'first',
    'many 1–500',
    'many 501–1000',
    'many 1001–1200',
  ]);
  const [, , { from = 0, to = 0 } = {}] = contents.taskPages;
  const page = (await ask(folder, { type: 'taskPage', from, to })) as readonly ListedItem[];
  expect([page.length, page[0]?.id, page.at(-1)?.id]).toEqual([500, 'many-500', 'many-999']);
});

/** Joins texts with one task each into a file with all of them. */
const listed = (tasks: readonly string[]) =>
  tasks.map((task) => (task.startsWith('- ') ? task : `- ${task.trimEnd().replaceAll('\n', '\n  ')}\n`)).join('');
