import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import {
  type ComparedWhat,
  parseToWebview,
  type ToExtension,
  type ToWebview,
} from '../../webview/messages/protocol.ts';
import { failureMessage, runCommand } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { comparisonType } from '../workspace/contributions.ts';
import { columnBeside } from '../workspace/walkthrough.ts';
import { withDebugged } from './debuggedRecording.ts';
import { type Channel, connectPage, pageOf, webviewOptions } from './panel.ts';

/** Panels by what they compare, so that the same comparison is opened once. */
const opened = new Map<string, vscode.WebviewPanel>();

/**
 * Opens the comparison of runs (folders) or of two recordings (files), or brings it to the front.
 * @param sources absolute paths
 */
export function openComparison(context: Context, sources: readonly string[]): void {
  const known = opened.get(keyOf(sources));
  if (known) {
    known.reveal();
    return;
  }
  const panel = vscode.window.createWebviewPanel(
    comparisonType,
    titleOf(sources),
    vscode.ViewColumn.Active,
    webviewOptions(context.extension.extensionUri),
  );
  mount(context, panel, sources);
}

/** Brings a comparison back into its panel after the window has reloaded. */
export function restoreComparison(context: Context, panel: vscode.WebviewPanel, state: unknown): void {
  const { sources } = (state ?? {}) as { readonly sources?: unknown };
  const paths = Array.isArray(sources) ? sources.filter((each) => typeof each === 'string') : [];
  if (paths.length < 2) {
    panel.dispose();
    return;
  }
  panel.webview.options = webviewOptions(context.extension.extensionUri);
  mount(context, panel, paths);
}

const keyOf = (sources: readonly string[]): string => sources.join('\n');
const isRecording = (path: string): boolean => path.endsWith('.traj.jsonl');

function titleOf(sources: readonly string[]): string {
  const named = sources.map((path) => basename(path, '.traj.jsonl'));
  // The same task at two optimizer steps has one name, in two folders.
  const isOneName = named[0] === named[1];
  const [first = '', second = ''] = named.map((name, at) =>
    isOneName ? `${basename(dirname(sources[at] ?? ''))}/${name}` : name,
  );
  return sources.length > 2 ? `${sources.length} runs` : `${first} ↔ ${second}`;
}

function mount(context: Context, panel: vscode.WebviewPanel, sources: readonly string[]): void {
  const { extension, log } = context;
  const channel = connectPage(panel.webview, log, (message) => {
    answerTo(message).catch((error: unknown) => log.error(`Comparison: ${messageOf(error)}`));
  });
  const comparing = new Comparing(context, channel, sources);
  const answerTo = async (message: ToExtension): Promise<void> => {
    switch (message.type) {
      case 'ready':
        return comparing.show();
      case 'compareAgain':
        return comparing.again();
      case 'compareRecordings':
        return comparing.compare('recordings', partsOf(message.recordings, sources));
      case 'stopComparing':
        return comparing.cancel();
      case 'openCompared':
        return showCompared(message, sources);
      case 'showLog':
        return log.show();
      default:
        return;
    }
  };
  opened.set(keyOf(sources), panel);
  panel.onDidDispose(() => {
    comparing.cancel();
    channel.dispose();
    if (opened.get(keyOf(sources)) === panel) opened.delete(keyOf(sources));
  });
  panel.webview.html = pageOf(panel.webview, extension.extensionUri, 'comparison', 'Comparison');
}

/** The answers that a page received, and the comparison that is running for it. */
class Comparing {
  readonly #context: Context;
  readonly #channel: Channel;
  readonly #sources: readonly string[];
  readonly #answers = new Map<ComparedWhat, { readonly answer: ToWebview; readonly key: string }>();
  #under: vscode.CancellationTokenSource | undefined;

  constructor(context: Context, channel: Channel, sources: readonly string[]) {
    this.#context = context;
    this.#channel = channel;
    this.#sources = sources;
  }

  get #what(): ComparedWhat {
    return this.#sources.every(isRecording) ? 'recordings' : 'runs';
  }

  /** Shows the results on a page that is shown again; the first time, starts the comparison. */
  async show(): Promise<void> {
    if (this.#answers.size === 0) return this.compare(this.#what, this.#sources);
    this.#say(this.#what, '');
    for (const { answer } of this.#answers.values()) this.#channel.post(answer);
  }

  async again(): Promise<void> {
    this.#answers.clear();
    await this.compare(this.#what, this.#sources);
  }

  cancel(): void {
    this.#under?.cancel();
  }

  /** Compares, and cancels a running comparison. Earlier results are reused. */
  async compare(what: ComparedWhat, paths: readonly string[]): Promise<void> {
    this.cancel();
    const under = new vscode.CancellationTokenSource();
    this.#under = under;
    const key = keyOf(paths);
    const known = this.#answers.get(what);
    const isKnown = known?.key === key && known.answer.type !== 'comparisonFailed';
    const say = (note: string): void => {
      if (this.#under === under) this.#say(what, note);
    };
    say('');
    const found = isKnown ? known.answer : await compared(this.#context, what, paths, say, under.token);
    const answer = isKnown ? found : await withDebugged(found);
    under.dispose();
    if (this.#under !== under) return;
    this.#under = undefined;
    this.#answers.set(what, { answer, key });
    this.#channel.post(answer);
  }

  #say(what: ComparedWhat, note: string): void {
    this.#channel.post({ type: 'comparing', what, sources: [...this.#sources], note });
  }
}

/** Returns those of the paths that are part of the comparison. */
function partsOf(paths: readonly string[], sources: readonly string[]): readonly string[] {
  return paths.filter((path) => isPartOf(path, sources));
}

/** A page may open and compare what it was made for, and nothing else. */
function isPartOf(path: string, sources: readonly string[]): boolean {
  return (
    isRecording(path) &&
    !path.includes('..') &&
    sources.some((source) => path === source || path.startsWith(`${source}/`) || path.startsWith(`${source}\\`))
  );
}

async function showCompared(
  { recording, debug, step }: Extract<ToExtension, { type: 'openCompared' }>,
  sources: readonly string[],
): Promise<void> {
  if (!isPartOf(recording, sources)) throw new Error(`${recording} is not compared here`);
  if (debug) await vscode.commands.executeCommand('rehearsal.recording.debug', recording, step);
  else await vscode.commands.executeCommand('rehearsal.recording.open', recording, columnBeside());
}

/** The command line compares, in its own process: thousands of recordings are nothing for the editor's. */
async function compared(
  context: Context,
  what: ComparedWhat,
  paths: readonly string[],
  say: (note: string) => void,
  token: vscode.CancellationToken,
): Promise<ToWebview> {
  const failed = (problem: string): ToWebview => ({ type: 'comparisonFailed', what, problem });
  const progress = { report: ({ message = '' }: { readonly message?: string }) => say(message) };
  const end = await runCommand(context, ['compare', ...paths, '--json'], progress, token);
  if (end.isCancelled) return failed('The comparison was cancelled.');
  if (!('type' in end.answer)) return failed(failureMessage(end, 'The comparison'));
  const type = what === 'runs' ? 'runsCompared' : 'recordingsCompared';
  const parsed = parseToWebview({ type, comparison: end.answer });
  return parsed.ok ? parsed.message : failed(`The comparison was not understood: ${parsed.problem}`);
}
