import type { DebugProtocol } from '@vscode/debugprotocol';
import { showPath } from '../../engine/core/json.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';
import { type Breakpoint, Breakpoints } from './breakpoints.ts';
import { filters } from './exceptionFilters.ts';
import { type Asked, parseStopCondition } from './stopCondition.ts';
import { accesses, dataIdOf, lines, parseDataId, parseTarget, place, type Target } from './target.ts';
import { isInsideCode } from './toolBody.ts';
import type { UnseenReads } from './unseenReads.ts';
import type { Variable } from './variables.ts';

/** Translates line numbers: a client may count from 0. */
export type ClientLines = {
  readonly toClient: (line: number) => number;
  readonly fromClient: (line: number) => number;
};

type Placed = { readonly breakpoints: DebugProtocol.Breakpoint[] };

/**
 * Answers the requests about breakpoints. Every answer is a list, also to a request without arguments: VS Code gives
 * the whole session up over an empty answer.
 */
export class BreakpointRequests {
  readonly breakpoints = new Breakpoints();
  /** Breakpoints can be placed from when the domain is read. */
  domain: LoadedDomain | null = null;
  /** Whether the client's JavaScript debugger stops inside the domain's code. */
  stepsInside = false;
  /** Files with breakpoints that are its own. */
  readonly #inside = new Map<string, number>();
  /** What can't be told of reads; null where all can. */
  unseenReads: () => UnseenReads | null = () => null;
  readonly #lines: ClientLines;

  constructor(lines: ClientLines) {
    this.#lines = lines;
  }

  set(args: DebugProtocol.SetBreakpointsArguments): Placed {
    const path = args.source?.path ?? '';
    const asked = args.breakpoints ?? [];
    const isInside = (each: DebugProtocol.SourceBreakpoint) => this.#isInside(path, each);
    this.#inside.set(path, asked.filter(isInside).length);
    const placed = asked.map((asked) => {
      if (isInside(asked)) return { line: asked.line, made: null };
      const line = this.#lines.fromClient(asked.line);
      const at = this.domain ? place(this.domain, path, line) : { line, problem: 'no domain is open' };
      return { line: this.#lines.toClient(at.line), made: made('target' in at ? at.target : at.problem, asked) };
    });
    return this.#placed(path, placed);
  }

  /** Whether a breakpoint stands in code that only a JavaScript debugger stops in. */
  get hasInside(): boolean {
    return [...this.#inside.values()].some((count) => count > 0);
  }

  #isInside(path: string, { line }: DebugProtocol.SourceBreakpoint): boolean {
    return this.stepsInside && this.domain !== null && isInsideCode(this.domain, path, this.#lines.fromClient(line));
  }

  locations(args: DebugProtocol.BreakpointLocationsArguments): { breakpoints: DebugProtocol.BreakpointLocation[] } {
    const { line = 1, endLine = line } = args;
    const all = this.domain ? lines(this.domain, args.source?.path ?? '') : [];
    const shown = all.map((each) => this.#lines.toClient(each));
    return { breakpoints: shown.filter((each) => each >= line && each <= endLine).map((each) => ({ line: each })) };
  }

  setFunctions(args: DebugProtocol.SetFunctionBreakpointsArguments): Placed {
    return this.#placed(
      'functions',
      (args.breakpoints ?? []).map((asked) => ({
        made: made(parseTarget(this.domain, String(asked.name ?? '')), asked),
      })),
    );
  }

  setData(args: DebugProtocol.SetDataBreakpointsArguments): Placed {
    return this.#placed(
      'data',
      (args.breakpoints ?? []).map((asked) => ({ made: made(parseDataId(asked.dataId, asked.accessType), asked) })),
    );
  }

  setExceptions(args: DebugProtocol.SetExceptionBreakpointsArguments): Placed {
    const names = args.filters ?? [];
    this.breakpoints.stopOn(names);
    return {
      breakpoints: names.map((name) => {
        const isKnown = filters.some(({ filter }) => filter === name);
        return isKnown ? { verified: true } : { verified: false, message: `there is no filter "${name}"` };
      }),
    };
  }

  /** Whether a value can be watched: what stands at a place of the database, or why something stands at none. */
  dataInfo(name: string, place: Variable['place'] | string): DebugProtocol.DataBreakpointInfoResponse['body'] {
    if (place === undefined || typeof place === 'string')
      return { dataId: null, description: place ?? `${name} can't be watched: only values of the database can` };
    return {
      dataId: dataIdOf(place.side, place.path),
      description: `${place.side === 'user' ? 'user.' : ''}${showPath(place.path)}`,
      accessTypes: [...accesses],
      canPersist: true,
    };
  }

  /** What a breakpoint on reads can't see. One that can see nothing so far is set all the same: a fork may tell. */
  #missed(target: Target): Partial<DebugProtocol.Breakpoint> {
    const unseen = target.type === 'data' && target.access !== 'write' ? this.unseenReads() : null;
    if (!unseen) return {};
    const isBlind = target.type === 'data' && target.access === 'read' && unseen.isAll;
    return { message: unseen.message, ...(isBlind ? { verified: false } : {}) };
  }

  /** Sets the breakpoints of a kind; one that can't be made says why. */
  #placed(kind: string, all: readonly { readonly line?: number; readonly made: Breakpoint | string | null }[]): Placed {
    const ids = this.breakpoints.set(
      kind,
      all.map(({ made: each }) => (typeof each === 'string' ? null : each)),
    );
    return {
      breakpoints: all.map(({ made: each, line }, index) => {
        const at = line === undefined ? {} : { line };
        if (typeof each === 'string') return { verified: false, ...at, message: each };
        return verified(ids[index], { ...at, ...(each === null ? {} : this.#missed(each.target)) });
      }),
    };
  }
}

/** A breakpoint on a target, or why there is none. */
function made(target: Target | string, asked: Asked): Breakpoint | string {
  if (typeof target === 'string') return target;
  const condition = parseStopCondition(asked);
  return typeof condition === 'string' ? condition : { target, condition };
}

function verified(
  id: number | null | undefined,
  more: Partial<DebugProtocol.Breakpoint> = {},
): DebugProtocol.Breakpoint {
  return { verified: true, ...(typeof id === 'number' ? { id } : {}), ...more };
}
