import { join, relative } from 'node:path';
import type { Tool } from '../../core/domain/tool.ts';
import { capitalized } from '../../core/text/capitalized.ts';
import { type Approval, approvalFor } from '../approvals/approvals.ts';
import { effectsOfDomain, isOfCode } from '../approvals/effects.ts';
import { type Diagnostic, errorsOf, sortDiagnostics, startOf } from '../files/diagnostic.ts';
import { hasExternalTools, type LoadedDomain } from '../load/loadedDomain.ts';
import type { Overlay } from '../source/source.ts';
import { syntaxFailures } from '../workers/domainModules.ts';
import { completeDomain } from './completeDomain.ts';
import { loadDomain } from './loadDomain.ts';

export type CheckOptions = {
  readonly folder: string;
  /** Texts that replace files, by absolute path: of an editor, or of drafts that are not written yet. */
  readonly overlay?: Overlay;
  /** Runs the domain's code in a worker and describes its tools; absent where no code may run. */
  readonly describeTools?: (folder: string) => Promise<readonly Tool[]>;
  /** Starts what has the domain's other tools and describes them; absent where nothing may be started. */
  readonly describeExternal?: (loaded: LoadedDomain) => Promise<readonly Tool[]>;
};

export type CheckResult = {
  readonly loaded: LoadedDomain;
  readonly diagnostics: readonly Diagnostic[];
  readonly ok: boolean;
  /** Whether something was skipped because no one approved it yet. */
  readonly isUnapproved: boolean;
  /** Whether the tools of the code were described: it ran and could be loaded. */
  readonly isDescribed: boolean;
};

/** Everything that can be found wrong with a domain before a rollout. Starts nothing that needs approval and has none. */
export async function check(options: CheckOptions): Promise<CheckResult> {
  const { folder, overlay, describeTools, describeExternal } = options;
  const loaded = loadDomain(folder, overlay ? { overlay } : {});
  if (!loaded.parts.namesFiles) return resultOf(loaded);
  // One finding reports the missing file. Without it, every name of a tool is unknown.
  if (loaded.diagnostics.some(({ code }) => code === 'tool/file-missing')) return resultOf(withoutToolNames(loaded));
  const hasCode = loaded.toolsFile !== null;
  const hasExternal = hasExternalTools(loaded);
  if (!describeTools || (hasExternal && !describeExternal && !hasCode)) return withoutCode(loaded);
  const effects = effectsOfDomain(loaded);
  const approval = approvalFor(effects);
  const skipped = approval ? [notApproved(loaded, approval)] : [];
  if (approval && effects.effects.some(isOfCode)) return withoutCode(loaded, skipped, true);
  try {
    const codeTools = hasCode ? await describeTools(loaded.folder) : [];
    const externalTools = hasExternal ? ((approval ? null : await describeExternal?.(loaded)) ?? null) : [];
    const complete = completeDomain(loaded, codeTools, externalTools);
    return { ...resultOf(complete, skipped, approval !== null), isDescribed: true };
  } catch (error) {
    return resultOf(withoutToolNames(loaded), [...skipped, loadFailure(loaded, error)], approval !== null);
  }
}

/** The result where nothing of the domain's code may run: its TypeScript is only parsed. */
async function withoutCode(
  loaded: LoadedDomain,
  extra: readonly Diagnostic[] = [],
  isUnapproved = false,
): Promise<CheckResult> {
  const sources = [...loaded.parts.texts.values()].map(({ source }) => source);
  const failures = await syntaxFailures(loaded.folder, sources);
  if (failures.length === 0) return resultOf(loaded, extra, isUnapproved);
  const found = failures.map((failure) => loadFailure(loaded, { failure }));
  return resultOf(withoutToolNames(loaded), [...extra, ...found], isUnapproved);
}

/** Leaves out which tools are missing, since their names come from the code that failed. */
function withoutToolNames(loaded: LoadedDomain): LoadedDomain {
  return { ...loaded, diagnostics: loaded.diagnostics.filter(({ code }) => !code.endsWith('/unknown-tool')) };
}

function resultOf(loaded: LoadedDomain, extra: readonly Diagnostic[] = [], isUnapproved = false): CheckResult {
  const diagnostics = sortDiagnostics([...loaded.diagnostics, ...extra]);
  const ok = errorsOf(diagnostics).length === 0;
  return { loaded: { ...loaded, diagnostics }, diagnostics, ok, isUnapproved, isDescribed: false };
}

function notApproved({ parts }: LoadedDomain, { effects, hash, sandbox }: Approval): Diagnostic {
  const skipped =
    sandbox === null
      ? 'What this domain does outside of the sandbox is not approved, so it was not started'
      : `${sandbox} Without a sandbox, this needs your approval. It was not started, so the tools were not checked`;
  return {
    ...startOf(parts.file.file),
    code: 'domain/not-approved',
    severity: 'warning',
    message: `${skipped}: ${effects.join('; ')}.`,
    hint: `To approve it, choose "Rehearsal: Approve Domain…" in the editor, or repeat the command with this option: --approve ${hash}`,
  };
}

/** The place of a failure is what it says itself, else the first line of its stack that lies in the domain. */
function loadFailure({ folder, toolsFile, parts }: LoadedDomain, error: unknown): Diagnostic {
  const { message, code, file, line, failure } = error as Partial<Failing> & { readonly failure?: Failing };
  const fromStack = error instanceof Error ? placeInStack(error.stack ?? '', folder) : undefined;
  const at = failure ?? { file, line };
  const place =
    at.file !== undefined
      ? { file: at.file, line: at.line ?? 1 }
      : (fromStack ?? { file: toolsFile ?? parts.file.file, line: 1 });
  const said = withoutPlace(failure?.message ?? message ?? String(error), relative(folder, place.file));
  return {
    file: place.file,
    line: place.line,
    column: said.column,
    endLine: place.line,
    endColumn: said.column,
    code: failure?.code ?? (typeof code === 'string' && code.includes('/') ? code : 'tool/load-failed'),
    severity: 'error',
    message: said.text,
    hint: 'The tools of this domain could not be read; correct this first.',
  };
}

/** The sentence without the place that it begins with, which the finding has. */
function withoutPlace(message: string, file: string): { readonly text: string; readonly column: number } {
  const [place = '', column] = message.startsWith(`${file}:`)
    ? (/^(?::\d+)?(?::(\d+))?: /.exec(message.slice(file.length)) ?? [])
    : [];
  const rest = place === '' ? message : message.slice(file.length + place.length);
  // Other sentences begin with a name of the code, which stays as it is.
  const text = rest.replace(/^(?:an? [\w ]+ is not erasable|can't import)/, capitalized);
  return { text: /[.!?]$/.test(text) ? text : `${text}.`, column: Number(column ?? 1) };
}

type Failing = { readonly code: string; readonly message: string; readonly file?: string; readonly line?: number };

function placeInStack(stack: string, folder: string): { readonly file: string; readonly line: number } | undefined {
  for (const [, path = '', line = '1'] of stack.matchAll(
    /(?:file:\/\/)?(\/[^\s():]+|[A-Za-z]:[\\/][^\s():]+):(\d+)/g,
  )) {
    if (path.startsWith(join(folder, '/'))) return { file: path, line: Number(line) };
  }
  return undefined;
}
