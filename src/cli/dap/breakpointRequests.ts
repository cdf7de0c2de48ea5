import type { DebugProtocol } from '@vscode/debugprotocol';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';
import { Breakpoints, dataIdOf, filters, lines, parseDataId, parseTarget, place } from './breakpoints.ts';
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
  readonly #lines: ClientLines;

  constructor(lines: ClientLines) {
    this.#lines = lines;
  }

  set(args: DebugProtocol.SetBreakpointsArguments): Placed {
    const path = args.source?.path ?? '';
    const placed = (args.breakpoints ?? []).map(({ line }) => {
      const asked = this.#lines.fromClient(line);
      return this.domain ? place(this.domain, path, asked) : { line: asked, problem: 'no domain is open' };
    });
    const targets = placed.map((each) => ('target' in each ? each.target : null));
    const ids = this.breakpoints.set(path, targets);
    return {
      breakpoints: placed.map((each, index) => {
        const line = this.#lines.toClient(each.line);
        return 'target' in each ? verified(ids[index], { line }) : { verified: false, line, message: each.problem };
      }),
    };
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
      (args.breakpoints ?? []).map(({ name }) => parseTarget(this.domain, name)),
    );
  }

  setData(args: DebugProtocol.SetDataBreakpointsArguments): Placed {
    return this.#placed(
      'data',
      (args.breakpoints ?? []).map(({ dataId }) => parseDataId(dataId)),
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

  /** Whether writes of a variable can be watched. */
  dataInfo(name: string, variable: Variable | undefined): DebugProtocol.DataBreakpointInfoResponse['body'] {
    if (!variable?.place) return { dataId: null, description: 'only values of the database are watched for writes' };
    const { side, path } = variable.place;
    return {
      dataId: dataIdOf(side, path),
      description: `${name} is written`,
      accessTypes: ['write'],
      canPersist: true,
    };
  }

  #placed(kind: string, parsed: readonly ReturnType<typeof parseTarget>[]): Placed {
    const ids = this.breakpoints.set(
      kind,
      parsed.map((each) => (typeof each === 'string' ? null : each)),
    );
    return {
      breakpoints: parsed.map((each, index) =>
        typeof each === 'string' ? { verified: false, message: each } : verified(ids[index]),
      ),
    };
  }
}

function verified(
  id: number | null | undefined,
  more: Partial<DebugProtocol.Breakpoint> = {},
): DebugProtocol.Breakpoint {
  return { verified: true, ...(typeof id === 'number' ? { id } : {}), ...more };
}
