import type { Domain, DomainFile } from '../../core/domain/domain.ts';
import type { Persona } from '../../core/domain/persona.ts';
import type { Phrases } from '../../core/domain/phrases.ts';
import type { ParsedPolicy } from '../../core/domain/policy.ts';
import type { Rule } from '../../core/domain/rule.ts';
import type { SimulatedTool } from '../../core/domain/simulatedTool.ts';
import { sourceKeys } from '../../core/domain/sources/sourceKind.ts';
import type { Task } from '../../core/domain/task.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Diagnostic, Location } from '../files/diagnostic.ts';
import type { Broken, Placed } from '../source/items.ts';
import type { Scan } from '../source/scan.ts';
import type { Source } from '../source/source.ts';

export type TaskLocation = Location & {
  /** Of the elements of these lists of the task, in order; undefined for one that the file no longer has. */
  readonly actions: readonly (Location | undefined)[];
  readonly assertions: readonly (Location | undefined)[];
  readonly communicate: readonly (Location | undefined)[];
  readonly script: readonly (Location | undefined)[];
};

/** The locations of the parts of a domain, by their ids: for breakpoints, definitions and links. */
export type Locations = {
  readonly domain: Location;
  readonly tasks: ReadonlyMap<string, TaskLocation>;
  readonly personas: ReadonlyMap<string, Location>;
  /** Tools in files of the domain, by name. */
  readonly tools: ReadonlyMap<string, Location>;
  readonly mcpServers: ReadonlyMap<string, Location>;
  /** Rules of the policy, by id. */
  readonly policyRules: ReadonlyMap<string, Location>;
  /** Machine checks, in the order of `domain.rules`; undefined for one that the file no longer has. */
  readonly rules: readonly (Location | undefined)[];
};

/** The kinds of files in a domain. */
export type TextKind =
  | 'domain'
  | 'policy'
  | 'rules'
  | 'phrases'
  | 'persona'
  | 'task'
  | 'tool'
  | 'code'
  | 'python'
  | 'verifiers'
  | 'database'
  | 'userDatabase';

/** A file of a domain as it was read, also one with faults. */
export type DomainText = { readonly kind: TextKind; readonly source: Source };

/** The parts of a domain with their places in the files, for checks across files. */
export type Parts = {
  readonly file: Placed<DomainFile>;
  readonly policyFile: string;
  /** The policy as it is in its file. */
  readonly policySource: Source | null;
  readonly policy: ParsedPolicy;
  readonly rules: readonly Placed<Rule>[];
  readonly phrases: Phrases;
  readonly personas: readonly Placed<Persona>[];
  readonly tasks: readonly Placed<Task>[];
  readonly simulated: readonly Placed<SimulatedTool>[];
  /** Tools of every kind that are in files of the domain. */
  readonly scan: Scan;
  /** The export of `sync` in tools.ts, which keeps both sides of the world in step; null without that export. */
  readonly sync: Location | null;
  /** Names that verifiers.ts exports. */
  readonly verifiers: readonly string[];
  readonly databases: { readonly agent: Source | null; readonly user: Source | null };
  /** Whether domain.yaml names the files; otherwise what is missing in them may be elsewhere. */
  readonly namesFiles: boolean;
  /** The places of keys of domain.yaml that could not be read. */
  readonly lost: readonly Location[];
  /** The readable part of tasks and rules that could not be read as a whole. */
  readonly broken: { readonly tasks: readonly Broken<Task>[]; readonly rules: readonly Broken<Rule>[] };
  /** Names of simulated tools in files that could not be read. */
  readonly unreadTools: readonly string[];
  /** Every file that was read, by its path. */
  readonly texts: ReadonlyMap<string, DomainText>;
  /** Findings that concern one file alone. */
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * A domain as it was read from its folder. It is fit to run when no diagnostic is an error. Before its tools are described
 * (`completeDomain`), `domain.tools` is empty.
 */
export type LoadedDomain = {
  readonly folder: string;
  /** Shortcuts to parts of `domain`. */
  readonly file: DomainFile;
  readonly tasks: readonly Task[];
  readonly domain: Domain;
  /** The base databases, before a task's own state is laid over them. */
  readonly world: { readonly agent: JsonObject; readonly user: JsonObject };
  readonly locations: Locations;
  readonly diagnostics: readonly Diagnostic[];
  /** Tools of servers that no seat is offered, with the reasons; known once the tools are described. */
  readonly leftOut?: readonly Tool[];
  /** Names of the tools in files of the domain, found without running code. */
  readonly toolNames: readonly string[];
  /** The file of the code tools, or null when the domain has none. */
  readonly toolsFile: string | null;
  /** The file of the tools in Python, or null when the domain has none. */
  readonly pythonFile: string | null;
  readonly parts: Parts;
};

/** Whether tools come from servers or environments, so that only starting those tells their names. */
export function hasSources(file: DomainFile): boolean {
  return sourceKeys.some((key) => Object.keys(file[key]).length > 0);
}

/** Whether there are tools outside the worker: in Python, of servers, of environments. */
export function hasExternalTools({ file, pythonFile }: Pick<LoadedDomain, 'file' | 'pythonFile'>): boolean {
  return pythonFile !== null || hasSources(file);
}
