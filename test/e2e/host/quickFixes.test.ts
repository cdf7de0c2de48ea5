import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { checkFiles, readFiles } from '../../../src/engine/shell/domain/loadDomain.ts';
import {
  desk,
  type FixableFault,
  faulty,
  fixableFaults,
  persona,
  tasks,
} from '../../engine/shell/audit/fixableFaults.ts';
import { faultySamples, plantedTogether, sampleFiles } from '../../engine/shell/audit/sampleFaults.ts';
import type { Files } from '../../engine/shell/load/domainFolder.ts';
import { applyAndSave, audit, check, eventually, found, show } from './desk.ts';
import { inFullSuite, isFullSuite } from './fullSuite.ts';

const execute = vscode.commands.executeCommand;

/** The errors and warnings in a folder. */
const unsound = (folder: string) =>
  vscode.languages
    .getDiagnostics()
    .filter(([uri]) => uri.fsPath.startsWith(folder))
    .flatMap(([uri, each]) => each.map(({ severity, message }) => ({ severity, message, file: uri.fsPath })))
    .filter(({ severity }) => severity <= vscode.DiagnosticSeverity.Warning);

const actionsAt = (uri: vscode.Uri, range: vscode.Range, kind: vscode.CodeActionKind, count = 20) =>
  execute<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, range, kind.value, count);

const codesIn = (folder: string) =>
  vscode.languages
    .getDiagnostics()
    .filter(([uri]) => uri.fsPath.startsWith(folder))
    .flatMap(([uri]) => found(uri).map(({ code }) => code));

/** Writes files into a new folder, or into an existing one. */
function folderOf(files: Files, folder = mkdtempSync(join(tmpdir(), 'rehearsal-fix-'))): string {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Removes a folder whose files an editor may show. */
async function remove(folder: string): Promise<void> {
  await execute('workbench.action.closeAllEditors');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Returns the finding of a code, and the preferred fix of the light bulb there. */
async function fixOf(uri: vscode.Uri, code: string): Promise<vscode.CodeAction | undefined> {
  for (const { range } of found(uri).filter((each) => each.code === code)) {
    const actions = await actionsAt(uri, range, vscode.CodeActionKind.QuickFix);
    const fix = actions.find(({ isPreferred }) => isPreferred);
    if (fix?.edit) return fix;
  }
  return undefined;
}

/** Waits for the finding: some are found by reading the files, others only by an audit. */
async function foundFix(folder: string, uri: vscode.Uri, code: string): Promise<vscode.CodeAction | undefined> {
  const { diagnostics } = checkFiles(readFiles(folder));
  const isRead = diagnostics.some((each) => each.code === code && each.file === uri.fsPath);
  const read = () => eventually(() => assert.ok(found(uri).some((each) => each.code === code)));
  for (const look of isRead ? [read, audit] : [audit]) {
    await look(folder);
    const fix = await fixOf(uri, code);
    if (fix) return fix;
  }
  return undefined;
}

/** Returns the fix of everything in the domain that the light bulb offers in a file with a finding. */
async function fixOfDomain({ uri }: vscode.TextDocument): Promise<vscode.CodeAction | undefined> {
  const range = found(uri)[0]?.range ?? new vscode.Range(0, 0, 0, 0);
  const actions = await actionsAt(uri, range, vscode.CodeActionKind.QuickFix);
  return actions.find(({ title }) => title.endsWith('of the domain'));
}

/**
 * A code of each kind of file, all in one domain. The first is in domain.yaml, and nothing else is read while that is
 * broken. The last is found by an audit, which needs a domain without errors. `npm run test:full` tries every fix here,
 * each in its own domain, and the engine's own test always does.
 */
const tried = [
  'domain/wrong-type',
  'task/unknown-tool',
  'rule/unknown-name',
  'policy/bad-mark',
  'persona/wrong-value',
  'tool/strict-schema',
  'tool/undeclared-write',
].flatMap((code) => fixableFaults.find((fault) => fault.code === code) ?? []);

for (const faults of isFullSuite ? fixableFaults.map((fault) => [fault]) : [tried])
  describe('the quick fix', () => testFixes(faults));

/** Plants faults in one domain, fixes one after the other, and audits the domain once. */
function testFixes(faults: readonly FixableFault[]): void {
  // The largest of their domains has everything that they need.
  const [largest] = faults.toSorted((a, b) => Object.keys(b.base).length - Object.keys(a.base).length);
  let files = largest?.base ?? {};
  for (const fault of faults) files = faulty({ ...fault, base: files });
  const folder = folderOf(files);
  after(() => remove(folder));

  for (const { code, file, wrong } of faults) {
    it(`of ${code} in ${file} (${wrong.trim().split('\n')[0]}) is offered`, async () => {
      const path = join(folder, file);
      const before = readFileSync(path, 'utf8');
      const { document } = await show(path);
      const fix = await foundFix(folder, document.uri, code);
      assert.ok(fix?.edit, `found: ${codesIn(folder).join(', ')}`);
      await applyAndSave(fix.edit);
      assert.notEqual(readFileSync(path, 'utf8'), before);
    });
  }

  it(`and the audit is clean after ${faults.map(({ code }) => code).join(', ')}`, async () => {
    await audit(folder);
    // Findings of the files come from another thread, sometimes after the audit's answer.
    await eventually(() => assert.deepEqual(codesIn(folder), [...new Set(faults.flatMap(({ noted }) => noted))]));
  });
}

describe('the light bulb at a persona that does not exist', () => {
  const folder = folderOf({ ...desk, [tasks]: String(desk[tasks]).replaceAll('persona: plain', 'persona: hurried') });
  after(() => remove(folder));

  it('creates it and opens its file', async () => {
    const { document } = await show(join(folder, tasks));
    const unknown = () => found(document.uri).find(({ code }) => code === 'task/unknown-persona');
    await eventually(() => assert.ok(unknown()));
    const range = unknown()?.range ?? new vscode.Range(0, 0, 0, 0);
    const actions = await actionsAt(document.uri, range, vscode.CodeActionKind.QuickFix);
    const create = actions.find(({ title }) => title === 'Create persona hurried');
    assert.ok(create?.edit && create.command, actions.map(({ title }) => title).join());
    assert.ok(await vscode.workspace.applyEdit(create.edit));
    await execute(create.command.command, ...(create.command.arguments ?? []));
    const file = join(folder, 'personas', 'hurried.persona.yaml');
    await eventually(() => assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, file));
    assert.match(readFileSync(file, 'utf8'), /^id: hurried$/m);
    await eventually(() => assert.ok(!codesIn(folder).includes('task/unknown-persona')));
  });
});

describe('all quick fixes', () => {
  const folder = folderOf(desk);
  after(() => remove(folder));

  it('fixes everything in a file, and everything in the domain', async () => {
    const one = join(folder, tasks);
    const other = join(folder, persona);
    const [first, second] = [readFileSync(one, 'utf8'), readFileSync(other, 'utf8')];
    writeFileSync(
      one,
      first.replaceAll('tool: renew_loan', 'tool: renew_lone').replace('persona: plain', 'persona: plian'),
    );
    writeFileSync(other, second.replace('description:', 'descripton:'));
    const { document } = await show(one);
    await eventually(() => assert.ok(found(document.uri).length > 1 && found(vscode.Uri.file(other)).length > 0));
    const [diagnostic] = found(document.uri);
    const range = diagnostic?.range ?? new vscode.Range(0, 0, 0, 0);
    const [inFile] = await actionsAt(document.uri, range, vscode.CodeActionKind.SourceFixAll);
    assert.ok(inFile?.edit, 'no fix of the file');
    assert.deepEqual(
      inFile.edit.entries().map(([uri]) => uri.fsPath),
      [one],
    );
    const all = await fixOfDomain(document);
    assert.ok(all?.edit, 'no fix of the domain');
    assert.deepEqual(
      all.edit
        .entries()
        .map(([uri]) => uri.fsPath)
        .toSorted(),
      [one, other].toSorted(),
    );
    await applyAndSave(all.edit);
    assert.deepEqual([readFileSync(one, 'utf8'), readFileSync(other, 'utf8')], [first, second]);
    assert.equal(await audit(folder), 0);
  });

  for (const sample of faultySamples) {
    inFullSuite(`fixes every kind of fault of ${sample} at once, and the audit is clean after it`, async () => {
      const { extensionPath = '' } = vscode.extensions.getExtension('rehearsal.rehearsal') ?? {};
      const files = sampleFiles(extensionPath, sample);
      const folder = folderOf(files);
      try {
        await audit(folder);
        const clean = codesIn(folder).toSorted();
        assert.deepEqual(unsound(folder), []);
        const { files: broken, count } = plantedTogether(files, sample);
        folderOf(broken, folder);
        // Nothing else is read while domain.yaml is broken, so its own faults come first.
        const { document } = await show(join(folder, 'domain.yaml'));
        await eventually(() => assert.ok(found(document.uri).length > 0));
        const [own] = await actionsAt(document.uri, new vscode.Range(0, 0, 0, 0), vscode.CodeActionKind.SourceFixAll);
        assert.ok(own?.edit, 'no fix of the file');
        await applyAndSave(own.edit);
        await check(folder);
        const { document: policy } = await show(join(folder, 'policy.md'));
        await eventually(() => assert.ok(found(policy.uri).length > 0));
        const all = await fixOfDomain(policy);
        assert.ok(all?.edit, 'no fix of the domain');
        await applyAndSave(all.edit);
        await audit(folder);
        assert.deepEqual(unsound(folder), []);
        assert.deepEqual(codesIn(folder).toSorted(), clean);
        assert.ok(count > 20, `${count} faults`);
      } finally {
        await remove(folder);
      }
    });
  }
});
