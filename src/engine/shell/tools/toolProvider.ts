import type { DomainFile, HostedEnvironment } from '../../core/domain/domain.ts';
import type { Task } from '../../core/domain/task.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Locations, Parts } from '../load/loadedDomain.ts';
import type { SecretSnapshots } from '../mcp/secretSnapshots.ts';
import type { BridgeProcess } from './bridgeProcess.ts';
import type { ToolSource } from './toolSource.ts';

/** The parts of a domain that its external tools need. */
export type ToolDomain = {
  readonly folder: string;
  readonly file: DomainFile;
  readonly world: { readonly agent: JsonObject; readonly user: JsonObject };
  /** The file of the tools in Python, or null when the domain has none. */
  readonly pythonFile: string | null;
  readonly locations: Pick<Locations, 'mcpServers'>;
  readonly parts: Pick<Parts, 'tasks'>;
};

/** The parts that the rollouts of a domain share, for the providers of its tools. */
export type ProviderContext = {
  readonly domain: ToolDomain;
  readonly log: (text: string) => void;
  readonly secretSnapshots: SecretSnapshots;
  /** The process of the tools in Python, or null when the domain has none. */
  readonly python: BridgeProcess | null;
  /** Returns the process of an environment of domain.yaml. */
  readonly environment: (name: string) => BridgeProcess;
  /** Takes the description of the environment that works on the domain's database. */
  readonly onHosted: (hosted: HostedEnvironment) => void;
};

/** The start of the sources of one rollout. */
type SourceStart = Pick<Task, 'now' | 'setUp'> & {
  /** Names the rollout to a process that serves many. */
  readonly session: string;
  readonly signal: AbortSignal;
  /** Returns whether the source of this name is started. */
  readonly isWanted: (name: string) => boolean;
  /** Takes a source as soon as it has started, so that it is closed if a later one fails. */
  readonly add: (name: string, source: ToolSource) => void;
};

/** Describes and starts the sources of one kind of external tools. */
export type ToolProvider = {
  /** Returns the tools as the agent is shown them. */
  readonly describe: (signal?: AbortSignal) => Promise<readonly Tool[]>;
  /** Starts a fresh instance of every source; absent for a kind without state outside of the engine's databases. */
  readonly open?: (start: SourceStart) => Promise<void>;
};
