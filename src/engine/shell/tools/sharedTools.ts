import { resolve } from 'node:path';
import type { DomainFile, HostedEnvironment } from '../../core/domain/domain.ts';
import type { Task } from '../../core/domain/task.ts';
import { baseTask } from '../../core/domain/taskVariant.ts';
import type { Tool } from '../../core/domain/tool.ts';

import { throwUnlessApproved } from '../approvals/approvals.ts';
import { describeEffects, type Effect, effectsOfDomain, hashOfEffect, taskEffects } from '../approvals/effects.ts';
import type { Location } from '../files/diagnostic.ts';
import { Fault } from '../files/fault.ts';
import { SecretSnapshots } from '../mcp/secretSnapshots.ts';
import { unlessAborted } from '../processes/unlessAborted.ts';
import { keyOf } from '../source/items.ts';
import { BridgeProcess } from './bridgeProcess.ts';
import { providersFor } from './providers.ts';
import { ToolCalls } from './toolCalls.ts';
import type { ToolDomain, ToolProvider } from './toolProvider.ts';
import type { ToolSource } from './toolSource.ts';

/** The state of tools outside the worker that a domain's rollouts share: Python processes and rate limits. */
export class SharedTools {
  readonly calls = new ToolCalls();
  readonly secretSnapshots = new SecretSnapshots();
  readonly #providers: readonly ToolProvider[];
  readonly #domain: ToolDomain;
  /** Hashes of what may be started or reached. */
  readonly #approved: ReadonlySet<string>;
  readonly #environments: ReadonlyMap<string, BridgeProcess>;
  /** Resolves when no rollout uses the servers whose state is shared. */
  #free: Promise<unknown> = Promise.resolve();
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
    const { python, secretSnapshots } = this;
    const environment = (name: string) => this.environment(name);
    const onHosted = (hosted: HostedEnvironment) => {
      this.hosted = hosted;
    };
    this.#providers = providersFor({ domain, log, secretSnapshots, python, environment, onHosted });
  }

  get file(): DomainFile {
    return this.#domain.file;
  }

  /**
   * Returns every tool outside the worker whose description is not in a file: Python, environments, MCP servers.
   * @param signal ends the start of an MCP server
   */
  async describe(signal?: AbortSignal): Promise<readonly Tool[]> {
    return (await Promise.all(this.#providers.map(({ describe }) => describe(signal)))).flat();
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
   * Starts a fresh instance of every source that keeps state outside, for one rollout.
   * @param signal ends the start: what was started until then is closed before the promise rejects
   * @param only the source that is started, without the others
   */
  async open(
    session: string,
    { now, setUp }: Pick<Task, 'now' | 'setUp'>,
    signal: AbortSignal,
    only?: string,
  ): Promise<ReadonlyMap<string, ToolSource>> {
    const isWanted = (name: string) => name === (only ?? name);
    const sources = new Map<string, ToolSource>();
    const add = (name: string, source: ToolSource) => sources.set(name, source);
    try {
      for (const provider of this.#providers.toReversed())
        await provider.open?.({ session, now, setUp, signal, isWanted, add });
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
