import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { counted } from '../../engine/core/text/counted.ts';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { tell } from '../commandLine/tell.ts';
import { showInformationMessage, showWarningMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { firstObstacle, type GatedDraft, openAt } from './drafting.ts';
import { pickLogFiles, pickLogKind } from './pickLogs.ts';

type From = 'template' | 'command' | 'url' | 'logs';
type Choice = vscode.QuickPickItem & { readonly from: From; readonly template?: string };

/**
 * Makes a new domain from a template, from the tools of an MCP server that the person names, or from recorded
 * conversations, and opens it.
 * @returns its folder, or undefined where it was cancelled or could not be made
 */
export async function newDomain(context: Context): Promise<string | undefined> {
  const choice = await pickSource(context);
  if (!choice) return undefined;
  const source = await askSource(context, choice);
  if (!source) return undefined;
  const folder = await askFolder(choice.template ?? 'my-desk');
  if (!folder) return undefined;
  const end = await runOrTell(context, 'Rehearsal: making the domain', ['new', folder, ...source]);
  if (!end) return undefined;
  await shown(context, folder, end.answer as Made);
  return folder;
}

type Made = {
  readonly name: string;
  readonly drafts: readonly GatedDraft[];
  readonly tools?: number;
  /** The number of recorded conversations, if the domain was created from conversations. */
  readonly conversations?: number;
  /** The parts of the conversations that could not be read. */
  readonly problems?: readonly { readonly file: string; readonly line: number; readonly message: string }[];
};

/** Returns the source of the domain, as arguments of the command line; undefined if the user cancelled. */
async function askSource(context: Context, { from, template }: Choice): Promise<readonly string[] | undefined> {
  if (from === 'template') return ['--template', template ?? ''];
  if (from === 'logs') return askLogs();
  return mayRun('MCP servers') ? askServer(context, from) : undefined;
}

async function askLogs(): Promise<readonly string[] | undefined> {
  const kind = await pickLogKind();
  if (!kind) return undefined;
  const picked = await pickLogFiles('Conversations that the domain is made of', 'Make a Domain', kind.dialog);
  return picked && [...picked.files.flatMap((file) => [`--${kind.from}`, file]), ...picked.options];
}

async function pickSource({ extension }: Context): Promise<Choice | undefined> {
  const { domainTemplates } = await import('../../authoring/domains/domainTemplate.ts');
  const templates = domainTemplates(join(extension.extensionPath, 'templates')).map(
    ({ name, description }): Choice => ({ label: name, detail: description, from: 'template', template: name }),
  );
  const separator = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator }) as Choice;
  return vscode.window.showQuickPick<Choice>(
    [
      separator('templates'),
      ...templates,
      separator('MCP servers'),
      {
        label: 'From an MCP server…',
        detail: 'Starts a program that you name and lists its tools',
        from: 'command',
      },
      {
        label: 'From an MCP server at an address…',
        detail: 'A server that is already running, over Streamable HTTP',
        from: 'url',
      },
      separator('conversations'),
      {
        label: 'From recorded transcripts…',
        detail: 'The policy and the tools of logged chats, with personal data masked',
        from: 'logs',
      },
    ],
    { placeHolder: 'Create the domain from what?', matchOnDetail: true },
  );
}

type Listed = {
  readonly name: string;
  readonly description: string;
  readonly isWrite: boolean;
  readonly isSure: boolean;
};

/** Asks for a server, starts it for its list of tools, and asks which of them change something. */
async function askServer(context: Context, from: 'command' | 'url'): Promise<readonly string[] | undefined> {
  const named = await vscode.window.showInputBox({
    title: from === 'command' ? 'Command that starts the MCP server' : 'Address of the MCP server',
    placeHolder: from === 'command' ? 'npx -y some-server --flag' : 'http://127.0.0.1:8000/mcp',
    prompt: from === 'command' ? 'The command runs on this machine, now and for each rollout.' : '',
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? 'Type one, or press Escape.' : undefined),
  });
  if (named === undefined) return undefined;
  const environment = from === 'command' ? await askEnvironment() : [];
  if (!environment) return undefined;
  const server = [from === 'command' ? '--mcp' : '--mcp-url', named, ...environment];
  const end = await runOrTell(context, 'Rehearsal: asking the server for its tools', ['new', '--list', ...server]);
  if (!end) return undefined;
  const tools = (end.answer['tools'] ?? []) as readonly Listed[];
  const items = tools.map(({ name, description, isWrite, isSure }) => ({
    label: name,
    description: isSure ? '' : 'the server does not say',
    detail: description.replace(/\s+/g, ' '),
    picked: isWrite,
  }));
  const writes = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: `${counted(tools.length, 'tool')}: which of them change something?`,
    placeHolder: 'The agent confirms these with the user first',
    ignoreFocusOut: true,
  });
  const play = writes && (await askToPlay());
  return play && [...server, '--writes', writes.map(({ label }) => label).join(','), ...play];
}

/** Asks whether the drafts are played, since their calls change what the server works on. */
async function askToPlay(): Promise<readonly string[] | undefined> {
  const items = [
    { label: 'Play the drafts', detail: 'You see their calls and approve them first', args: [] },
    { label: 'Do not play them', detail: 'The drafts are written without calling a tool', args: ['--no-play'] },
  ];
  const title = 'Each draft calls a tool that changes something. Play them now?';
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.args;
}

async function askEnvironment(): Promise<readonly string[] | undefined> {
  const text = await vscode.window.showInputBox({
    title: 'Environment of the MCP server',
    prompt:
      'NAME=VALUE, with spaces between, or nothing. ${env:NAME} is taken from yours, ${instanceFolder} is a fresh folder for each rollout.',
    placeHolder: 'MEMORY_FILE_PATH=${instanceFolder}/memory.json',
    ignoreFocusOut: true,
    validateInput: (value) =>
      value.trim() === '' ||
      value
        .trim()
        .split(/\s+/)
        .every((each) => /^[^=]+=/.test(each))
        ? undefined
        : 'Each is NAME=VALUE.',
  });
  return text?.split(/\s+/).flatMap((each) => (each === '' ? [] : ['--env', each]));
}

/** A folder for the domain: in the workspace, else in one that the person chooses. */
async function askFolder(wanted: string): Promise<string | undefined> {
  const parent = await parentFolder();
  if (parent === undefined) return undefined;
  const name = await vscode.window.showInputBox({
    title: 'Name of the new domain',
    prompt: `Its folder is created in ${parent}${isInWorkspace(parent) ? '' : ', and opened in this window'}`,
    value: wanted,
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(parent, text.trim()),
  });
  return name === undefined ? undefined : join(parent, name.trim());
}

function problemOf(parent: string, name: string): string | undefined {
  if (name === '' || /[\\/:*?"<>|]/.test(name) || /^\.+$/.test(name)) return 'A name of a folder is expected.';
  const stat = statSync(join(parent, name), { throwIfNoEntry: false });
  if (!stat) return undefined;
  const isFree = stat.isDirectory() && readdirSync(join(parent, name)).length === 0;
  return isFree
    ? undefined
    : `${name} exists and is not empty. Rehearsal never overwrites files. Choose another folder.`;
}

/** The folder that the folder of the new domain is created in. A domain never contains another one. */
async function parentFolder(): Promise<string | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const [domain] = folders.flatMap((folder) => domainAround(folder) ?? []);
  return folders.find((folder) => domainAround(folder) === undefined) ?? (domain ? pickOutside(domain) : pickParent());
}

const domainAround = (folder: string) => domainFolderOf(join(folder, 'domain.yaml'));

const isInWorkspace = (folder: string) => vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder)) !== undefined;

async function pickOutside(domain: string): Promise<string | undefined> {
  const beside = dirname(domain);
  const outer = domainAround(beside);
  if (outer !== undefined) return pickOutside(outer);
  const next = { label: `Next to ${basename(domain)}`, detail: `In ${beside}` };
  const other = { label: 'In another folder…', detail: 'You choose it in the next step' };
  const picked = await vscode.window.showQuickPick([next, other], {
    title: `${basename(domain)} is a domain, and a domain cannot contain another one`,
    placeHolder: 'Where do you want to create the new domain?',
    ignoreFocusOut: true,
  });
  if (picked === next) return beside;
  return picked && pickParent();
}

async function pickParent(): Promise<string | undefined> {
  const title = 'Folder that the new domain goes into';
  const [parent] = (await vscode.window.showOpenDialog({ canSelectFiles: false, canSelectFolders: true, title })) ?? [];
  const domain = parent && domainAround(parent.fsPath);
  return domain === undefined ? parent?.fsPath : pickOutside(domain);
}

async function shown(context: Context, folder: string, made: Made): Promise<void> {
  const { name, drafts } = made;
  if (!isInWorkspace(folder)) {
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder));
    return;
  }
  if (made.conversations !== undefined) {
    await openAt(join(folder, 'policy.md'));
    void tellOfLogs(context, made);
    return;
  }
  const [first] = drafts;
  await openAt(first ? (drafts.find(({ passes }) => passes) ?? first).file : join(folder, 'policy.md'));
  const obstacle = firstObstacle(drafts);
  const many = drafts.length > 0 ? ` It has ${counted(drafts.length, 'draft task')}: edit and accept each.` : '';
  if (obstacle === undefined) {
    void showInformationMessage(`Created ${name}.${many || ' Press F5 in a task to debug it.'}`);
    return;
  }
  const left = drafts.filter(({ passes }) => !passes).length;
  const need = left === 1 ? 'One of them needs work first.' : `${left} of them need work first.`;
  await tell(context, 'warning', `Created ${name}.${many} ${need} ${obstacle}`);
}

async function tellOfLogs(
  context: Context,
  { name, tools = 0, conversations = 0, problems = [] }: Made,
): Promise<void> {
  for (const { file, line, message } of problems) context.log.warn(`${file}:${line}: ${message}`);
  const next = 'Import Conversations…';
  const made = `Created ${name} from ${counted(conversations, 'conversation')}: ${counted(tools, 'tool')}.`;
  const unread =
    problems.length === 0 ? '' : ` ${counted(problems.length, 'thing')} could not be read. See the log for details.`;
  const left =
    'Fill in what Problems lists and the rows of database.json, then import the conversations to draft tasks.';
  const show = problems.length === 0 ? showInformationMessage : showWarningMessage;
  if ((await show(`${made}${unread} ${left}`, next)) === next)
    await vscode.commands.executeCommand('rehearsal.chats.import');
}
