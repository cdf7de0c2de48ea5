import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { type CallPlan, effectsOfPlan, planCalls } from '../../authoring/domains/callPlan.ts';
import { findReader, type ReaderSearch, type UnsteadyReader } from '../../authoring/domains/findReader.ts';
import { type Judged, judged } from '../../authoring/domains/judgedTools.ts';
import { declared, type GivenServer, mcpDomainFiles, serverName } from '../../authoring/domains/mcpDomain.ts';
import { writeWhole } from '../../authoring/domains/newFolder.ts';
import type { McpServer } from '../../engine/core/domain/domain.ts';
import { leftOutTools } from '../../engine/core/domain/leftOutTools.ts';
import { isLeftOut } from '../../engine/core/domain/tool.ts';
import { counted, firstNames } from '../../engine/core/text/counted.ts';
import { throwUnlessApproved } from '../../engine/shell/approvals/approvals.ts';
import { describeEffects, type Effects, serverEffects } from '../../engine/shell/approvals/effects.ts';
import { type Gated, gate } from '../../engine/shell/audit/draftGate.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { gatedRow, gatedText } from '../drafts/gatedText.ts';
import { approveMade } from '../options/approveMade.ts';
import { auditProgress } from '../terminal/auditProgress.ts';
import { type Io, progress, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import type { NewOptions } from './newOptions.ts';
import { copyStart, filesFolder, filesOf, serverOf, writesOf } from './serverFlags.ts';

type Wanted = {
  /** Null to list the tools without a folder to start the server in. */
  readonly to: { readonly folder: string; readonly name: string } | null;
  readonly now: string;
};

type ToMake = {
  /** The name of the server in the domain. */
  readonly key: string;
  /** The server as the flags give it. */
  readonly given: GivenServer;
  readonly server: McpServer;
  /** The folder of `--files`. */
  readonly files: string | null;
  readonly now: string;
};

/** Creates a domain from the tools of an MCP server, or lists them, and prints the remaining steps. */
export async function fromServer({ to, now }: Wanted, options: NewOptions, io: Io): Promise<0 | 1> {
  const server = serverOf(options, io);
  const key = serverName(server);
  const whole = declared(key, server);
  if (typeof whole === 'string') throw new UsageError(`this is not an MCP server: ${whole}`);
  const where = 'url' in server ? server.url : [server.command, ...server.args].join(' ');
  throwUnlessApproved(
    { name: key, path: where, effects: serverEffects({ mcpServers: { [key]: whole } }) },
    io.environment,
  );
  if (!options.json) io.err(`asking ${where} for its tools\n`);
  const wanted = { key, given: server, server: whole, files: filesOf(options, server, io), now };
  const folder = to !== null && existsSync(to.folder) ? to.folder : tmpdir();
  const usable = await usableTools(wanted, where, folder, io);
  const names = usable.map(({ tool }) => tool.name);
  const tools = judged(usable, writesOf(options, names));
  return to === null || options.list ? listTools(tools, options, io) : makeDomain(wanted, to, tools, options, io);
}

/** Returns the tools of a server that a model can be offered, and prints why each of the others is left out. */
async function usableTools({ key, server, files, now }: ToMake, where: string, folder: string, io: Io) {
  // The client is loaded only for domains that have servers.
  const { listMcpTools } = await import('../../engine/shell/tools/mcp.ts');
  const first = withFiles(server, files, folder);
  const start = { environment: io.environment, now, signal: io.signal };
  const listed = await listMcpTools(key, first.server, first.folder, start).catch((error: unknown) => {
    throw io.signal.aborted ? new UsageError('cancelled: nothing was created') : error;
  });
  if (listed.length === 0)
    throw new UsageError(`the MCP server (${where}) has no tools, so no domain can be made from it`);
  const usable = listed.filter(({ tool }) => !isLeftOut(tool));
  const unusable = leftOutTools(listed.map(({ tool }) => tool)).map(({ text }) => text);
  if (usable.length === 0)
    throw new UsageError(`the MCP server (${where}) has no tool that a model can be offered. ${unusable[0]}`);
  for (const each of unusable) io.err(`${each}\n`);
  return usable;
}

async function makeDomain(
  wanted: ToMake,
  to: NonNullable<Wanted['to']>,
  tools: readonly Judged[],
  options: NewOptions,
  io: Io,
): Promise<0 | 1> {
  const { key, given: server, files, now } = wanted;
  const plays = !options.noPlay;
  const plan = planCalls(tools);
  if (plays) askToPlay(to, key, plan, options, io);
  const declaredServer = files === null ? server : { ...server, files: filesFolder };
  const { reader, unsteady } = plays ? await readerOf(wanted, plan, io) : noReader;
  if (plays && reader === null && !options.json) tellUntried(plan, io);
  const made = mcpDomainFiles({ name: to.name, now, serverName: key, server: declaredServer, tools, reader, unsteady });
  const { written, proof } = await writeWhole(to.folder, made, async () => {
    approveMade(to.folder, io);
    try {
      if (files !== null) copyStart(files, to.folder, io);
      return await gate(to.folder, { plays, signal: io.signal, ...auditProgress(io) });
    } catch (error) {
      if (files !== null) rmSync(join(to.folder, filesFolder), { recursive: true, force: true });
      throw error;
    }
  });
  const isShared = reader?.isShared === true;
  return tellMade({ ...to, files: written, tools, drafts: proof, plays, isShared, unsteady }, options, io);
}

/**
 * Returns a server and the folder that it is started in. A stdio server starts with a copy of `files`, which it names from
 * the folder around them.
 */
function withFiles(server: McpServer, files: string | null, folder: string) {
  if (server.type !== 'stdio' || files === null) return { server, folder };
  return { server: { ...server, files: basename(files) }, folder: dirname(files) };
}

/** Finds out which tool shows the state of a server, by the calls of the drafts, each on a fresh server. */
async function readerOf({ key, server, files, now }: ToMake, plan: CallPlan, io: Io): Promise<ReaderSearch> {
  const { startMcpServer } = await import('../../engine/shell/tools/mcp.ts');
  const { server: started, folder } = withFiles(server, files, tmpdir());
  const start = () => startMcpServer(key, started, folder, { environment: io.environment, now, signal: io.signal });
  const onProgress = progress(io);
  try {
    return await findReader(start, plan, (done) =>
      onProgress(done, plan.writes.length, 'looking for the tool that shows the state'),
    );
  } catch (error) {
    if (io.signal.aborted) throw new UsageError('cancelled: nothing was created');
    io.err(`found no tool that shows the state of the server: ${messageOf(error)}\n`);
    return noReader;
  }
}

const noReader: ReaderSearch = { reader: null, unsteady: null };

/**
 * Prints the calls of the plan that may change something. Throws an `ApprovalQuestion` unless the person approved them.
 */
function askToPlay(
  { folder, name }: NonNullable<Wanted['to']>,
  key: string,
  plan: CallPlan,
  options: NewOptions,
  io: Io,
) {
  const effects: Effects = {
    name,
    path: folder,
    effects: effectsOfPlan(plan, `MCP server "${key}"`),
    without: 'write the drafts without playing them: --no-play',
  };
  throwUnlessApproved(effects, io.environment);
  if (options.json || effects.effects.length === 0) return;
  const lines = describeEffects(effects).map((each) => `  ${each}\n`);
  io.err(`looking for the tool that shows the state, and playing the drafts:\n${lines.join('')}`);
}

/** Names the tools that may show the state and were not called, because only their names sound like reading. */
function tellUntried({ unsureReads }: CallPlan, io: Io): void {
  if (unsureReads.length === 0) return;
  const [only, them] = unsureReads.length > 1 ? ['they only read', 'them'] : ['it only reads', 'it'];
  io.err(
    `not tried as the tool that shows the state: ${firstNames(unsureReads)}. The server does not say that ${only}. To try ${them}, name all tools that change something with --writes\n`,
  );
}

function listTools(tools: readonly Judged[], options: NewOptions, io: Io): 0 {
  const rows = tools.map(({ tool: { name, description }, isWrite, isSure }) => ({
    name,
    description,
    isWrite,
    isSure,
  }));
  if (options.json) io.out(`${JSON.stringify({ tools: rows })}\n`);
  else
    for (const { name, isWrite, isSure } of rows)
      io.out(`${isWrite ? 'write' : 'read '}${isSure ? '  ' : '? '} ${name}\n`);
  return 0;
}

type Made = {
  readonly folder: string;
  readonly name: string;
  readonly files: readonly string[];
  readonly tools: readonly Judged[];
  readonly drafts: readonly Gated[];
  /** Whether the drafts were played. */
  readonly plays: boolean;
  /** Whether rollouts share the state of the server. */
  readonly isShared: boolean;
  readonly unsteady: UnsteadyReader | null;
};

function tellMade(
  { folder, name, files, tools, drafts, plays, isShared, unsteady }: Made,
  options: NewOptions,
  io: Io,
): 0 | 1 {
  const shown = relative(io.cwd, folder) || '.';
  const isWhole = drafts.every(({ passes, findings }) => passes || (!plays && findings.length === 0));
  if (options.json) {
    io.out(`${JSON.stringify({ folder, name, files, tools: tools.length, drafts: drafts.map(gatedRow) })}\n`);
    return isWhole ? 0 : 1;
  }
  const unsure = tools.filter(({ isSure }) => !isSure).length;
  io.out(`made ${name} in ${shown}: ${counted(tools.length, 'tool')}, ${counted(drafts.length, 'draft task')}\n`);
  if (unsure > 0)
    io.out(
      `the server does not say whether ${counted(unsure, 'tool')} change anything: look for "review" in ${shown}/domain.yaml\n`,
    );
  if (isShared)
    io.out(
      `rollouts share the state of the server, so the drafts check calls only: see "sharedState" in ${shown}/domain.yaml\n`,
    );
  if (unsteady !== null)
    io.out(
      `the result of ${unsteady.tool} differs from ${unsteady.shows.length > 0 ? 'server to server' : 'call to call'}, as a text with ids or times does, so the drafts check calls only: see "reader" in ${shown}/domain.yaml\n`,
    );
  if (!plays) io.out('the drafts were not played, so their calls are untested\n');
  io.out(gatedText(drafts.map(gatedRow), io.cwd));
  const first = drafts.find(({ passes }) => passes) ?? drafts[0];
  if (first)
    io.out(
      `next: edit the drafts, then\n  npx rehearsal run ${shellWord(shown)} ${first.draft.placed.value.id}\n  npx rehearsal draft accept ${shellWord(shown)} ${first.draft.placed.value.id}\n`,
    );
  return isWhole ? 0 : 1;
}
