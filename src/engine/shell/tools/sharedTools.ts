import { resolve } from 'node:path';
import { type DomainFile, type HostedEnvironment, hostedName, type McpServer } from '../../core/domain/domain.ts';
import type { Task } from '../../core/domain/task.ts';
import { baseTask } from '../../core/domain/taskVariant.ts';
import { isLeftOut, type Tool } from '../../core/domain/tool.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { throwUnlessApproved } from '../approvals/approvals.ts';
import { describeEffects, type Effect, effectsOfDomain, hashOfEffect, taskEffects } from '../approvals/effects.ts';
import type { Location } from '../files/diagnostic.ts';
import { Fault } from '../files/fault.ts';
import { shortKeysIn } from '../keys/placeholders.ts';
import { comparableSchema } from '../load/comparableSchema.ts';
import type { Locations, Parts } from '../load/loadedDomain.ts';
import { SecretSnapshots } from '../mcp/secretSnapshots.ts';
import { unlessAborted } from '../processes/unlessAborted.ts';
import { keyOf } from '../source/items.ts';
import { BridgeProcess } from './bridgeProcess.ts';
import { EnvironmentSource } from './environmentSource.ts';
import { pythonTool } from './pythonTool.ts';
import { ToolCalls } from './toolCalls.ts';
import type { ToolSource } from './toolSource.ts';

/** The parts of a domain that its tools outside the worker need. */
export type ToolDomain = {
  readonly folder: string;
  readonly file: DomainFile;
  readonly world: { readonly agent: JsonObject; readonly user: JsonObject };
  /** The file of the tools in Python, or null when the domain has none. */
  readonly pythonFile: string | null;
  readonly locations: Pick<Locations, 'mcpServers'>;
  readonly parts: Pick<Parts, 'tasks'>;
};

/** The state of tools outside the worker that a domain's rollouts share: Python processes and rate limits. */
export class SharedTools {
  readonly calls = new ToolCalls();
  readonly secretSnapshots = new SecretSnapshots();
  readonly #log: (text: string) => void;
  readonly #domain: ToolDomain;
  /** Hashes of what may be started or reached. */
  readonly #approved: ReadonlySet<string>;
  readonly #environments: ReadonlyMap<string, BridgeProcess>;
  /** Resolves when no rollout uses the servers whose state is shared. */
  #free: Promise<unknown> = Promise.resolve();
  /** The tools of each server as it described them when the run began. The agent is shown these. */
  readonly #described = new Map<string, readonly Tool[]>();
  /** The process of the tools in Python, or null when the domain has none. */
  readonly python: BridgeProcess | null;
  /** The description of the environment that works on the domain's database; null before it arrives or without one. */
  hosted: HostedEnvironment | null = null;

  /** Throws an `ApprovalQuestion` for a domain whose effects are not approved: nothing of it is started then. */
  constructor(domain: ToolDomain, log: (text: string) => void) {
    const effects = effectsOfDomain(domain);
    throwUnlessApproved(effects);
    this.#approved = new Set(effects.effects.map(hashOfEffect));
    this.#domain = domain;
    this.#log = log;
    const { folder, file, world, pythonFile } = domain;
    const interpreter = (given: string | undefined) => given?.replaceAll('${domainFolder}', folder);
    const common = { folder, log, network: file.network };
    const hint = (key: string) => `Install it, or name one with ${key} in domain.yaml`;
    this.python = pythonFile
      ? new BridgeProcess({
          ...common,
          label: file.pythonTools,
          kind: 'tools',
          file: pythonFile,
          base: world,
          python: interpreter(file.python),
          pythonHint: hint('python:'),
        })
      : null;
    this.#environments = new Map(
      Object.entries(file.environments).map(([name, declared]) => {
        const settings = {
          ...common,
          label: `environment "${name}"`,
          file: resolve(folder, declared.file ?? 'environment.py'),
          python: interpreter(declared.python ?? file.python),
          pythonHint: hint(`environments.${name}.python:`),
        };
        if (declared.adapter === undefined) return [name, new BridgeProcess({ ...settings, kind: 'environment' })];
        const adapter = { name: declared.adapter, settings: declared.settings };
        return [name, new BridgeProcess({ ...settings, kind: 'database', adapter, base: world })];
      }),
    );
  }

  get file(): DomainFile {
    return this.#domain.file;
  }

  /**
   * Returns every tool outside the worker whose description is not in a file: Python, environments, MCP servers.
   * @param signal ends the start of an MCP server
   */
  async describe(signal?: AbortSignal): Promise<readonly Tool[]> {
    const { file } = this.#domain;
    const lists = await Promise.all([
      this.#pythonTools(),
      ...Object.keys(file.environments).map((name) => this.#environmentTools(name)),
      ...Object.entries(file.mcpServers).map(async ([name, server]) => {
        const started = await this.#startServer(name, server, file.now, { signal });
        await started.close();
        this.#warnOfShortKeys(name, server);
        this.#described.set(name, started.tools);
        return started.tools;
      }),
    ]);
    return lists.flat();
  }

  /**
   * Waits until no other rollout uses a server whose state is shared. Returns what ends the turn. Rejects when the signal
   * aborts.
   */
  async takeTurn(signal: AbortSignal): Promise<() => void> {
    const isShared = Object.values(this.#domain.file.mcpServers).some(({ sharedState }) => sharedState);
    if (!isShared) return () => undefined;
    const before = this.#free;
    const turn = Promise.withResolvers<void>();
    this.#free = before.then(() => turn.promise);
    try {
      await unlessAborted(before, signal);
    } catch (error) {
      turn.resolve();
      throw error;
    }
    return turn.resolve;
  }

  /**
   * A fresh instance of every source that keeps state outside, for one rollout. A server that the task gives files or arguments
   * is not started: `setUp` does that.
   * @param signal ends the start: what was started until then is closed before the promise rejects
   * @param only the source that is started, without the others
   */
  async open(
    session: string,
    { now, setUp = {} }: Pick<Task, 'now' | 'setUp'>,
    signal: AbortSignal,
    only?: string,
  ): Promise<ReadonlyMap<string, ToolSource>> {
    const { file } = this.#domain;
    const isWanted = (name: string) => name === (only ?? name);
    const sources = new Map<string, ToolSource>();
    try {
      for (const [name, server] of Object.entries(file.mcpServers)) {
        if (!isWanted(name)) continue;
        const isSetUp = server.type !== 'http' && restarts(setUp[name]);
        const source = await this.#startServer(name, server, now ?? file.now, { signal, isSetUp });
        sources.set(name, source);
        if (!isSetUp) this.#requireSame(name, source.tools);
      }
      for (const [name, declared] of Object.entries(file.environments)) {
        if (declared.state === 'database' || !isWanted(name)) continue;
        const tools = await this.#environmentTools(name);
        const source = new EnvironmentSource(name, declared, this.environment(name), session, tools);
        signal.throwIfAborted();
        await source.reset();
        sources.set(name, source);
      }
    } catch (error) {
      await Promise.allSettled([...sources.values()].map((source) => source.close()));
      throw error;
    }
    return sources;
  }

  close(): void {
    this.python?.close();
    for (const environment of this.#environments.values()) environment.close();
  }

  async #startServer(
    name: string,
    server: McpServer,
    now: string,
    start: { readonly signal: AbortSignal | undefined; readonly isSetUp?: boolean },
  ): Promise<ToolSource> {
    const { folder, locations } = this.#domain;
    // The client is loaded only for domains that have servers: it would double the time to the first stop.
    const { startMcpServer } = await import('./mcp.ts');
    const at = locations.mcpServers.get(name);
    const { secretSnapshots } = this;
    return startMcpServer(name, server, folder, { at, now, ...start, log: this.#log, secretSnapshots });
  }

  /** Short values are not replaced: they are often words, such as `none` or `test`. */
  #warnOfShortKeys(name: string, server: McpServer): void {
    for (const variable of shortKeysIn(JSON.stringify(server), process.env))
      this.#log(
        `MCP server "${name}": the value of ${variable} has fewer than 8 characters, so results and recordings may show it. Use a longer one if it is a real key`,
      );
  }

  #requireSame(name: string, tools: readonly Tool[]): void {
    // A tool that is left out may have the name of another one.
    const usable = tools.filter((tool) => !isLeftOut(tool));
    const described = this.#described.get(name)?.filter((tool) => !isLeftOut(tool)) ?? [];
    const nowOf = ({ name: own }: Tool) => usable.find((tool) => tool.name === own);
    const changed = described.find(
      (tool) => comparableSchema(nowOf(tool)?.parameters ?? null) !== comparableSchema(tool.parameters),
    );
    if (!changed) return;
    const problem = nowOf(changed)
      ? `its tool ${changed.name} takes other arguments than when the run began`
      : `it no longer lists its tool ${changed.name}`;
    const { file, line } = this.#domain.locations.mcpServers.get(name) ?? {};
    throw new Fault({
      who: 'environment',
      code: 'mcp/changed',
      message: `MCP server "${name}": ${problem}, and the agent is shown the tools of the start. Run the command again`,
      ...(file ? { file } : {}),
      ...(line ? { line } : {}),
    });
  }

  async #pythonTools(): Promise<readonly Tool[]> {
    const described = (await this.python?.describe()) ?? [];
    return described.map((each) => pythonTool(each, { type: 'python' }, this.#domain.file.toolTimeoutMs));
  }

  async #environmentTools(name: string): Promise<readonly Tool[]> {
    const { timeoutMs = 0, tools = {} } = this.#domain.file.environments[name] ?? {};
    const process = this.environment(name);
    const described = await process.describe();
    const isHosted = hostedName(this.#domain.file) === name;
    if (isHosted) this.hosted = { name, ...process.hosted };
    const type = isHosted ? ('python' as const) : ('environment' as const);
    return described.map((each) => pythonTool(each, { type, environment: name }, timeoutMs, tools[each.name]));
  }

  /** Throws a `Fault` where a task starts what was not part of the approval: its file may have changed since. */
  throwUnlessSetUpApproved(task: Task): void {
    const isNew = (effect: Effect) => !this.#approved.has(hashOfEffect(effect));
    const effects = taskEffects(this.#domain.file, [task]).filter(isNew);
    if (effects.length === 0) return;
    throw new Fault({
      who: 'environment',
      code: 'effects/not-approved',
      message: `the task's setUp was not approved with the domain: ${describeEffects({ effects }).join('; ')}. Start again to be asked about it`,
    });
  }

  /** Returns where a task has a key, such as `setUp` of a source; undefined for a task that no file has. */
  placeInTask(task: Task, ...keys: readonly string[]): Location | undefined {
    const placed = this.#domain.parts.tasks.find(({ value }) => value.id === baseTask(task.id));
    return placed && keyOf(placed, ...keys);
  }

  /** Returns where domain.yaml declares an MCP server; undefined for another source. */
  placeOfServer(name: string): Location | undefined {
    return this.#domain.locations.mcpServers.get(name);
  }

  /** The process of an environment of domain.yaml. */
  environment(name: string): BridgeProcess {
    const found = this.#environments.get(name);
    if (!found) throw new Error(`this domain has no environment ${name}`);
    return found;
  }
}

/** Returns whether the setup of a task starts a server with other files or arguments. */
const restarts = (setUp: unknown): boolean => {
  const { files, args } = (setUp ?? {}) as { readonly files?: unknown; readonly args?: unknown };
  return files !== undefined || args !== undefined;
};
