import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { relative, resolve } from 'node:path';
import { counted } from '../../engine/core/counted.ts';
import { isLeftOut } from '../../engine/core/tool.ts';
import { type Gated, gate } from '../../engine/shell/audit/draftGate.ts';
import { commandWords } from '../../engine/shell/drafting/commandWords.ts';
import {
  declared,
  type GivenServer,
  type Judged,
  judged,
  mcpDomainFiles,
  serverName,
} from '../../engine/shell/drafting/mcpDomain.ts';
import { writeWhole } from '../../engine/shell/drafting/newFolder.ts';
import { type Given, text } from '../command.ts';
import { gatedRow, gatedText } from '../drafts/gatedText.ts';
import { type Io, progress, UsageError } from '../io.ts';
import { shellWord } from '../shellWord.ts';

type Wanted = {
  /** Null where the tools are to be listed, and no folder was named to start the server in. */
  readonly to: { readonly folder: string; readonly name: string } | null;
  readonly now: string;
};

/** Makes a domain of the tools of an MCP server, or lists them, and says what is left to do. */
export async function fromServer({ to, now }: Wanted, given: Given, io: Io): Promise<0 | 1> {
  const server = serverOf(given, io);
  const key = serverName(server);
  const whole = declared(key, server);
  if (typeof whole === 'string') throw new UsageError(`this is no MCP server: ${whole}`);
  // The client is loaded only for domains that have servers.
  const { listMcpTools } = await import('../../engine/shell/mcp.ts');
  const where = 'url' in server ? server.url : [server.command, ...server.args].join(' ');
  if (given.values['json'] !== true) io.err(`asking ${where} for its tools\n`);
  const listed = await listMcpTools(key, whole, to !== null && existsSync(to.folder) ? to.folder : tmpdir(), {
    environment: io.environment,
  }).catch((error: unknown) => {
    // Ctrl+C ends the server as well, which would look like a fault of its own.
    throw io.signal.aborted ? new UsageError('cancelled: nothing was made') : error;
  });
  if (listed.length === 0)
    throw new UsageError(`the MCP server (${where}) has no tools, so there is nothing to make a domain of`);
  const usable = listed.filter(({ tool }) => !isLeftOut(tool));
  const misnamed = listed.flatMap(({ tool }) => (isLeftOut(tool) ? [tool.name] : []));
  if (usable.length === 0)
    throw new UsageError(
      `the MCP server (${where}) has no tool that a model can be offered: a name is ${JSON.stringify(misnamed[0])}, and not at most 64 letters, digits, dashes and underscores`,
    );
  for (const each of misnamed) io.err(`${JSON.stringify(each)} can be no name of a tool; it is left out\n`);
  const tools = judged(
    usable,
    writesOf(
      given,
      usable.map(({ tool }) => tool.name),
    ),
  );
  if (to === null || given.values['list'] === true) return listTools(tools, given, io);
  const made = mcpDomainFiles({ name: to.name, now, serverName: key, server, tools });
  const { written, proof } = await writeWhole(to.folder, made, () =>
    gate(to.folder, { signal: io.signal, onProgress: progress(io) }),
  );
  return tellMade({ ...to, files: written, tools, drafts: proof }, given, io);
}

/** The server that a person named, with paths as they hold from anywhere. */
function serverOf(given: Given, { cwd }: Io): GivenServer {
  const url = text(given, 'mcp-url');
  if (url !== undefined) {
    if (!/^https?:/i.test(url) || !URL.canParse(url))
      throw new UsageError(`--mcp-url is an address such as http://127.0.0.1:8000/mcp, not "${url}"`);
    return { type: 'http', url, headers: pairs(given, 'header') };
  }
  const words = commandWords(text(given, 'mcp') ?? '');
  if (typeof words === 'string') throw new UsageError(`--mcp can't be read: ${words}`);
  const [command, ...args] = words;
  if (command === undefined) throw new UsageError('--mcp is empty: it is the command that starts the server');
  const placed = (word: string) => {
    const path = resolve(cwd, word);
    return /[\\/.]/.test(word) && !word.startsWith('-') && existsSync(path) ? path : word;
  };
  return { command: placed(command), args: args.map(placed), env: pairs(given, 'env') };
}

function pairs({ values }: Given, name: 'env' | 'header'): Readonly<Record<string, string>> {
  const list = values[name];
  return Object.fromEntries(
    (Array.isArray(list) ? list : []).map((each) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(String(each)) ?? [];
      if (key === undefined || value === undefined) throw new UsageError(`--${name} is NAME=VALUE, not "${each}"`);
      return [key.trim(), value];
    }),
  );
}

function writesOf(given: Given, known: readonly string[]): readonly string[] | undefined {
  const list = text(given, 'writes');
  if (list === undefined) return undefined;
  const names = list.split(',').flatMap((name) => name.trim() || []);
  const stranger = names.find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new UsageError(`--writes: the server has no tool "${stranger}"; it has ${known.join(', ')}`);
  return names;
}

function listTools(tools: readonly Judged[], given: Given, io: Io): 0 {
  const rows = tools.map(({ tool: { name, description }, isWrite, isSure }) => ({
    name,
    description,
    isWrite,
    isSure,
  }));
  if (given.values['json'] === true) io.out(`${JSON.stringify({ tools: rows })}\n`);
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
};

function tellMade({ folder, name, files, tools, drafts }: Made, given: Given, io: Io): 0 | 1 {
  const shown = relative(io.cwd, folder) || '.';
  const isWhole = drafts.every(({ passes }) => passes);
  if (given.values['json'] === true) {
    io.out(`${JSON.stringify({ folder, name, files, tools: tools.length, drafts: drafts.map(gatedRow) })}\n`);
    return isWhole ? 0 : 1;
  }
  const unsure = tools.filter(({ isSure }) => !isSure).length;
  io.out(`made ${name} in ${shown}: ${counted(tools.length, 'tool')}, ${counted(drafts.length, 'draft task')}\n`);
  if (unsure > 0)
    io.out(
      `the server does not say of ${counted(unsure, 'tool')} whether they change anything: look for "review" in ${shown}/domain.yaml\n`,
    );
  io.out(gatedText(drafts.map(gatedRow), io.cwd));
  const first = drafts.find(({ passes }) => passes) ?? drafts[0];
  if (first)
    io.out(
      `next: edit the drafts, then\n  rehearsal run ${shellWord(shown)} ${first.draft.placed.value.id}\n  rehearsal draft accept ${shellWord(shown)} ${first.draft.placed.value.id}\n`,
    );
  return isWhole ? 0 : 1;
}
