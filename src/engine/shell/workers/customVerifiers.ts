import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type CodeTool, defineTools, isCodeVerifier, type VerifierResult } from '../../authoring.ts';
import type { Tool } from '../../core/domain/tool.ts';
import { callsOf } from '../../core/rules/calls.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { CustomResult } from '../../core/verifiers/verify.ts';
import { readView } from '../../core/world/database.ts';
import { Fault } from '../files/fault.ts';
import type { ToolContext, ToolOutcome } from '../rollout/ports.ts';
import type { CustomEvidence } from '../rollout/verification.ts';
import { importDomain } from './domainModules.ts';

/** The file of a domain's own verifiers, when it is there. */
const verifiersFile = 'verifiers.ts';
const nameFor = (name: string) => `verifier:${name}`;
const input = z.looseObject({});

/**
 * The verifiers that a domain's verifiers.ts exports, as read tools that no one is shown: they run as tools do, guarded
 * and on views that can't be written.
 */
export async function verifierTools(folder: string): Promise<ReadonlyMap<string, CodeTool>> {
  const file = join(folder, verifiersFile);
  if (!existsSync(file)) return new Map();
  const { tool } = defineTools();
  const exported = Object.entries(await importDomain(folder, file));
  return new Map(
    exported.flatMap(([name, verifier]): [string, CodeTool][] => {
      if (!isCodeVerifier(verifier)) return [];
      const run: CodeTool['run'] = async ({ calls, start, startUser }, { db, userDb, now }) =>
        resultOf(await verifier.verify({ db, userDb, now, calls, start, startUser } as never));
      return [[nameFor(name), tool({ description: verifier.description, effect: 'read', input, run })]];
    }),
  );
}

function resultOf(result: boolean | VerifierResult): VerifierResult {
  if (typeof result === 'boolean') return { held: result, detail: result ? 'it holds' : 'it does not hold' };
  return { ...result, detail: result.detail };
}

/** A verifier as the worker calls it, and what it is given. */
export function verifierCall(
  name: string,
  { start, state }: CustomEvidence,
  context: Pick<ToolContext, 'random' | 'step'>,
) {
  const tool: Tool = {
    name: nameFor(name),
    description: '',
    parameters: {},
    effect: 'read',
    owner: 'agent',
    source: { type: 'code' },
    timeoutMs: 10_000,
    idempotent: true,
  };
  const values = {
    calls: callsOf(state.messages),
    start: readView(start.agent),
    startUser: readView(start.user),
  } as unknown as JsonObject;
  return { tool, values, context: { ...context, world: state.world, now: state.started.now } };
}

/** Returns what a verifier said. One that throws, or says something else, is a fault of the environment. */
export function customResult(name: string, { content, isError }: ToolOutcome): CustomResult {
  const said = isError ? null : (JSON.parse(content) as { held?: unknown; detail?: unknown; share?: unknown });
  if (typeof said?.held !== 'boolean') {
    const message = isError
      ? `the verifier ${name} of ${verifiersFile} threw: ${content.replace(/^Error: /, '')}`
      : `the verifier ${name} of ${verifiersFile} returned ${content.slice(0, 120)}; return true, false or { held, detail }`;
    throw new Fault({ who: 'environment', code: 'verifier/failed', message });
  }
  const { held, detail, share } = said;
  return {
    name,
    held,
    detail: typeof detail === 'string' ? detail : held ? 'it holds' : 'it does not hold',
    ...(typeof share === 'number' ? { share: Math.min(1, Math.max(0, share)) } : {}),
  };
}
