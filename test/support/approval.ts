import { approvalHash, approve } from '../../src/engine/shell/approvals/approvals.ts';
import { effectsOfAgent, effectsOfDomain } from '../../src/engine/shell/approvals/effects.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { parseAgentFile } from '../../src/engine/shell/load/agentFile.ts';

/** Returns the hash that a command would print for a domain. */
export function hashOf(folder: string, isConfined?: boolean): string {
  return approvalHash(effectsOfDomain(loadDomain(folder, { soundness: false }), isConfined));
}

/** Approves the effects of a domain outside of the sandbox, for this process and those that it starts. */
export function approveDomain(folder: string): string {
  approve([hashOf(folder)], process.env);
  return folder;
}

/** Approves the programs and addresses of an agent's file, for this process and those that it starts. */
export function approveAgent(file: string): string {
  const seat = parseAgentFile(file, (model) => ({ type: 'openai', model, baseUrl: '', keyName: null }));
  if ('file' in seat) approve([approvalHash(effectsOfAgent(seat))], process.env);
  return file;
}
