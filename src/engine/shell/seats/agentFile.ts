import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { agentFileSchema } from '../../core/agentFile.ts';
import { type Diagnostic, formatDiagnostic } from '../diagnostic.ts';
import { describeIssues } from '../load/issue.ts';
import { readSource } from '../load/source.ts';
import { parseYaml } from '../load/yaml.ts';
import type { AgentSeat, ModelSeat } from './seatSpec.ts';

/**
 * Reads an agent's file (`*.agent.yaml`).
 * @param path as it was written
 * @param folders where a relative path is looked for, in this order
 * @returns the seat, or a sentence that says what is wrong, with its place
 */
export function readAgentFile(
  path: string,
  folders: readonly string[],
  parseModel: (text: string) => ModelSeat | string,
): AgentSeat | string {
  const candidates = folders.map((folder) => resolve(folder, path));
  const file = candidates.find((each) => existsSync(each));
  if (!file) return `there is no agent file ${candidates.join(' or ')}`;
  const read = readSource(file, 'agent');
  if ('problem' in read) return said([read.problem]);
  const { value, places, problem } = parseYaml(read.source, 'agent');
  if (problem) return said([problem]);
  const parsed = agentFileSchema.safeParse(value, { reportInput: true });
  if (!parsed.success)
    return said(describeIssues(parsed.error.issues, { kind: 'agent', schema: 'agent', places, prefix: [] }));
  const { name = basename(file).replace(/(?:\.agent)?\.ya?ml$/, ''), model: named, timeoutMs, ...rest } = parsed.data;
  const model = named === undefined ? null : parseModel(named);
  if (typeof model === 'string') {
    const at = places.value(['model']);
    return said([{ ...at, code: 'agent/model', severity: 'error', message: `The model can't be lent: ${model}.` }]);
  }
  const program =
    'command' in rest
      ? { type: 'process' as const, ...rest, cwd: resolve(dirname(file), rest.cwd) }
      : { type: 'service' as const, ...rest };
  return { type: 'agent', name, file, program, model, timeoutMs };
}

function said(problems: readonly Diagnostic[]): string {
  return problems.map((each) => formatDiagnostic(each)).join('\n');
}
