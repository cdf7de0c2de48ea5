import type { DebugProtocol } from '@vscode/debugprotocol';
import type { BreakpointRequests } from './breakpoints/breakpointRequests.ts';
import type { Inspection } from './inspection.ts';
import type { Forks } from './playback/forks.ts';
import type { Playback } from './playback/playback.ts';

/** The parts of a session that queries read; a part is null until it has started. */
type Queried = {
  readonly breakpoints: BreakpointRequests;
  readonly inspection: Inspection;
  readonly playback: Playback | null;
  readonly forks: Forks | null;
};

/** Answers a request; its arguments are read where they are needed, and may be missing. */
type QueryRequest = (of: Queried, args: never) => object | Promise<object>;

/** Requests that place or look, and move nothing. */
export const queryRequests: ReadonlyMap<string, QueryRequest> = new Map<string, QueryRequest>([
  ['setBreakpoints', ({ breakpoints }, args: DebugProtocol.SetBreakpointsArguments) => breakpoints.set(args)],
  [
    'breakpointLocations',
    ({ breakpoints }, args: DebugProtocol.BreakpointLocationsArguments) => breakpoints.locations(args),
  ],
  [
    'setFunctionBreakpoints',
    ({ breakpoints }, args: DebugProtocol.SetFunctionBreakpointsArguments) => breakpoints.setFunctions(args),
  ],
  [
    'setDataBreakpoints',
    ({ breakpoints }, args: DebugProtocol.SetDataBreakpointsArguments) => breakpoints.setData(args),
  ],
  [
    'setExceptionBreakpoints',
    ({ breakpoints }, args: DebugProtocol.SetExceptionBreakpointsArguments) => breakpoints.setExceptions(args),
  ],
  [
    'dataBreakpointInfo',
    ({ breakpoints, inspection, playback }, args: DebugProtocol.DataBreakpointInfoArguments) =>
      breakpoints.dataInfo(args.name, inspection.place(playback?.debuggee, args)),
  ],
  ['rehearsal/names', ({ breakpoints }) => breakpoints.names()],
  ['exceptionInfo', ({ inspection, playback }) => inspection.exception(playback?.stop)],
  ['threads', ({ inspection, playback }) => inspection.threads(playback?.debuggee)],
  [
    'stackTrace',
    ({ inspection, playback }, args: DebugProtocol.StackTraceArguments) =>
      inspection.frames(playback?.debuggee, playback?.stop, args),
  ],
  [
    'scopes',
    ({ inspection, playback }, { frameId }: DebugProtocol.ScopesArguments) =>
      inspection.scopes(playback?.debuggee, frameId),
  ],
  [
    'variables',
    async ({ inspection }, args: DebugProtocol.VariablesArguments) => {
      await inspection.references.ready(args.variablesReference);
      return inspection.variables(args);
    },
  ],
  [
    'gotoTargets',
    ({ inspection, playback }, args: DebugProtocol.GotoTargetsArguments) =>
      inspection.gotoTargets(playback?.debuggee, args),
  ],
  [
    'stepInTargets',
    ({ inspection, playback }, args: DebugProtocol.StepInTargetsArguments) =>
      inspection.stepInTargets(playback?.debuggee, args),
  ],
  [
    'completions',
    ({ inspection, playback }, args: DebugProtocol.CompletionsArguments) =>
      inspection.completions(playback?.debuggee, args),
  ],
  [
    'rehearsal/value',
    (
      { inspection, playback },
      { variablesReference, name }: { readonly variablesReference: number; readonly name: string },
    ) => inspection.whole(playback?.debuggee, variablesReference, name),
  ],
  [
    'rehearsal/reply',
    ({ inspection, playback }, { frameId }: { readonly frameId?: number }) =>
      inspection.reply(playback?.debuggee, playback?.stop, frameId),
  ],
  [
    'rehearsal/recording',
    ({ playback }) => ({ path: playback?.debuggee.recording ?? '', step: playback?.debuggee.cursor ?? 0 }),
  ],
  ['rehearsal/changes', ({ forks }) => ({ files: forks?.edited() ?? [] })],
  [
    'rehearsal/request',
    ({ inspection, playback }, { frameId, name = '' }: { readonly frameId?: number; readonly name?: string }) =>
      inspection.request(playback?.debuggee, frameId, name),
  ],
  [
    'rehearsal/inlineValues',
    (
      { inspection, playback },
      { frameId, file, text }: { readonly frameId?: number; readonly file: string; readonly text?: string },
    ) => inspection.inlineValues(playback?.debuggee, frameId, file, text),
  ],
]);
