import { statSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { describeSimulated } from '../../engine/core/domain/simulatedTool.ts';
import type { Tool } from '../../engine/core/domain/tool.ts';
import type { JsonObject } from '../../engine/core/values/json.ts';
import { hasExternalTools, hasSources, type LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { failureMessage, runQuietly } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { describeTools } from '../language/describedTools.ts';

/** A tool as far as it is known: without running code only a simulated one has a schema. */
export type KnownTool = Pick<Tool, 'name' | 'description' | 'effect' | 'owner'> &
  Partial<Pick<Tool, 'timeoutMs' | 'idempotent' | 'rateLimit' | 'idempotencyKey' | 'cache' | 'retries' | 'handsOff'>> &
  Pick<Tool, 'source'> & { readonly parameters: JsonObject | null };

/** The tools of a domain; `problem` says why the arguments of some are not known. */
export type KnownTools = { readonly tools: readonly KnownTool[]; readonly problem: string | null };

type Described = { readonly key: string; answer: KnownTools | null };

/** The latest descriptions, by folder and by whether servers were queried too. */
const described = new Map<string, Described>();

/**
 * The tools of a domain. Those of code are described by the command line, in its own worker, once for each state of the
 * files on the disk; until then, and in a workspace that no one trusts, they have the names that the code says.
 * @param onKnown learns when they are described
 * @param asksServers whether servers and environments are started to be asked for theirs; else those are left out that
 *   no one asked for yet
 */
export function toolsOf(
  context: Context,
  domain: LoadedDomain,
  onKnown: () => void,
  { asksServers = false }: { readonly asksServers?: boolean } = {},
): KnownTools {
  const simulated = domain.parts.simulated.map(({ value }) => describeSimulated(value));
  if (domain.toolsFile === null && !hasExternalTools(domain)) return { tools: simulated, problem: null };
  const coded = vscode.workspace.isTrusted ? describedIn(context, domain, onKnown, asksServers) : untrusted;
  const own = new Set(simulated.map(({ name }) => name));
  const others = coded?.tools.filter(({ name }) => !own.has(name)) ?? [];
  const isKnown = new Set([...own, ...others.map(({ name }) => name)]);
  const named = coded && coded.problem === null ? [] : scanned(domain).filter(({ name }) => !isKnown.has(name));
  return { tools: [...others, ...named, ...simulated], problem: coded ? coded.problem : 'The tools are being read…' };
}

const untrusted: KnownTools = {
  tools: [],
  problem:
    'The arguments of a tool of code are known only when the code is loaded, and this workspace is not trusted: nothing of it runs.',
};

/** Returns what the text of the code says about its tools. */
function scanned({ parts, pythonFile }: LoadedDomain): readonly KnownTool[] {
  const python = pythonFile !== null;
  return [...parts.scan.declared].map(([name, { effect, owner }]) => ({
    name,
    description: '',
    effect: effect === 'write' ? 'write' : 'read',
    owner: owner === 'user' ? 'user' : 'agent',
    parameters: null,
    source: { type: python && parts.scan.tools.get(name)?.file === pythonFile ? 'python' : 'code' },
  }));
}

/** Returns the command line's answer for the current files on the disk; null while it is running. */
function describedIn(
  context: Context,
  { folder, file, parts }: LoadedDomain,
  onKnown: () => void,
  asksServers: boolean,
): KnownTools | null {
  const files = [join(folder, 'domain.yaml'), ...parts.scan.sources.map((source) => source.file)];
  const key = files.map(stampOf).join('\n');
  const whole = described.get(`${folder}\nwhole`);
  if (whole?.key === key && (asksServers || whole.answer?.problem === null)) return whole.answer;
  const isWhole = asksServers || !hasSources(file);
  const name = `${folder}\n${asksServers ? 'whole' : 'local'}`;
  const before = described.get(name);
  if (before?.key === key) return before.answer;
  const entry: Described = { key, answer: null };
  described.set(name, entry);
  void (asksServers ? askAll(context, folder) : askLocal(context, folder, key, isWhole)).then((answer) => {
    entry.answer = answer;
    onKnown();
  });
  return null;
}

/** The state of a file on the disk, which is what the command line reads. */
function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return `${file} ${stat?.mtimeMs ?? 'missing'} ${stat?.size ?? 0}`;
}

const unloadable = "The tools can't be described: their code can't be loaded. Rehearsal: Check Domain says why.";
const unasked = 'Tools of servers and environments are known once one of them is tried (Rehearsal: Try Tool…).';

/** As the language features know them: no server is started. */
async function askLocal(context: Context, folder: string, stamp: string, isWhole: boolean): Promise<KnownTools> {
  const tools = await describeTools(context, folder, stamp);
  if (!tools) return { tools: [], problem: unloadable };
  return { tools: tools, problem: isWhole ? null : unasked };
}

/** All of them, because a person asks for one. */
async function askAll(context: Context, folder: string): Promise<KnownTools> {
  const end = await runQuietly(context, ['tools', folder, '--json']);
  const { tools } = end.answer as { readonly tools?: readonly Tool[] };
  if (end.code === 0 && tools) return { tools, problem: null };
  return { tools: [], problem: `The tools can't be described: ${failureMessage(end, 'the command')}` };
}
