import type { SimulatedTool } from '../../engine/core/domain/simulatedTool.ts';
import { sourceOf } from '../../engine/core/domain/sources/sources.ts';
import type { JsonObject } from '../../engine/core/values/json.ts';
import { argumentProblems } from '../../engine/shell/load/arguments.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { FromEditor, ToolContent } from '../../webview/messages/protocol.ts';
import type { Outcome, Running } from './editorSession.ts';
import { answered } from './running.ts';
import type { KnownTool } from './toolDescriptions.ts';

/** Calls that an editor offers as examples. */
const shownExamples = 12;

export type ToolScene = {
  readonly tool: KnownTool;
  readonly domain: LoadedDomain | undefined;
  /** The path of the tool in the document; null for a tool of code. */
  readonly base: (string | number)[] | null;
  readonly simulated: SimulatedTool | null;
  readonly undescribed: string | null;
};

/** Returns what the editor of a tool shows. */
export function toolContent({ tool, domain, base, simulated, undescribed }: ToolScene): ToolContent {
  const { name, owner, effect, description, parameters } = tool;
  return {
    editor: 'tool',
    base,
    tool: { name, owner, effect, description, parameters: parameters as ToolContent['tool']['parameters'] },
    source: tool.source.type,
    limits: base === null ? limitsOf(tool) : [],
    simulated: simulated && {
      behaviour: simulated.behaviour,
      result: simulated.result,
      reads: [...simulated.reads],
      writes: [...simulated.writes],
      limits: limitsWritten(simulated),
    },
    examples: examplesOf(domain, name),
    tasks: (domain?.tasks ?? []).map(({ id }) => id),
    untriable: untriableOf(tool, domain),
    undescribed: parameters === null ? undescribed : null,
  };
}

type Written = NonNullable<ToolContent['simulated']>['limits'];

function limitsWritten({ timeoutMs, idempotent, cache, retries, rateLimit }: SimulatedTool): Written {
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(cache === undefined ? {} : { cache }),
    ...(retries === undefined ? {} : { retries }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
  };
}

function limitsOf(tool: KnownTool): ToolContent['limits'] {
  const { timeoutMs, idempotent, rateLimit, idempotencyKey, cache, retries, handsOff } = tool;
  return [
    ...(timeoutMs === undefined ? [] : [{ name: 'Timeout', value: `${timeoutMs} ms` }]),
    ...(rateLimit ? [{ name: 'Rate', value: `${rateLimit.calls} calls in ${rateLimit.perMs} ms at most` }] : []),
    ...(idempotent === undefined ? [] : [{ name: 'Idempotent', value: idempotent ? 'yes' : 'no' }]),
    ...(retries === undefined ? [] : [{ name: 'Retries', value: String(retries) }]),
    ...(cache ? [{ name: 'Cached', value: 'equal reads are made once, until something is written' }] : []),
    ...(idempotencyKey ? [{ name: 'Key of a call', value: `the engine fills ${idempotencyKey}` }] : []),
    ...(handsOff ? [{ name: 'Hands over', value: 'a call ends the rollout' }] : []),
  ];
}

/** Calls of the tool that tasks have among their gold actions; equal ones once. */
function examplesOf(domain: LoadedDomain | undefined, name: string): ToolContent['examples'] {
  const found = new Map<string, ToolContent['examples'][number]>();
  for (const { id, actions } of domain?.tasks ?? []) {
    for (const { tool, arguments: args } of actions) {
      const key = JSON.stringify(args);
      if (tool === name && !found.has(key) && found.size < shownExamples) found.set(key, { task: id, arguments: args });
    }
  }
  return [...found.values()];
}

function untriableOf(tool: KnownTool, domain: LoadedDomain | undefined): string | null {
  if (!domain) return 'This file is not in a domain, so there is no database to try the tool on.';
  if (sourceOf(tool).simulation && domain.file.simulator === undefined)
    return 'A model answers for this tool, and domain.yaml names none: write simulator: openai:MODEL there.';
  return tool.parameters === null ? 'Its arguments are not known yet.' : null;
}

/** Returns the engine's errors in arguments. A missing argument is reported at its own place. */
export function misfitsOf(tool: KnownTool, given: JsonObject) {
  if (tool.parameters === null) return [{ path: [], message: 'the arguments of this tool are not known' }];
  const problems = argumentProblems({ name: tool.name, parameters: tool.parameters }, given);
  return problems.map(({ path, missing, message }) => ({
    path: missing === undefined ? indexed(given, path) : [...indexed(given, path), missing],
    message,
  }));
}

/** A path of texts with the places in lists as numbers. */
export function indexed(value: unknown, path: readonly string[]): (string | number)[] {
  let at = value;
  return path.map((key) => {
    const place = Array.isArray(at) ? Number(key) : key;
    at = (at as Record<string, unknown> | null | undefined)?.[key];
    return place;
  });
}

/** Calls a tool on a temporary database. What does not fit is not called: the page knows already, and this is the gate. */
export function callOf(
  tool: KnownTool,
  { arguments: args, task }: Extract<FromEditor, { type: 'call' }>,
): (running: Running) => Promise<Outcome> {
  return async (running) => {
    const misfits = misfitsOf(tool, args);
    if (misfits.length > 0) throw new Error(`It was not called: ${misfits.map(({ message }) => message).join(' ')}`);
    const of = task === null ? [] : ['--task', task];
    const command = ['call', running.folder, tool.name, '--arguments', JSON.stringify(args), ...of];
    const answer = (await answered(running, command)) as unknown as Omit<Extract<Outcome, { type: 'called' }>, 'type'>;
    return { ...answer, type: 'called', arguments: args };
  };
}
