import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { faulty, fixableFaults } from '../../engine/shell/audit/fixableFaults.ts';
import { faultySamples, plantedTogether, sampleFiles } from '../../engine/shell/audit/sampleFaults.ts';
import type { Files } from '../../engine/shell/load/domainFolder.ts';
import { applyAndSave, audit, check, copyOfDesk, eventually, found, show } from './desk.ts';

const execute = vscode.commands.executeCommand;

/** The tasks that are played; an audit only notes which rules and tools nothing tries without the others. */
const kept = ['returns.task.yaml'];

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

/** Writes files into a new folder of their own, or into one that is there. */
function folderOf(files: Files, folder = mkdtempSync(join(tmpdir(), 'rehearsal-fix-'))): string {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The finding of a code, and the fix that the light bulb prefers there. */
async function fixOf(uri: vscode.Uri, code: string): Promise<vscode.CodeAction | undefined> {
  for (const { range } of found(uri).filter((each) => each.code === code)) {
    const actions = await actionsAt(uri, range, vscode.CodeActionKind.QuickFix);
    const fix = actions.find(({ isPreferred }) => isPreferred);
    if (fix?.edit) return fix;
  }
  return undefined;
}

/** The same as soon as the file is read; what reading does not find, a check does, or an audit. */
async function foundFix(folder: string, uri: vscode.Uri, code: string): Promise<vscode.CodeAction | undefined> {
  const isFound = () => assert.ok(found(uri).some((each) => each.code === code));
  const read = () => eventually(isFound, 2_000).catch(() => undefined);
  for (const look of [read, check, audit]) {
    await look(folder);
    const fix = await fixOf(uri, code);
    if (fix) return fix;
  }
  return undefined;
}

/** The fix of everything in the domain that the light bulb has in a file with a finding. */
async function fixOfDomain({ uri }: vscode.TextDocument): Promise<vscode.CodeAction | undefined> {
  const range = found(uri)[0]?.range ?? new vscode.Range(0, 0, 0, 0);
  const actions = await actionsAt(uri, range, vscode.CodeActionKind.QuickFix);
  return actions.find(({ title }) => title.endsWith('of the domain'));
}

const isFull = process.env['REHEARSAL_SUITE'] === 'full';
/** A code of each kind of file; `npm run test:full` tries every fix here, and the engine's own test always does. */
const tried = [
  'task/unknown-tool',
  'rule/unknown-name',
  'policy/bad-mark',
  'persona/wrong-value',
  'domain/wrong-type',
  'tool/unused',
];

describe('the quick fix', () => {
  for (const fault of fixableFaults) {
    const { code, file, wrong, noted } = fault;
    (isFull || tried.includes(code) ? it : it.skip)(
      `of ${code} in ${file} (${wrong.trim().split('\n')[0]}) is offered, and the audit is clean after it`,
      async () => {
        const folder = folderOf(faulty(fault));
        try {
          const path = join(folder, file);
          const before = readFileSync(path, 'utf8');
          const { document } = await show(path);
          const fix = await foundFix(folder, document.uri, code);
          assert.ok(fix?.edit, `found: ${codesIn(folder).join(', ')}`);
          await applyAndSave(fix.edit);
          assert.notEqual(readFileSync(path, 'utf8'), before);
          await audit(folder);
          assert.deepEqual(codesIn(folder), noted);
        } finally {
          await execute('workbench.action.closeAllEditors');
          rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
        }
      },
    );
  }
});

describe('all quick fixes', () => {
  const { folder, remove } = copyOfDesk();
  // An audit plays every task: a few are enough here.
  for (const name of readdirSync(join(folder, 'tasks'))) if (!kept.includes(name)) rmSync(join(folder, 'tasks', name));
  let clean = 0;
  before(async () => {
    clean = (await audit(folder)) ?? -1;
    assert.deepEqual([clean >= 0, unsound(folder)], [true, []]);
  });
  after(async () => {
    await execute('workbench.action.closeAllEditors');
    remove();
  });

  it('mends everything in a file, and everything in the domain', async () => {
    const one = join(folder, 'tasks/returns.task.yaml');
    const other = join(folder, 'personas/changeable.persona.yaml');
    const [first, second] = [readFileSync(one, 'utf8'), readFileSync(other, 'utf8')];
    writeFileSync(
      one,
      first.replaceAll('tool: return_item', 'tool: retrun_item').replace('persona: patient', 'persona: pateint'),
    );
    writeFileSync(other, second.replace('style:', 'stlye:'));
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
    assert.equal(await audit(folder), clean);
  });

  for (const sample of faultySamples) {
    (isFull || sample === 'parcel-desk' ? it : it.skip)(
      `mends every kind of fault of ${sample} at once, and the audit is clean after it`,
      async () => {
        const { extensionPath = '' } = vscode.extensions.getExtension('rehearsal.rehearsal') ?? {};
        const files = sampleFiles(extensionPath, sample);
        const folder = folderOf(files);
        try {
          await audit(folder);
          const clean = codesIn(folder).toSorted();
          assert.deepEqual(unsound(folder), []);
          const { files: broken, count } = plantedTogether(files, sample);
          folderOf(broken, folder);
          // Nothing else is read while domain.yaml can't be used, so its own faults come first.
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
          await execute('workbench.action.closeAllEditors');
          rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
        }
      },
    );
  }
});
