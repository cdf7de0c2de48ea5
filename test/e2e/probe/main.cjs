/**
 * Runs commands for a test in a window where a test cannot run: VS Code trusts every folder in which it loads tests. A
 * file requests a command, and another one has its result.
 */
const { existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const vscode = require('vscode');

const folder = process.env.REHEARSAL_PROBE;
require('./spy.cjs');

/** Turns a path that is marked as a file into the file's URI. */
function revived(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(revived);
  return typeof value.file === 'string' && Object.keys(value).length === 1 ? vscode.Uri.file(value.file) : value;
}

async function run({ id, command, args }) {
  const answer = { value: null, error: null };
  try {
    answer.value = (await vscode.commands.executeCommand(command, ...args.map(revived))) ?? null;
  } catch (error) {
    answer.error = String(error);
  }
  const file = join(folder, `answer-${id}.json`);
  writeFileSync(`${file}.new`, JSON.stringify(answer));
  renameSync(`${file}.new`, file);
}

/** Returns the text of a tool for the editor's own agent. */
async function invoke(name, input) {
  const { token } = new vscode.CancellationTokenSource();
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
  return content.map((part) => part.value ?? '').join('');
}

/** Returns the answer of a provider of the editor after the first place of these words in a file, as texts. */
async function language(uri, words, provider, ...rest) {
  const document = await vscode.workspace.openTextDocument(uri);
  const at = document.positionAt(document.getText().indexOf(words) + words.length);
  const place = provider === 'vscode.executeFormatDocumentProvider' ? [] : [at];
  const answer = await vscode.commands.executeCommand(provider, uri, ...place, ...rest);
  if (provider === 'vscode.executeCompletionItemProvider') return answer.items.map(({ label }) => label.label ?? label);
  if (provider === 'vscode.executeHoverProvider')
    return answer.flatMap(({ contents }) => contents.map((each) => each.value ?? String(each)));
  if (provider === 'vscode.executeDocumentRenameProvider') return answer.entries().map(([file]) => file.path);
  return (answer ?? []).map(({ uri: file, targetUri, newText }) => (file ?? targetUri)?.path ?? newText);
}

exports.activate = ({ subscriptions }) => {
  subscriptions.push(
    vscode.commands.registerCommand('probe.invokeTool', invoke),
    vscode.commands.registerCommand('probe.language', language),
    vscode.commands.registerCommand('probe.tools', () => vscode.lm.tools.map(({ name }) => name)),
  );
  const ask = join(folder, 'ask.json');
  const timer = setInterval(() => {
    if (!existsSync(ask)) return;
    const asked = JSON.parse(readFileSync(ask, 'utf8'));
    rmSync(ask);
    void run(asked);
  }, 50);
  subscriptions.push({ dispose: () => clearInterval(timer) });
  writeFileSync(join(folder, 'is-up'), String(vscode.workspace.isTrusted));
};
