import { requiredIn, type Tool } from '../../engine/core/domain/tool.ts';
import type { JsonObject } from '../../engine/core/values/json.ts';
import type { Effect } from '../../engine/shell/approvals/effects.ts';
import { mostCallsOfDraft } from '../../engine/shell/audit/draftGate.ts';
import { exampleArguments } from './exampleArguments.ts';
import { type Judged, rehearsedTools } from './judgedTools.ts';

export type Call = { readonly tool: string; readonly arguments: JsonObject };

/** A call whose result may be the state of the server. */
export type Candidate = Call & {
  /** Whether the tool declares the schema of its result. */
  readonly isTyped: boolean;
};

/** The call of a draft. */
export type PlannedWrite = Call & {
  /** The same call with another value of one argument, which tells whether the state shows that argument. */
  readonly altered: readonly (Call & { readonly argument: string })[];
};

/** All calls that are made of a server to write and play drafts. It exists before the first call. */
export type CallPlan = {
  /** Calls of tools that only read, by the word of the server or of a person. */
  readonly candidates: readonly Candidate[];
  /** Calls of tools that may change something. */
  readonly writes: readonly PlannedWrite[];
  /** The tools that may read the state by their names alone, so they are not called. */
  readonly unsureReads: readonly string[];
};

/** Arguments of one call that are tried with another value. */
const mostAltered = 3;

/** More tools are not tried: a server with many read tools has one for its state among the first, or none. */
const mostCandidates = 12;

/** Calls that `findReader` makes of a write at most: one to see its effect, one to find volatile fields. */
const mostCallsToFindReader = 2;

/** Returns the calls for the tools of a server. */
export function planCalls(tools: readonly Judged[]): CallPlan {
  const reads = tools.flatMap(({ tool, isWrite, isSure }) => {
    const call = isWrite ? null : candidateOf(tool);
    return call ? [{ ...call, isSure }] : [];
  });
  const candidates = reads.flatMap(({ isSure, ...call }) => (isSure ? [call] : [])).slice(0, mostCandidates);
  const writes = rehearsedTools(tools)
    .filter(({ isWrite, isSure }) => isWrite || !isSure)
    .map(({ tool }): PlannedWrite => {
      const call = { tool: tool.name, arguments: exampleArguments(tool) };
      return { ...call, altered: candidates.length > 0 ? alteredOf(call) : [] };
    });
  const unsureReads = reads.flatMap(({ tool, isSure }) =>
    isSure || writes.some((write) => write.tool === tool) ? [] : [tool],
  );
  return { candidates, writes, unsureReads };
}

/** Returns the effects that a person approves: the calls of tools that may change something, with how often each is made. */
export function effectsOfPlan({ candidates, writes }: CallPlan, by: string): readonly Effect[] {
  const hasReader = candidates.length > 0;
  const most = mostCallsOfDraft(hasReader) + (hasReader ? mostCallsToFindReader : 0);
  const effectOf = (call: Call, times: number): Effect => {
    const { tool, arguments: args } = call;
    return { type: 'call', by, tool, arguments: args, most: times };
  };
  return writes.flatMap(({ altered, ...write }) => [
    effectOf(write, most),
    ...altered.map((call) => effectOf(call, 1)),
  ]);
}

/** Returns how a tool is called to show the state: with nothing, or with the folder of the instance. */
function candidateOf({ name, parameters, outputSchema }: Tool): Candidate | null {
  const isTyped = outputSchema !== undefined;
  const required = requiredIn(parameters);
  if (required.length === 0) return { tool: name, arguments: {}, isTyped };
  const [only = ''] = required;
  const isFolder = required.length === 1 && /path|dir|folder|root/i.test(only);
  return isFolder ? { tool: name, arguments: { [only]: '${instanceFolder}' }, isTyped } : null;
}

function alteredOf({ tool, arguments: args }: Call): PlannedWrite['altered'] {
  return Object.entries(args)
    .filter(([, value]) => typeof value === 'string')
    .slice(0, mostAltered)
    .map(([argument, value]) => ({ tool, argument, arguments: { ...args, [argument]: `${value} 2` } }));
}
