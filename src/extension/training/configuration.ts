import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as vscode from 'vscode';
import { type TrainingKind, trainingKinds } from '../../engine/core/domain/trainingKind.ts';
import { profileFor } from '../../engine/core/domain/trainingProfile.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { requireWritable } from '../../engine/shell/files/disk.ts';
import { workFolder } from '../../engine/shell/files/workFolders.ts';
import { pickDomain } from '../workspace/workspaceDomains.ts';
import { firstSteps, modelOfSettings } from './learning.ts';

const pattern = '**/*.training.yaml';

/** "Train" or "Evaluate" above a configuration of training. */
export function registerConfigurationLenses(): vscode.Disposable {
  return vscode.languages.registerCodeLensProvider(
    { scheme: 'file', pattern },
    {
      provideCodeLenses: (document) => [
        new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), {
          title: `$(play) ${/^kind: *evaluate\b/m.test(document.getText()) ? 'Evaluate' : 'Train'}`,
          command: 'rehearsal.training.configured',
          arguments: [{ configuration: document.uri.fsPath }],
        }),
      ],
    },
  );
}

/** The configuration to train with: the open one, or the one that the person picks or begins. Undefined if cancelled. */
export async function pickConfiguration(): Promise<string | undefined> {
  const open = vscode.window.activeTextEditor?.document.uri.fsPath;
  if (open?.endsWith('.training.yaml')) return open;
  const files = await vscode.workspace.findFiles(pattern, `**/{node_modules,${workFolder}}/**`, 200);
  const items = files.map(({ fsPath }) => ({ label: vscode.workspace.asRelativePath(fsPath), file: fsPath }));
  const begin = { label: '$(add) New Configuration…', file: undefined };
  const chosen = await vscode.window.showQuickPick([...items, begin], { placeHolder: 'Which configuration?' });
  if (chosen === begin) await newConfiguration();
  return chosen?.file;
}

/** Writes a first configuration into a domain's folder and opens it; nothing is trained yet. */
async function newConfiguration(): Promise<void> {
  const domain = await pickDomain();
  if (!domain) return;
  const items = [
    { label: 'GRPO', description: 'learns from the rewards of its own rollouts', does: 'grpo' },
    { label: 'SFT', description: 'learns from recordings', does: 'sft' },
    { label: 'Evaluation', description: 'measures a model or a checkpoint on the test tasks', does: 'evaluate' },
  ] as const;
  const kind = (await vscode.window.showQuickPick(items, { placeHolder: 'What kind of run?' }))?.does;
  if (!kind) return;
  const file = freeName(domain, kind);
  const text = firstConfiguration(
    kind,
    modelOfSettings() ?? 'smollm2',
    kind === 'evaluate' ? null : await firstSteps(kind),
  );
  requireWritable(file, domain);
  await vscode.workspace.fs.writeFile(vscode.Uri.file(file), Buffer.from(text));
  await vscode.window.showTextDocument(vscode.Uri.file(file));
}

function freeName(folder: string, kind: TrainingKind): string {
  for (let number = 1; ; number += 1) {
    const file = join(folder, `${kind}${number === 1 ? '' : `-${number}`}.training.yaml`);
    if (!existsSync(file)) return file;
  }
}

export const firstConfiguration = (kind: TrainingKind, model: string, steps: number | null): string => `\
# "${kind === 'evaluate' ? 'Evaluate' : 'Train'}" above this line begins a run. Hover over a key for its description. Completion lists the other keys.
kind: ${kind}
domain: .
model: ${model}
${profileFor(model) ? `profile: ${profileFor(model)}\n` : ''}${steps === null ? 'trials: 8' : `steps: ${steps}`}
`;

/**
 * Returns what a configuration trains with and its first domain, as far as its text shows them. A configuration without
 * a domain is one of its own folder. The command line checks all of it.
 */
export async function glanceAt(
  file: string,
): Promise<{ readonly kind: TrainingKind | undefined; readonly domain: string }> {
  const { readSource } = await import('../../engine/shell/source/source.ts');
  const { parseYaml } = await import('../../engine/shell/source/yaml.ts');
  const read = readSource(file, 'training', undefined);
  const value = 'problem' in read ? undefined : parseYaml(read.source, 'training').value;
  const written = isObject(value as Json) ? (value as JsonObject) : {};
  const [first] = [written['domain']].flat();
  const named = isObject(first) ? first['folder'] : first;
  return {
    kind: trainingKinds.find((kind) => kind === written['kind']),
    domain: resolve(dirname(file), typeof named === 'string' ? named : ''),
  };
}
