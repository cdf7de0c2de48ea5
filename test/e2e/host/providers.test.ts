import { strict as assert } from 'node:assert';
import { basename, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { checkFiles, readFiles } from '../../../src/engine/shell/domain/loadDomain.ts';
import { saveFilesOf } from '../../../src/extension/workspace/workspaceDomains.ts';
import { audit, copyOf, eventually, foundIn, lineOf, positionOf, show, toldAt } from './desk.ts';
import { inFullSuite, isFullSuite } from './fullSuite.ts';
import { type Sample, samples } from './samples.ts';

const execute = vscode.commands.executeCommand;

/**
 * Returns the labels of the completions at the mark in words that are inserted into a file. The file stays unchanged.
 */
async function offeredIn(path: string, behind: string, text: string): Promise<string[]> {
  const { document } = await show(path);
  const whole = document.getText();
  const offset = behind === '' ? whole.length : whole.indexOf(behind) + behind.length;
  const mark = text.indexOf('|');
  assert.ok(offset >= behind.length && mark >= 0);
  const edit = new vscode.WorkspaceEdit();
  edit.insert(document.uri, document.positionAt(offset), text.replace('|', ''));
  await vscode.workspace.applyEdit(edit);
  const at = document.positionAt(offset + mark);
  const list = await execute<vscode.CompletionList>('vscode.executeCompletionItemProvider', document.uri, at);
  const back = new vscode.WorkspaceEdit();
  back.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), whole);
  await vscode.workspace.applyEdit(back);
  await document.save();
  return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
}

/** The coloured words of a file by their lines, each with its type. */
async function coloursOf(uri: vscode.Uri): Promise<ReadonlyMap<number, readonly (readonly [string, string])[]>> {
  const document = await vscode.workspace.openTextDocument(uri);
  const legend = await execute<vscode.SemanticTokensLegend>('vscode.provideDocumentSemanticTokensLegend', uri);
  const { data } = await execute<vscode.SemanticTokens>('vscode.provideDocumentSemanticTokens', uri);
  const colours = new Map<number, (readonly [string, string])[]>();
  let [line, column] = [0, 0];
  for (let at = 0; at < data.length; at += 5) {
    const [down = 0, along = 0, length = 0, type = 0, modifiers = 0] = data.slice(at, at + 5);
    column = down > 0 ? along : column + along;
    line += down;
    const names = legend.tokenModifiers.filter((_, bit) => modifiers & (1 << bit));
    const text = document.getText(new vscode.Range(line, column, line, column + length));
    colours.set(line, [
      ...(colours.get(line) ?? []),
      [text, [legend.tokenTypes[type] ?? `type ${type}`, ...names].join(' ')],
    ]);
  }
  return colours;
}

/** Kinds of completions that were tested; the quick suite tests each kind once, `npm run test:full` in each sample. */
const completed = new Set<string>();
/** The sample for tests that need only one in the quick suite: it has two databases, and tools of two sides. */
const main = 'help-line';

for (const sample of samples) describe(`in ${sample.name} the editor`, () => testSample(sample));

function testSample(sample: Sample): void {
  const { folder, remove } = copyOf(sample.name);
  const path = (name: string) => join(folder, name);
  const uriOf = (name: string) => vscode.Uri.file(path(name));
  after(async () => {
    await execute('workbench.action.closeAllEditors');
    remove();
  });

  for (const [what, file, behind, text, expected] of sample.completions) {
    const isTried = isFullSuite || !completed.has(what);
    completed.add(what);
    (isTried ? it : it.skip)(`completes ${what}`, async () => {
      // The arguments of a tool are known only after its code has described it in the background.
      await eventually(async () => {
        const offered = await offeredIn(path(file), behind, text);
        const missing = expected.filter((each) => !offered.includes(each));
        assert.deepEqual(missing, [], `offered: ${offered.slice(0, 30).join(', ')}`);
      });
    });
  }

  const test = isFullSuite || sample.name === main ? it : it.skip;

  test('describes the name under the mouse', async () => {
    for (const [file, words, told] of sample.hovers) {
      await eventually(async () => assert.match(await toldAt(...(await positionOf(path(file), words))), told));
    }
  });

  test('goes from a name to where it is made', async () => {
    for (const [file, words, target, line] of sample.definitions) {
      const found = await execute<(vscode.Location | vscode.LocationLink)[]>(
        'vscode.executeDefinitionProvider',
        ...(await positionOf(path(file), words)),
      );
      const places = found.map((each) => {
        const { uri, range } = 'uri' in each ? each : { uri: each.targetUri, range: each.targetRange };
        return `${relative(folder, uri.fsPath)}:${range.start.line + 1}`;
      });
      assert.deepEqual(places, [`${target}:${lineOf(path(target), line)}`], `${file}: ${words}`);
    }
  });

  test('finds every place that speaks of a tool, a rule and a persona, and those of one file', async () => {
    for (const [file, name, files] of sample.references) {
      const at = await positionOf(path(file), name);
      const found = await execute<vscode.Location[]>('vscode.executeReferenceProvider', ...at);
      assert.deepEqual([...new Set(found.map(({ uri }) => basename(uri.fsPath)))].toSorted(), files);
      const words = found.map(async ({ uri, range }) => (await vscode.workspace.openTextDocument(uri)).getText(range));
      assert.deepEqual([...new Set(await Promise.all(words))], [name]);
      const highlights = await execute<vscode.DocumentHighlight[]>('vscode.executeDocumentHighlights', ...at);
      assert.equal(highlights.length, found.filter(({ uri }) => uri.fsPath === path(file)).length);
    }
  });

  test('outlines its files', async () => {
    for (const [file, name, detail] of sample.outlines) {
      const all = await execute<vscode.DocumentSymbol[]>('vscode.executeDocumentSymbolProvider', uriOf(file));
      const symbol = all.find((each) => each.name === name);
      assert.ok(symbol, `${file}: ${all.map((each) => each.name).join(', ')}`);
      if (typeof detail === 'string') assert.equal(symbol.detail, detail);
      else assert.match(symbol.detail, detail);
      assert.equal(symbol.selectionRange.start.line + 1, lineOf(path(file), name));
    }
  });

  test('folds items and long texts', async () => {
    for (const [file, first, last] of sample.folds) {
      await vscode.workspace.openTextDocument(path(file));
      const folds = await execute<vscode.FoldingRange[]>('vscode.executeFoldingRangeProvider', uriOf(file));
      const ends = folds.filter(({ start }) => start === first - 1).map(({ end }) => end + 1);
      assert.deepEqual(ends, [last], `${file}:${first}`);
    }
  });

  it('links the files that domain.yaml names', async () => {
    for (const [file, said, target] of sample.links) {
      const { document } = await show(path(file));
      if (!document.getText().includes(said)) {
        const edit = new vscode.WorkspaceEdit();
        edit.insert(document.uri, document.positionAt(document.getText().length), `${said}\n`);
        await vscode.workspace.applyEdit(edit);
      }
      const line = document.positionAt(document.getText().indexOf(said)).line;
      await eventually(async () => {
        const links = await execute<vscode.DocumentLink[]>('vscode.executeLinkProvider', document.uri, 20);
        const lines = links.filter((link) => link.target?.fsPath === path(target)).map(({ range }) => range.start.line);
        assert.deepEqual(lines, [line], `${target} is not a link`);
      });
      await execute('workbench.action.files.revert');
    }
  });

  test('colours names by what they name', async () => {
    for (const [file, words, expected] of sample.colours) {
      const colours = await coloursOf(uriOf(file));
      assert.deepEqual(colours.get(lineOf(path(file), words) - 1), expected, `${file}: ${words}`);
    }
  });

  it('formats what is out of order, keeps comments, and leaves the rest as it is', async () => {
    const [file, right, wrong] = sample.format;
    const format = async () =>
      (await execute<vscode.TextEdit[] | undefined>('vscode.executeFormatDocumentProvider', uriOf(file), {
        tabSize: 2,
        insertSpaces: true,
      })) ?? [];
    assert.deepEqual(await format(), []);
    const { document } = await show(path(file));
    const text = document.getText();
    const plain = right.replace(/ #.*/, '');
    assert.ok(text.includes(plain), `${file} does not say ${plain}`);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text.replace(plain, wrong));
    await vscode.workspace.applyEdit(edit);
    const mend = new vscode.WorkspaceEdit();
    mend.set(document.uri, await format());
    await vscode.workspace.applyEdit(mend);
    assert.equal(document.getText(), text.replace(plain, right));
    await execute('workbench.action.files.revert');
  });

  it('shows what can be done with a task above it', async () => {
    const [file, task] = sample.lenses;
    await show(path(file));
    const lenses = await execute<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uriOf(file), 999);
    const own = lenses
      .filter(({ range }) => range.start.line === lineOf(path(file), task) - 1)
      .map(({ command }) => command);
    assert.deepEqual(
      own.map((command) => [command?.title, command?.command, command?.arguments]),
      [
        ['$(debug-alt) Debug', 'rehearsal.task.debug'],
        ['$(play) Run', 'rehearsal.task.run'],
        ['$(person) Play as User', 'rehearsal.task.play'],
      ].map((each) => [...each, [{ type: 'task', folder, task }]]),
    );
  });

  (isFullSuite || sample.name === main ? describe : describe.skip)('renames', () => testRenames(sample, folder));
}

/**
 * Makes all renames of a sample, checks the findings once, and undoes the renames from the last to the first. Nothing
 * is saved in between, because each save of the domain's code starts a process that describes its tools again.
 */
function testRenames({ renames }: Sample, folder: string): void {
  const path = (name: string) => join(folder, name);
  const textOf = async (name: string) => (await vscode.workspace.openTextDocument(path(name))).getText();
  const editOf = async (at: readonly [vscode.Uri, vscode.Position], to: string, files: readonly string[]) => {
    const edit = await execute<vscode.WorkspaceEdit>('vscode.executeDocumentRenameProvider', ...at, to);
    const changed = edit.entries().map(([uri]) => relative(folder, uri.fsPath));
    assert.deepEqual(changed.toSorted(), files);
    return edit;
  };
  // If code names a value after the field, a rename and its undoing rename both.
  const withoutAlias = (text: string) =>
    renames.reduce((shorter, { 3: from }) => shorter.replaceAll(`${from}: ${from}`, from), text);
  const undo: (() => Promise<void>)[] = [];
  after(() => saveFilesOf(folder));

  for (const [what, file, words, from, to, files] of renames) {
    it(`${what} in all files`, async () => {
      const texts = await Promise.all(files.map(textOf));
      const at = await positionOf(path(file), words);
      // The language features may still be reading what the rename before this one changed.
      await eventually(async () => {
        const edit = await editOf(at, to, files);
        for (const [uri, edits] of edit.entries()) {
          const document = await vscode.workspace.openTextDocument(uri);
          for (const { range, newText } of edits) {
            assert.equal(document.getText(range), from);
            // A name that code gives to the value of a field stays.
            assert.ok(newText === to || newText === `${to}: ${from}`, newText);
          }
        }
        assert.ok(await vscode.workspace.applyEdit(edit));
      });
      undo.push(async () => {
        await eventually(async () => assert.ok(await vscode.workspace.applyEdit(await editOf(at, from, files))));
        assert.deepEqual((await Promise.all(files.map(textOf))).map(withoutAlias), texts.map(withoutAlias));
      });
      const { 1: place } = at;
      const line = (await textOf(file)).split('\n')[place.line] ?? '';
      assert.equal(line.slice(place.character - 1, place.character - 1 + to.length), to);
    });
  }

  it('and nothing is found in the files of the renamed domain', async () => {
    await saveFilesOf(folder);
    assert.deepEqual(checkFiles(readFiles(folder)).diagnostics, []);
  });

  inFullSuite('and the audit of the renamed domain finds nothing', async () => {
    const count = await audit(folder);
    assert.deepEqual([foundIn(folder), count], [[], 0]);
  });

  it('and back', async () => {
    assert.equal(undo.length, renames.length);
    for (const step of undo.toReversed()) await step();
  });
}
