import { rmSync } from 'node:fs';
import * as vscode from 'vscode';
import type { Context } from '../commandLine/context.ts';
import { webviewOptions } from '../panels/panel.ts';
import { visualEditorTypes } from '../workspace/contributions.ts';
import type { VisualEditor } from './editorSession.ts';
import { goldFolder } from './goldFolder.ts';

/** The loader of each editor, called when the first of its files is opened in it. */
const loaders: Readonly<
  Record<(typeof visualEditorTypes)[keyof typeof visualEditorTypes], () => Promise<VisualEditor>>
> = {
  'rehearsal.persona': async () => (await import('./personaEditor.ts')).personaEditor,
  'rehearsal.policy': async () => (await import('./policyEditor.ts')).policyEditor,
  'rehearsal.tool': async () => (await import('./toolEditor.ts')).toolEditor,
  'rehearsal.task': async () => (await import('./taskEditor.ts')).taskEditor,
};

/** The editors that show a file as a form. The text is the default, and stays the one truth. */
export function registerVisualEditors(context: Context): vscode.Disposable {
  const providers = Object.values(visualEditorTypes).map((type) =>
    vscode.window.registerCustomEditorProvider(type, providerOf(context, loaders[type])),
  );
  return vscode.Disposable.from(...providers, {
    dispose: () => rmSync(goldFolder, { recursive: true, force: true }),
  });
}

function providerOf(context: Context, load: () => Promise<VisualEditor>): vscode.CustomTextEditorProvider {
  return {
    resolveCustomTextEditor: async (document, panel) => {
      panel.webview.options = webviewOptions(context.extension.extensionUri);
      const [editor, { openFileSession }] = await Promise.all([load(), import('./editorSession.ts')]);
      openFileSession(context, editor, document, panel);
    },
  };
}
