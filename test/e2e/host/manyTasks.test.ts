import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Context } from '../../../src/extension/commandLine/context.ts';
import { LanguageClient } from '../../../src/extension/language/languageClient.ts';
import { chosenTests } from '../../../src/extension/testing/chosenTests.ts';
import { TaskTree } from '../../../src/extension/testing/taskTree.ts';
import { DomainsTree } from '../../../src/extension/views/domainsTree.ts';
import { copyOfDesk } from './desk.ts';
import { isFullSuite } from './fullSuite.ts';

/** The number of tasks in each file. */
const sizes = isFullSuite ? [1250, 1250, 1250, 1250] : [1, 1, 1250, 1250];
const total = sizes.reduce((sum, size) => sum + size, 0);

describe('a domain with thousands of tasks', () => {
  const desk = copyOfDesk();
  const { folder } = desk;
  const extension = vscode.extensions.getExtension('rehearsal.rehearsal');
  const client = new LanguageClient({ extension } as unknown as Context);
  const controller = vscode.tests.createTestController('rehearsal.many', 'Many tasks');
  const tree = new TaskTree(
    controller,
    async () => [folder],
    (of, grouping) => client.row(of, grouping),
  );
  before(async () => {
    const [, task = ''] = readFileSync(join(folder, 'tasks', 'train.task.yaml'), 'utf8').split(/^(?=- id: )/m);
    for (const [file, size] of sizes.entries()) {
      const texts = Array.from({ length: size }, (_, nth) => task.replace(/^- id: .*$/m, `- id: many-${file}-${nth}`));
      writeFileSync(join(folder, 'tasks', `many-${file}.task.yaml`), texts.join(''));
    }
    await tree.resolve();
    await tree.resolve(controller.items.get(folder));
  });
  after(() => {
    controller.dispose();
    client.dispose();
    desk.remove();
  });

  const group = () => {
    const item = controller.items.get(folder)?.children.get('split:train');
    assert.ok(item, 'there is no group of the split');
    return item;
  };
  const opened = () =>
    [...group().children].flatMap(([, page]) => (page.children.size > 0 ? [page.children.size] : []));

  it('has items in the Test Explorer only for the pages that are opened', async () => {
    assert.ok(group().children.size > sizes.length, 'the tasks are not in pages');
    assert.deepEqual(opened(), []);
    assert.equal(tree.task(folder, 'many-2-600')?.parent?.label, 'many-2 501–1000');
    assert.deepEqual(opened(), [500]);
    await tree.showFile(folder, join(folder, 'tasks', 'many-3.task.yaml'));
    assert.deepEqual(opened(), [500, 500, 500]);
    const known = tree.task(folder, 'many-2-600');
    await tree.read(folder);
    assert.equal(tree.task(folder, 'many-2-600'), known);
    assert.deepEqual(opened(), [500, 500, 500]);
  });

  it('runs the tasks of a page, and of a group also those without an item yet', async () => {
    const page = tree.task(folder, 'many-2-600')?.parent;
    assert.ok(page);
    assert.equal((await chosenTests(tree, controller, { include: [page], exclude: [] })).length, 500);
    const all = await chosenTests(tree, controller, { include: [group()], exclude: [] });
    assert.ok(all.length > total);
  });

  it('has pages of at most 500 tasks in the Domains view', async () => {
    const domains = new DomainsTree(client);
    const children = await domains.getChildren({ type: 'domain', folder });
    const pages = children.filter(({ type }) => type === 'page');
    assert.deepEqual(
      children.filter(({ type }) => type === 'task'),
      [],
    );
    const shown = await Promise.all(pages.map(async (page) => (await domains.getChildren(page)).length));
    assert.ok(shown.every((size) => size > 0 && size <= 500));
    assert.ok(shown.reduce((sum, size) => sum + size, 0) > total);
  });
});
