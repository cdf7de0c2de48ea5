import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { failureMessage, runCommand } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { beginRunning } from '../commandLine/running.ts';
import { tell } from '../commandLine/tell.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { pickCheckpoint } from './checkpoints.ts';
import { pythonOption } from './learning.ts';

/** The URL at which a checkpoint is served, and the token that it requires. */
type Served = { readonly url: string; readonly token: string };

/**
 * Serves a checkpoint as an OpenAI-compatible endpoint on this machine, until it is stopped or the window closes.
 * @param of the folder of the run whose checkpoints are offered
 * @returns its address as soon as it answers; undefined where it was cancelled or could not be served
 */
export async function serveCheckpoint(context: Context, of: string | undefined): Promise<Served | undefined> {
  if (!mayRun('Served models')) return undefined;
  const model = await pickCheckpoint('Which checkpoint is served?', of);
  if (!model) return undefined;
  const title = `${basename(dirname(dirname(model)))}/${basename(model)}`;
  const ending = new vscode.CancellationTokenSource();
  const stop = () => ending.cancel();
  context.extension.subscriptions.push({ dispose: stop });
  let served: Served | undefined;
  const show = () => (served ? tellServed(title, served, stop) : context.log.show());
  const handle = beginRunning({ type: 'serving', title }, { stop, open: show });
  const location = vscode.ProgressLocation.Notification;
  const loading = { location, title: `Rehearsal: loading ${title}`, cancellable: true };
  return vscode.window.withProgress(loading, async (progress, token) => {
    token.onCancellationRequested(stop);
    const answering = Promise.withResolvers<Served | undefined>();
    const onLine = (line: string) => {
      const said = JSON.parse(line) as Partial<Served>;
      if (said.url === undefined || said.token === undefined) return;
      served = { url: said.url, token: said.token };
      handle.say(served.url);
      void show();
      answering.resolve(served);
    };
    const args = ['serve-model', model, ...pythonOption(), '--json'];
    void runCommand(context, args, progress, ending.token, { onLine }).then((end) => {
      handle.end();
      answering.resolve(undefined);
      if (!end.isCancelled) void tell(context, 'error', failureMessage(end, title));
    });
    return answering.promise;
  });
}

async function tellServed(title: string, { url, token }: Served, stop: () => void): Promise<void> {
  const copy = 'Copy Address and Token';
  const end = 'Stop';
  const text = `${title} is served at ${url}, for any client of OpenAI's interface; its token is the API key. The status bar shows it until it is stopped.`;
  const chosen = await showInformationMessage(text, copy, end);
  if (chosen === copy) await vscode.env.clipboard.writeText(`OPENAI_BASE_URL=${url}\nOPENAI_API_KEY=${token}\n`);
  if (chosen === end) stop();
}
