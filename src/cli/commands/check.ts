import { relative } from 'node:path';
import { counted } from '../../engine/core/text/counted.ts';
import { approvedHash } from '../../engine/shell/approvals/approvals.ts';
import { effectsOfDomain } from '../../engine/shell/approvals/effects.ts';
import { type Audited, audit, withAudit } from '../../engine/shell/audit/audit.ts';
import { describeCodeTools, describeExternalTools } from '../../engine/shell/describe.ts';
import { check as checkDomain } from '../../engine/shell/domain/check.ts';
import { applyFixes, fixRounds } from '../../engine/shell/domain/fixes.ts';
import { type LoadedDomain, loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { soundnessOf } from '../../engine/shell/domain/soundness.ts';
import { type Diagnostic, formatDiagnostic, inOneLine, sortDiagnostics } from '../../engine/shell/files/diagnostic.ts';
import { draftsOf } from '../../engine/shell/load/drafts.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag, json, type OptionValues } from '../options/option.ts';
import { domainFolder } from '../options/rolloutOptions.ts';
import { auditProgress } from '../terminal/auditProgress.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';

const options = {
  static: flag('do not run code of the domain: no tools, no MCP servers'),
  audit: flag(
    'also run the tasks in workers, with an agent that does nothing and twice with the gold seat, and call every tool twice',
  ),
  fix: flag('apply the safe fixes, then report the remaining findings'),
  json,
};
type Options = OptionValues<typeof options>;

export const check: Command = defineCommand({
  name: 'check',
  takes: 1,
  summary: 'find the errors of a domain before you run it',
  usage: 'DOMAIN [options]',
  about: `
Reads every file of a domain and reports findings as file:line:column.
\`npx rehearsal help docs/diagnostics\` explains each code.

It starts nothing outside the sandbox that you have not approved, and reports what it skipped. On a machine without a
sandbox, that includes the code of the domain. --static checks only the files.
`,
  options,
  after:
    'Exit code 0: no errors. 1: errors; with --audit, also warnings. 2: cancelled, the check could not run, or the code of the domain was not run because that is not approved.',
  run: async (options, [domain], io) => {
    const folder = domainFolder(io, domain);
    if (options.static && options.audit)
      throw new UsageError('--static runs no code of the domain, and --audit runs all of it: choose one');
    const found = await look(folder, options, io);
    if (options.json) printJson(io, found);
    else printText(io, found);
    return found.audited?.isCancelled ? 2 : exitCodeOf(found);
  },
});

/** The result of a check. */
type Found = {
  readonly loaded: LoadedDomain;
  readonly diagnostics: readonly Diagnostic[];
  /** Findings that were fixed, as they were found. */
  readonly fixed: readonly Diagnostic[];
  /** Null if the audit was requested and could not run. */
  readonly audited?: Audited | null;
  /** Whether servers and environments were left out because they are not approved. */
  readonly isUnapproved: boolean;
  /** Whether the tools were described; else only their names are known. */
  readonly isDescribed: boolean;
};

async function look(folder: string, options: Options, io: Io): Promise<Found> {
  const { result, fixed } = await checked(folder, options, io);
  const { loaded, ok, isUnapproved, isDescribed } = result;
  const found = { loaded, fixed, isUnapproved, isDescribed };
  if (!options.audit) return { ...found, diagnostics: sortDiagnostics(result.diagnostics) };
  const audited = ok && !isUnapproved ? await audit(loaded, { signal: io.signal, ...auditProgress(io) }) : null;
  const diagnostics = withAudit(result.diagnostics, audited?.diagnostics ?? []);
  return { ...found, diagnostics, audited };
}

/** The findings, after what can be fixed has been. */
async function checked(folder: string, options: Options, io: Io) {
  const describe = {
    describeTools: () => describeCodeTools(loadDomain(folder), io),
    describeExternal: (domain: LoadedDomain) => describeExternalTools(domain, io),
  };
  const again = () => checkDomain({ folder, ...(options.static ? {} : describe) });
  let result = await again();
  const fixed: Diagnostic[] = [];
  for (let round = 0; options.fix && round < fixRounds && !io.signal.aborted; round++) {
    const { mended } = applyFixes(result.diagnostics);
    if (mended.length === 0) break;
    fixed.push(...mended);
    result = await again();
  }
  if (io.signal.aborted) throw new UsageError('cancelled');
  return { result, fixed };
}

function exitCodeOf(found: Found): ExitCode {
  const counts = found.audited === undefined ? ['error'] : ['error', 'warning'];
  if (found.diagnostics.some(({ severity }) => counts.includes(severity))) return 1;
  return isCodeSkipped(found) ? 2 : 0;
}

/** Whether the code was left out because it is not approved, so that nothing is known of the tools. */
const isCodeSkipped = ({ isUnapproved, isDescribed }: Found): boolean => isUnapproved && !isDescribed;

/** The tools of the files, and those that were described. */
function toolNamesOf({ toolNames, domain }: LoadedDomain): readonly string[] {
  return [...new Set([...toolNames, ...domain.tools.map(({ name }) => name)])];
}

/** Servers and environments whose tools are not known yet. */
function unaskedOf({ loaded, isUnapproved }: Found): readonly string[] {
  const { tools, file } = loaded.domain;
  return tools.length > 0 && !isUnapproved ? [] : [...Object.keys(file.mcpServers), ...Object.keys(file.environments)];
}

function printJson(io: Io, result: Found): void {
  const { loaded, diagnostics, fixed, audited } = result;
  const found = diagnostics.map((each) => ({ ...each, soundness: soundnessOf(each.code) }));
  const { undecided, rollouts } = audited ?? {};
  const said = {
    name: loaded.domain.name,
    tasks: loaded.tasks.length,
    drafts: draftsOf(loaded.parts).map(({ placed }) => placed.value.id),
    tools: toolNamesOf(loaded),
    unasked: unaskedOf(result),
    described: result.isDescribed ? loaded.domain.tools : null,
    diagnostics: found,
    fixed: fixed.length,
  };
  io.out(
    `${JSON.stringify({ ...said, ...(audited === undefined ? {} : { audit: audited && { rollouts, undecided } }) })}\n`,
  );
}

/** Returns a line for each reason why tasks were not audited. */
export function notAudited(
  undecided: readonly Pick<Audited['undecided'][number], 'task' | 'reason'>[],
): readonly string[] {
  return [...Map.groupBy(undecided, ({ reason }) => reason)].map(
    ([reason, same]) => `${same.map(({ task }) => task).join(', ')}: not audited, ${reason}`,
  );
}

function printText(io: Io, result: Found): void {
  const { loaded, diagnostics, fixed, audited, isUnapproved } = result;
  for (const { file, line, code, fix } of fixed)
    io.out(`fixed ${relative(io.cwd, file)}:${line} ${code} ${fix?.title ?? ''}`.trimEnd().concat('\n'));
  for (const found of diagnostics) io.out(`${formatDiagnostic(found, io.cwd)}\n`);
  for (const line of notAudited(audited?.undecided ?? [])) io.out(`${line}\n`);
  const { domain } = loaded;
  const unasked = unaskedOf(result);
  const tools = `${counted(toolNamesOf(loaded).length, 'tool')}${unasked.length > 0 ? `, those of ${unasked.map((name) => JSON.stringify(name)).join(', ')} not asked` : ''}`;
  const findings = diagnostics.length === 0 ? 'no findings' : counted(diagnostics.length, 'finding');
  const fixable = diagnostics.filter(({ fix }) => fix).length;
  const drafts = draftsOf(loaded.parts).length;
  const notes = [
    ...(drafts > 0 ? [`${counted(drafts, 'draft')} ignored`] : []),
    ...(fixed.length > 0 ? [`${fixed.length} fixed`] : []),
    ...(fixable > 0
      ? [
          fixable === diagnostics.length && fixable === 1
            ? 'which can be fixed with --fix'
            : `${fixable} of them can be fixed with --fix`,
        ]
      : []),
    ...(isCodeSkipped(result) ? ['its code was not checked'] : []),
    ...(audited === null ? [`not audited: ${isUnapproved ? 'it is not approved' : 'correct the errors first'}`] : []),
    ...(audited ? [audited.isCancelled ? 'the audit was cancelled' : 'audited'] : []),
  ];
  io.out(
    `${inOneLine(domain.name)}: ${counted(domain.tasks.length, 'task')}, ${counted(domain.personas.length, 'persona')}, ${counted(domain.policy.rules.length, 'rule')}, ${tools}; ${[findings, ...notes].join(', ')}\n`,
  );
  const hash = approvedHash(effectsOfDomain(loaded), io.environment);
  if (hash !== null)
    io.out(`what it does outside of the sandbox is approved; on another machine, approve it with --approve ${hash}\n`);
}
