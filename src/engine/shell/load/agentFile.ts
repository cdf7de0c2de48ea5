import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { agentFileSchema } from '../../core/domain/agentFile.ts';
import type { AgentSeat, ModelSeat } from '../../core/domain/seatSpec.ts';
import { type Diagnostic, formatDiagnostic } from '../files/diagnostic.ts';
import { describeIssues } from '../source/issue.ts';
import { type Overlay, readSource } from '../source/source.ts';
import { parseYaml } from '../source/yaml.ts';

/** The model that a text names, or a sentence that says what is wrong with it. */
type ParseModel = (text: string) => ModelSeat | string;

const suffix = /\.agent\.ya?ml$/;

/**
 * Reads an agent's file (`*.agent.yaml`).
 * @param path as it was written
 * @param folders where a relative path is looked for, in this order
 * @returns the seat, or a sentence that says what is wrong, with its place
 */
export function readAgentFile(path: string, folders: readonly string[], parseModel: ParseModel): AgentSeat | string {
  const candidates = [...new Set(folders.map((folder) => resolve(folder, path)))];
  const file = candidates.find((each) => existsSync(each));
  if (!file) return `there is no agent file ${candidates.join(' or ')}`;
  const read = parseAgentFile(file, parseModel);
  return Array.isArray(read) ? read.map((each) => formatDiagnostic(each)).join('\n') : (read as AgentSeat);
}

/** The seat that an agent's file declares, or what is wrong with the file. */
export function parseAgentFile(
  file: string,
  parseModel: ParseModel,
  overlay?: Overlay,
): AgentSeat | readonly Diagnostic[] {
  const read = readSource(file, 'agent', overlay);
  if ('problem' in read) return [read.problem];
  const { value, places, problem } = parseYaml(read.source, 'agent');
  if (problem) return [problem];
  const parsed = agentFileSchema.safeParse(value, { reportInput: true });
  if (!parsed.success)
    return describeIssues(parsed.error.issues, { kind: 'agent', schema: 'agent', places, prefix: [] });
  const { name = basename(file).replace(/(?:\.agent)?\.ya?ml$/, ''), model: named, timeoutMs, ...rest } = parsed.data;
  const model = named === undefined ? null : parseModel(named);
  if (typeof model === 'string') {
    const message = `The model can't be lent: ${model}.`;
    const hint = 'Write openai:MODEL or openai:MODEL@BASE_URL, or leave it out.';
    return [{ ...places.value(['model']), code: 'agent/model', severity: 'error', message, hint }];
  }
  const missing = 'command' in rest ? missingScript(rest, dirname(file)) : null;
  if (missing) {
    const message = `The agent starts ${missing.path}, which does not exist.`;
    const hint = 'Correct the path. It is relative to `cwd`, by default the folder of this file.';
    return [{ ...places.value(['args', missing.at]), code: 'agent/no-program', severity: 'error', message, hint }];
  }
  const program =
    'command' in rest
      ? { type: 'process' as const, ...rest, cwd: resolve(dirname(file), rest.cwd) }
      : { type: 'service' as const, ...rest };
  return { type: 'agent', name, file, program, model, timeoutMs };
}

/** Programs whose first file is a script. */
const interpreters = /^(?:python[\d.]*|node|bun|deno|ruby|perl|bash|sh|zsh|tsx|uv)(?:\.exe)?$/i;
const script = /\.(?:py|[cm]?[jt]s|rb|pl|sh)$/i;

/** Returns the script that an interpreter is given if that file does not exist. */
function missingScript(
  { command, args, cwd }: { readonly command: string; readonly args: readonly string[]; readonly cwd: string },
  folder: string,
): { readonly at: number; readonly path: string } | null {
  if (!interpreters.test(basename(command))) return null;
  // The argument after `-m` is a module, and after other options a file of that option. Options such as `-u` take no
  // argument.
  const takesNext = (option = '') => option.startsWith('-') && !/^-[uEIsB]+$/.test(option);
  const at = args.findIndex((arg, index) => script.test(arg) && !arg.startsWith('-') && !takesNext(args[index - 1]));
  const named = args[at];
  if (named === undefined || named.includes('${')) return null;
  const path = resolve(folder, cwd, named);
  return existsSync(path) ? null : { at, path };
}

/**
 * Returns the entries of a folder. A folder that can't be listed has no agents to show; the code that needs its own
 * files reports the error.
 */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The agents' files of a domain: in its folder, and in the folders in it. */
export function agentFilesIn(folder: string, overlay?: Overlay): readonly string[] {
  const isLeftOut = (name: string) => name.startsWith('.') || name === 'node_modules';
  const folders = entriesOf(folder).flatMap((each) =>
    each.isDirectory() && !isLeftOut(each.name) ? [join(folder, each.name)] : [],
  );
  const named = [folder, ...folders].flatMap((each) =>
    entriesOf(each).flatMap(({ name }) => (suffix.test(name) ? [join(each, name)] : [])),
  );
  const unsaved = [...(overlay?.keys() ?? [])].filter(
    (file) => suffix.test(file) && [folder, ...folders].includes(dirname(file)),
  );
  return [...new Set([...named, ...unsaved])].toSorted();
}
