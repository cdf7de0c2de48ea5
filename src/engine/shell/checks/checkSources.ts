import { existsSync } from 'node:fs';
import { type McpServer, type PythonEnvironment, serverSetUpSchema } from '../../core/domain/domain.ts';
import type { SeededFault } from '../../core/domain/seededFault.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import type { Task } from '../../core/domain/task.ts';
import type { Tool } from '../../core/domain/tool.ts';
import { type Location, startOf } from '../files/diagnostic.ts';
import { serverPlaceholders, unknownPlaceholder } from '../keys/placeholders.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { respelt } from '../source/edit.ts';
import { keyOf, type Placed, placeOf } from '../source/items.ts';
import { didYouMean } from '../source/nearest.ts';
import { checkToolName, type KnownTools, type Note } from '../source/note.ts';
import { inside } from '../source/source.ts';

/** Returns where a tool is declared. */
export function placeOfTool({ file, scan }: Parts, tool: Tool): Location {
  const { declaredAt } = sourceOf(tool);
  return declaredAt ? file.places.key(declaredAt) : (scan.tools.get(tool.name) ?? startOf(file.file));
}

/** Checks simulated tools, environments and servers against the rest of their domain, and tasks against them. */
export function checkSources(parts: Parts, folder: string, known: KnownTools, note: Note): void {
  checkEnvironments(parts, folder, note);
  checkServers(parts, folder, note);
  checkLimits(parts, known, note);
  if (parts.simulated.length > 0) checkSimulated(parts, note);
  for (const placed of parts.tasks) {
    checkSetUp(placed, parts, folder, note);
    checkSharedStart(placed, parts, note);
    for (const [index, fault] of (placed.value.faults ?? []).entries()) {
      checkToolName(fault.tool, placeOf(placed, 'faults', index, 'tool'), 'task', known, note);
      if (fault.type === 'changedSchema') checkRenamed(placed, index, fault, known, note);
    }
  }
}

/** An argument that a tool does not have can't get another name. */
function checkRenamed(
  placed: Placed<Task>,
  index: number,
  fault: Extract<SeededFault, { type: 'changedSchema' }>,
  known: KnownTools,
  note: Note,
): void {
  const parameters = known.tools.get(fault.tool)?.parameters;
  const { properties, additionalProperties } = (parameters ?? {}) as Partial<Record<string, object | boolean>>;
  if (additionalProperties !== false) return;
  const names = Object.keys(properties ?? {});
  for (const name of Object.keys(fault.arguments)) {
    if (names.includes(name)) continue;
    const message = `${fault.tool} has no argument ${name}, so the fault can't rename it.`;
    const all = names.length === 0 ? 'It has no arguments.' : `Its arguments are ${names.join(', ')}.`;
    const at = keyOf(placed, 'faults', index, 'arguments', name);
    note(at, 'error', 'task/unknown-argument', message, didYouMean(name, names, all));
  }
}

function checkEnvironments({ file }: Parts, folder: string, note: Note): void {
  for (const [name, environment] of Object.entries(file.value.environments)) {
    const { file: path } = environment;
    const problem = kindProblem(environment);
    if (problem)
      note(file.places.key(['environments', name]), 'error', 'domain/environment', problem.message, problem.hint);
    if (path === undefined) continue;
    checkPath(placeOf(file, 'environments', name, 'file'), path, 'file', folder, note);
  }
}

/** An environment is a file of the domain or an adapter, and only adapters work on the domain's database. */
function kindProblem({
  file,
  adapter,
  state,
}: PythonEnvironment): { readonly message: string; readonly hint: string } | null {
  if ((file === undefined) === (adapter === undefined))
    return {
      message: 'An environment is the file of one, or an adapter that ships with Rehearsal.',
      hint: 'Write either file: or adapter:.',
    };
  if ((adapter !== undefined) !== (state === 'database'))
    return {
      message:
        "state: database is only for adapters, and it is their only value: their state is the domain's database.",
      hint: adapter === undefined ? 'Write snapshot, replay or none.' : 'Write state: database.',
    };
  return null;
}

/** Notes a path that domain.yaml names and that does not exist in the domain's folder. */
function checkPath(at: Location, path: string, what: 'file' | 'folder', folder: string, note: Note): void {
  const target = inside(folder, path);
  if (target === null)
    note(at, 'error', 'domain/path-outside', `${path} is outside the domain's folder.`, `Name a ${what} inside it.`);
  else if (!existsSync(target))
    note(
      at,
      'error',
      'domain/file-missing',
      `The ${what} ${path} does not exist.`,
      `Create it, or name another ${what}.`,
    );
}

function checkServers({ file }: Parts, folder: string, note: Note): void {
  for (const [name, server] of Object.entries(file.value.mcpServers)) {
    if (server.type !== 'http' && server.files !== undefined)
      checkPath(placeOf(file, 'mcpServers', name, 'files'), server.files, 'folder', folder, note);
    checkPlaceholders(file, name, server, note);
    if (server.state !== 'snapshot') continue;
    for (const key of ['snapshot', 'restore'] as const) {
      if (server[key]) continue;
      const message = `The server ${name} declares state: snapshot, but no ${key}:.`;
      const hint = 'Name the tools that return and restore the whole state, or write state: replay.';
      note(placeOf(file, 'mcpServers', name, 'state'), 'error', 'domain/no-snapshot', message, hint);
    }
  }
}

/** A placeholder that is not known would be found when the server starts, which needs an approval. */
function checkPlaceholders(file: Parts['file'], name: string, server: McpServer, note: Note): void {
  const texts: readonly (readonly [path: readonly (string | number)[], text: string])[] =
    server.type === 'http'
      ? [
          [['url'], server.url],
          ...Object.entries(server.headers).map(([key, text]) => [['headers', key], text] as const),
        ]
      : [
          [['command'], server.command],
          ...server.args.map((text, index) => [['args', index], text] as const),
          ...Object.entries(server.env).map(([key, text]) => [['env', key], text] as const),
          ...(server.cwd === undefined ? [] : [[['cwd'], server.cwd] as const]),
        ];
  for (const [path, text] of texts) {
    const problem = unknownPlaceholder(text, serverPlaceholders);
    if (problem === null) continue;
    const { what, advice } = problem;
    const place = placeOf(file, 'mcpServers', name, ...path);
    note(place, 'error', 'domain/unknown-placeholder', `${what}.`, `${advice}.`);
  }
}

/** A call that is not idempotent does harm when it is made twice. */
function checkLimits(parts: Parts, known: KnownTools, note: Note): void {
  for (const tool of known.tools.values()) {
    if (tool.retries && !tool.idempotent) {
      const message = `${tool.name} has retries, but it is not idempotent: its effect could happen twice.`;
      note(
        placeOfTool(parts, tool),
        'error',
        'tool/unsafe-retry',
        message,
        'Declare it idempotent if repeating it is harmless.',
      );
    }
    if (tool.cache && tool.effect === 'write') {
      const message = `${tool.name} has a cache, but it writes.`;
      note(placeOfTool(parts, tool), 'error', 'tool/cached-write', message, 'Remove `cache`.');
    }
  }
}

function checkSimulated({ file, simulated, tasks }: Parts, note: Note): void {
  const first = simulated[0];
  if (first && file.value.simulator === undefined)
    note(
      placeOf(first, 'name'),
      'warning',
      'tool/no-simulator',
      `${first.value.name} needs a model that simulates it, and domain.yaml names none.`,
      'Write simulator: openai:MODEL in domain.yaml.',
    );
  const writer = simulated.find(({ value }) => value.effect === 'write');
  if (!writer) return;
  const message = `The reward compares the database, which ${writer.value.name} can change in any way, because a model simulates it.`;
  const hint = 'Base the reward on assertions, because a simulated write differs each time.';
  for (const placed of tasks) {
    const basis = (['evaluate', 'train'] as const).find((each) => placed.value[each].includes('database'));
    if (!basis) continue;
    const place = placeOf(placed, basis, placed.value[basis].indexOf('database'));
    note(place, 'error', 'task/simulated-writes', message, hint);
  }
}

function checkSetUp(
  placed: Placed<Parts['tasks'][number]['value']>,
  { file }: Parts,
  folder: string,
  note: Note,
): void {
  const { environments, mcpServers } = file.value;
  const names = [...Object.keys(environments), ...Object.keys(mcpServers)];
  for (const [name, data] of Object.entries(placed.value.setUp ?? {})) {
    const at = keyOf(placed, 'setUp', name);
    if (Object.hasOwn(mcpServers, name)) checkServerSetUp(at, name, data, folder, note);
    if (names.includes(name)) continue;
    const all = names.length === 0 ? 'Add it under environments: in domain.yaml.' : `There is ${names.join(', ')}.`;
    const message = `There is no environment and no MCP server ${name} to set up.`;
    const fix = respelt(at, name, names);
    note(at, 'error', 'task/unknown-environment', message, didYouMean(name, names, all), fix);
  }
}

/** A server with one state for all begins each rollout with what the last one left, unless the task sets it up. */
function checkSharedStart(placed: Placed<Task>, { file }: Parts, note: Note): void {
  const { mcpServers } = file.value;
  const { assertions, setUp = {} } = placed.value;
  for (const [index, { in: name, sameAs }] of assertions.entries()) {
    if (!Object.hasOwn(mcpServers, name) || !mcpServers[name]?.sharedState || Object.hasOwn(setUp, name)) continue;
    note(
      placeOf(placed, 'assertions', index, 'in'),
      sameAs === undefined ? 'warning' : 'error',
      'task/shared-start',
      sameAs === undefined
        ? `Rollouts share the state of ${name}, so each starts from the state that the previous one left.`
        : `Rollouts share the state of ${name}, so the gold actions would start from the state that the agent left.`,
      `Add setUp.${name}.calls that reset it.`,
    );
  }
}

function checkServerSetUp(at: Location, name: string, data: unknown, folder: string, note: Note): void {
  const read = serverSetUpSchema.safeParse(data);
  if (read.success) {
    if (read.data.files !== undefined) checkPath(at, read.data.files, 'folder', folder, note);
    return;
  }
  const [issue] = read.error.issues;
  const where = [name, ...(issue?.path ?? [])].join('.');
  const message = `setUp of an MCP server is not valid: ${where}: ${issue?.message}.`;
  note(
    at,
    'error',
    'task/set-up',
    message,
    'It has files, args and calls: a folder of the domain, a list, and tools with arguments.',
  );
}
