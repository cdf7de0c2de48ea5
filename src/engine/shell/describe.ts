import type { Tool } from '../core/domain/tool.ts';
import { throwUnlessApproved } from './approvals/approvals.ts';
import { type EffectDomain, effectsOfDomain, isOfCode } from './approvals/effects.ts';
import { completeDomain } from './domain/completeDomain.ts';
import { Fault } from './files/fault.ts';
import { hasExternalTools, type LoadedDomain } from './load/loadedDomain.ts';
import { SharedTools } from './tools/sharedTools.ts';
import type { ToolDomain } from './tools/toolProvider.ts';
import { startWorker } from './workers/workerProcess.ts';

/** A domain with its tools described, of whichever kind they are; whether it is sound is not looked at. */
export async function describedDomain(loaded: LoadedDomain): Promise<LoadedDomain> {
  const [code, external] = await Promise.all([
    loaded.toolsFile === null ? [] : describeCodeTools(loaded),
    hasExternalTools(loaded) ? describeExternalTools(loaded) : [],
  ]);
  return completeDomain(loaded, code, external, { soundness: false });
}

/**
 * The code tools of a domain, described by a worker that ends afterwards. Throws a `Fault` that names file and line, and one
 * when the signal aborts.
 * @param loadMs how long the domain's code may take to load, in ms
 */
export async function describeCodeTools(
  domain: EffectDomain,
  { signal, loadMs }: { readonly signal?: AbortSignal; readonly loadMs?: number } = {},
): Promise<readonly Tool[]> {
  const { folder, file } = domain;
  const effects = effectsOfDomain(domain);
  if (effects.effects.some(isOfCode)) throwUnlessApproved(effects);
  const { promise, resolve, reject } = Promise.withResolvers<readonly Tool[]>();
  const worker = startWorker(
    { folder, toolsFile: file.tools, timeoutMs: file.toolTimeoutMs, network: file.network, loadMs },
    {
      onMessage: (message) => {
        if (message.type === 'described') resolve(message.tools);
        else if (message.type === 'notDescribed') reject(new Fault(message.failure));
      },
      onDeath: ({ failure }) => reject(new Fault(failure)),
    },
  );
  const cancel = () => reject(new Fault({ who: 'infrastructure', code: 'cancelled', message: 'cancelled' }));
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return promise.finally(() => {
    signal?.removeEventListener('abort', cancel);
    worker.kill();
  });
}

/** Returns the tools outside the worker (Python, environments, MCP servers). Everything that is started for it ends again. */
export async function describeExternalTools(
  domain: ToolDomain,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<readonly Tool[]> {
  const tools = new SharedTools(domain, () => undefined);
  try {
    return await tools.describe(signal);
  } finally {
    tools.close();
  }
}
