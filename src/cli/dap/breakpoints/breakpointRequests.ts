import { resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { showPath } from '../../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { inWordsOf } from '../../../engine/shell/domain/reasonInWords.ts';
import { blanked } from '../../../engine/shell/source/scan.ts';
import type { PresentPlaces } from '../rollout/presentPlaces.ts';
import type { Variable } from '../variables/rows.ts';
import { type Breakpoint, Breakpoints } from './breakpoints.ts';
import { filters } from './exceptionFilters.ts';
import { parseStopCondition, type WrittenCondition } from './stopCondition.ts';
import {
  accesses,
  dataIdOf,
  lines,
  missingValueNote,
  parseDataId,
  parseTarget,
  place,
  placeAgain,
  type Target,
  targetNames,
} from './target.ts';
import type { UnseenReads } from './unseenReads.ts';

/** Translates line numbers: a client may count from 0. */
export type ClientLines = {
  readonly toClient: (line: number) => number;
  readonly fromClient: (line: number) => number;
};

type Placed = { readonly breakpoints: DebugProtocol.Breakpoint[] };

/** A breakpoint as it is now, or why it can't be set; the line counts as the client counts. */
type Made = { readonly line?: number; readonly made: Breakpoint | string };

/** A requested breakpoint. It is made again when parts of the domain move or the rollout gets another domain. */
type Kept = { readonly id: number; readonly make: () => Made; shown: DebugProtocol.Breakpoint };

/**
 * Answers the requests about breakpoints. Every answer is a list, also to a request without arguments: VS Code gives
 * the whole session up over an empty answer.
 */
export class BreakpointRequests {
  readonly breakpoints = new Breakpoints();
  /** Breakpoints can be placed from when the domain is read. */
  #places: PresentPlaces | null = null;
  /** Whether the client's JavaScript debugger stops inside the domain's code. */
  stepsInside = false;
  /** Files with breakpoints that are its own. */
  readonly #inside = new Map<string, number>();
  /** Returns what is unknown about reads; null where nothing is. */
  unseenReads: () => UnseenReads | null = () => null;
  readonly #lines: ClientLines;
  readonly #onChanged: (breakpoint: DebugProtocol.Breakpoint) => void;
  /** By their kinds. */
  readonly #kept = new Map<string, readonly Kept[]>();

  /** @param onChanged receives a breakpoint that is no longer what the client received */
  constructor(lines: ClientLines, onChanged: (breakpoint: DebugProtocol.Breakpoint) => void) {
    this.#lines = lines;
    this.#onChanged = onChanged;
  }

  get #domain(): LoadedDomain | null {
    return this.#places?.domain ?? null;
  }

  /** Takes the domain that the rollout is played on. */
  open(places: PresentPlaces): void {
    this.#places = places;
    places.onMoved = () => this.#placeAgain();
    this.breakpoints.inWords = inWordsOf(places.domain);
    this.#placeAgain();
  }

  /** Places every breakpoint on the rule, tool or task that it was on. */
  #placeAgain(): void {
    for (const kept of [...this.#kept.values()].flat()) {
      const made = kept.make();
      const shown = this.#shown(kept.id, made);
      this.breakpoints.change(kept.id, typeof made.made === 'string' ? null : made.made);
      if (isDeepStrictEqual(shown, kept.shown)) continue;
      kept.shown = shown;
      this.#onChanged(shown);
    }
  }

  set(args: DebugProtocol.SetBreakpointsArguments): Placed {
    const path = args.source?.path ?? '';
    const asked = args.breakpoints ?? [];
    this.#places?.refresh(path);
    const isInside = (each: DebugProtocol.SourceBreakpoint) => this.#isInside(path, each);
    this.#inside.set(path, asked.filter(isInside).length);
    return this.#placed(
      path,
      asked.map((each) => (isInside(each) ? each : this.#source(path, each))),
    );
  }

  /**
   * Returns what makes a breakpoint of a line: first of what the line has, then of what that was, wherever it moves.
   */
  #source(path: string, asked: DebugProtocol.SourceBreakpoint): () => Made {
    let target: Target | null = null;
    let line = this.#lines.fromClient(asked.line);
    return () => {
      const domain = this.#domain;
      const at = !domain
        ? { line, problem: 'no domain is open' }
        : target
          ? placeAgain(domain, target, line)
          : place(domain, path, line);
      if ('target' in at) target = at.target;
      line = at.line;
      return { line: this.#lines.toClient(line), made: made('target' in at ? at.target : at.problem, asked, domain) };
    };
  }

  /** Whether a breakpoint is in code that only a JavaScript debugger stops in. */
  get hasInside(): boolean {
    return [...this.#inside.values()].some((count) => count > 0);
  }

  #isInside(path: string, { line }: DebugProtocol.SourceBreakpoint): boolean {
    const domain = this.#domain;
    return this.stepsInside && domain !== null && isInsideCode(domain, path, this.#lines.fromClient(line));
  }

  locations(args: DebugProtocol.BreakpointLocationsArguments): { breakpoints: DebugProtocol.BreakpointLocation[] } {
    const { line = 1, endLine = line } = args;
    const path = args.source?.path ?? '';
    this.#places?.refresh(path);
    const all = this.#domain ? lines(this.#domain, path) : [];
    const shown = all.map((each) => this.#lines.toClient(each));
    return { breakpoints: shown.filter((each) => each >= line && each <= endLine).map((each) => ({ line: each })) };
  }

  setFunctions(args: DebugProtocol.SetFunctionBreakpointsArguments): Placed {
    return this.#placed(
      'functions',
      (args.breakpoints ?? []).map((asked) => () => ({
        made: made(parseTarget(this.#domain, String(asked.name ?? '')), asked, this.#domain),
      })),
    );
  }

  /** Returns the names that a function breakpoint can have, by its kind. */
  names(): Readonly<Record<string, readonly string[]>> {
    return this.#domain === null ? {} : targetNames(this.#domain);
  }

  setData(args: DebugProtocol.SetDataBreakpointsArguments): Placed {
    return this.#placed(
      'data',
      (args.breakpoints ?? []).map((asked) => () => ({
        made: made(parseDataId(asked.dataId, asked.accessType), asked, this.#domain),
      })),
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

  /** Whether a value can be watched: what is at a place of the database, or why something is at none. */
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

  /**
   * Returns what a breakpoint on a value can't see, or that the value is not there yet. One that can see nothing so far
   * is set all the same: a fork may tell.
   */
  #missed(target: Target): Partial<DebugProtocol.Breakpoint> {
    if (target.type !== 'data') return {};
    const unseen = target.access === 'write' ? null : this.unseenReads();
    const notes = [this.#domain && missingValueNote(this.#domain, target), unseen?.message].filter(Boolean);
    const isBlind = target.access === 'read' && unseen?.isAll === true;
    return { ...(notes.length > 0 ? { message: notes.join('; ') } : {}), ...(isBlind ? { verified: false } : {}) };
  }

  /**
   * Sets the breakpoints of a kind; one that can't be made says why.
   * @param asked what makes each; one in code that the JavaScript debugger stops in is left to that debugger
   */
  #placed(kind: string, asked: readonly ((() => Made) | DebugProtocol.SourceBreakpoint)[]): Placed {
    const all = asked.map((make) => (typeof make === 'function' ? { make, ...make() } : { line: make.line }));
    const ids = this.breakpoints.set(
      kind,
      all.map((each) => ('made' in each && typeof each.made !== 'string' ? each.made : null)),
    );
    const shown = all.map((each, index): Kept | DebugProtocol.Breakpoint => {
      const id = ids[index] ?? 0;
      return 'make' in each ? { id, make: each.make, shown: this.#shown(id, each) } : { verified: true, ...each };
    });
    const isKept = (each: Kept | DebugProtocol.Breakpoint): each is Kept => 'make' in each;
    this.#kept.set(kind, shown.filter(isKept));
    return { breakpoints: shown.map((each) => (isKept(each) ? each.shown : each)) };
  }

  #shown(id: number, { line, made: each }: Made): DebugProtocol.Breakpoint {
    const at = line === undefined ? {} : { line };
    if (typeof each === 'string') return { verified: false, id, ...at, message: each };
    return { verified: true, id, ...at, ...this.#missed(each.target) };
  }
}

/** A breakpoint on a target, or why there is none. */
function made(target: Target | string, asked: WrittenCondition, domain: LoadedDomain | null): Breakpoint | string {
  if (typeof target === 'string') return target;
  const condition = parseStopCondition(asked, domain);
  return typeof condition === 'string' ? condition : { target, condition };
}

/**
 * Whether a line (from 1) of a file is code that runs inside a call: the body of a tool, or what tools share. The
 * lines from where a tool is declared to where its `run` begins are the tool as a whole: a debugger stops there once,
 * when the file is loaded.
 */
function isInsideCode({ folder, locations, parts }: LoadedDomain, file: string, line: number): boolean {
  const path = resolve(file);
  if (!/\.[mc]?[jt]s$/.test(path) || !path.startsWith(resolve(folder) + sep)) return false;
  const tools = [...locations.tools.values()].filter((at) => resolve(at.file) === path);
  const declared = Math.max(0, ...tools.map((at) => at.line).filter((each) => each <= line));
  const source = parts.scan.sources.find((each) => resolve(each.file) === path);
  if (declared === 0 || !source) return declared < line;
  const rows = blanked(source.text).split('\n');
  const run = rows.findIndex((row, index) => index + 1 > declared && /\brun\b\s*[:(]/.test(row)) + 1;
  return run > 0 && line > run;
}
