import { createHash } from 'node:crypto';
import { join, relative, resolve, sep } from 'node:path';
import type { Domain, DomainFile } from '../../core/domain/domain.ts';
import { type Persona, personaSchema } from '../../core/domain/persona.ts';
import { type Phrases, phrasesSchema } from '../../core/domain/phrases.ts';
import { type ParsedPolicy, parsePolicy } from '../../core/domain/policy.ts';
import { type Rule, ruleSchema } from '../../core/domain/rule.ts';
import type { SimulatedTool } from '../../core/domain/simulatedTool.ts';
import type { Task } from '../../core/domain/task.ts';
import { contentHash } from '../../core/values/hash.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { agentFileProblems } from '../checks/checkSeats.ts';
import { atOnce, checkSoundness, crossCheck, type Steps } from '../checks/crossCheck.ts';
import { type Diagnostic, emptyFile, errorsOf, sortDiagnostics, startOf } from '../files/diagnostic.ts';
import { bindPhrases } from '../load/bindPhrases.ts';
import { bindRules } from '../load/bindRules.ts';
import { parseDatabase } from '../load/database.ts';
import {
  noItems,
  type Reader,
  readDatabases,
  readDomainFile,
  readFolder,
  readNamed,
  readSimulated,
  readTasks,
} from '../load/domainFiles.ts';
import { accepted, isDraft, withDraftsNamed } from '../load/drafts.ts';
import { withoutFixesOfImports } from '../load/imported.ts';
import { type DomainText, hasSources, type LoadedDomain, type Parts, type TextKind } from '../load/loadedDomain.ts';
import { locationsOf } from '../load/locations.ts';
import { markFix } from '../load/markFix.ts';
import { type Items, parseItems, placeOf } from '../source/items.ts';
import { type Scan, scanTools } from '../source/scan.ts';
import { scanPython } from '../source/scanPython.ts';
import { scanSync } from '../source/scanSync.ts';
import { scanVerifiers } from '../source/scanVerifiers.ts';
import { inside, type Overlay, readSource, remembered, type Source } from '../source/source.ts';

export type { LoadedDomain } from '../load/loadedDomain.ts';
export { completeDomain } from './completeDomain.ts';

export type LoadOptions = {
  /** Unsaved texts of an editor, by absolute path. */
  readonly overlay?: Overlay;
  /**
   * Whether to look for what makes the environment deceive although it runs, and into agents' files; a rollout does not
   * wait for that, and reads the agent's file that it takes by itself.
   */
  readonly soundness?: boolean;
  /** Whether to read the databases, which takes seconds where they are large. Without them they count as empty. */
  readonly databases?: boolean;
};

const policies = new WeakMap<Source, ParsedPolicy>();
const digests = new WeakMap<Source, string>();

/**
 * Reads the files of a domain without running any of its code. The domain has no tools yet: `completeDomain` adds
 * them once a worker and the MCP servers have described them. Never throws for what a user wrote; see `diagnostics`.
 */
export function loadDomain(folder: string, options: LoadOptions = {}): LoadedDomain {
  return checkFiles(readFiles(folder, options), options);
}

/** The domain with what concerns single files alone: what several of them together say is not looked for yet. */
export function readFiles(
  folder: string,
  { overlay, soundness = true, databases: areRead = true }: LoadOptions = {},
): LoadedDomain {
  const root = resolve(folder);
  const diagnostics: Diagnostic[] = [];
  const { file, text, lost, namesFiles } = readDomainFile(root, overlay, diagnostics);
  const reader: Reader = { folder: root, overlay, diagnostics, file, namesFiles };
  const isThere = text !== null;
  const policySource = isThere ? readNamed(reader, 'policy', 'policy') : null;
  const policyFile = policySource?.file ?? join(root, file.value.policy);
  const policy = policyOf(policySource, policyFile, diagnostics);
  const rulesSource = isThere ? readNamed(reader, 'rules', 'rule', true) : null;
  const rules = rulesSource ? parseItems<Rule>(rulesSource, rulesKind) : noItems;
  if (policySource?.text.trim() === '' && rules.items.length > 0)
    diagnostics.push(emptyFile(policySource.file, 'policy', 'Write the rules that rules.yaml checks.'));
  const phrasesSource = isThere ? readNamed(reader, 'phrases', 'phrase', true) : null;
  const phrases = phrasesSource ? parseItems<Phrases>(phrasesSource, phrasesKind) : noItems;
  const personas = readFolder<Persona>(reader, 'personas', '.persona.yaml', 'persona', personaSchema, isThere);
  const tasks = readTasks(reader, isThere);
  const { toolsSource, pythonSource, simulated, scan } = readTools(reader, isThere, usesTools(tasks));
  const verifiers = scanVerifiers(root, overlay);
  const hasCode = toolsSource !== null || pythonSource !== null;
  const databases = isThere && areRead ? readDatabases(reader, hasCode) : { agent: null, user: null };
  const bound = bindRules(policy, rules.items);
  const said = bindPhrases(bound.rules, phrases.items[0]?.value ?? {});
  const parts: Parts = {
    file,
    policyFile,
    policySource,
    policy: bound.policy,
    rules: said.rules,
    phrases: phrases.items[0]?.value ?? {},
    personas: personas.items,
    tasks: tasks.items,
    simulated: simulated.items,
    scan,
    sync: toolsSource ? scanSync(toolsSource) : null,
    verifiers: verifiers.names,
    databases,
    namesFiles,
    lost,
    broken: { tasks: tasks.broken, rules: rules.broken },
    unreadTools: namesInBroken(simulated),
    texts: textsOf([
      ['code', scan.sources.filter(({ file: path }) => !path.endsWith('.py'))],
      ['python', scan.sources.filter(({ file: path }) => path.endsWith('.py'))],
      ['tool', simulated.sources],
      ['task', tasks.sources],
      ['persona', personas.sources],
      ['rules', [rulesSource]],
      ['phrases', [phrasesSource]],
      ['policy', [policySource]],
      ['verifiers', [verifiers.source]],
      ['userDatabase', [databases.user]],
      ['database', [databases.agent]],
      ['domain', [text]],
    ]),
    diagnostics: [
      ...diagnostics,
      ...simulated.diagnostics,
      ...rules.diagnostics,
      ...phrases.diagnostics,
      ...verifiers.diagnostics,
      ...bound.diagnostics,
      ...said.diagnostics,
      ...databaseProblems(databases),
      ...(isThere && soundness ? agentFileProblems(file.value.agent, root, overlay) : []),
    ],
  };
  const hash = hashOf(
    root,
    [
      ...personas.sources.filter((source) => !isOfDrafts(source, personas)),
      ...scan.sources,
      ...[policySource, rulesSource, phrasesSource, verifiers.source, databases.agent, databases.user].filter(
        (each) => each !== null,
      ),
    ],
    file.value,
  );
  const code = { toolsFile: toolsSource?.file ?? null, pythonFile: pythonSource?.file ?? null };
  return loaded(root, parts, hash, code);
}

/** The tools of a domain's code, of its descriptions and of its environments. */
function readTools(reader: Reader, isThere: boolean, areUsed: boolean) {
  const { folder, overlay, diagnostics, file } = reader;
  const toolsSource = isThere ? readNamed(reader, 'tools', 'tool', true) : null;
  const pythonSource = isThere ? readNamed(reader, 'pythonTools', 'tool', true) : null;
  for (const source of [toolsSource, pythonSource])
    if (source?.text.trim() === '')
      diagnostics.push(emptyFile(source.file, 'tool', 'Write the tools into it, or delete the file.'));
  const simulated = isThere ? readSimulated(reader) : noItems;
  const isWithout = toolsSource === null && pythonSource === null && simulated.sources.length === 0;
  if (isThere && reader.namesFiles && areUsed && isWithout && !hasSources(file.value)) noteToolsMissing(reader);
  const areToolsLost = diagnostics.some(({ code }) => code.startsWith('tool/'));
  const found = merged([
    toolsSource ? scanTools(folder, toolsSource, overlay) : emptyScan,
    pythonSource ? scanPython(folder, pythonSource, overlay) : emptyScan,
    scanSimulated(simulated),
    scanEnvironments(folder, file.value, overlay),
  ]);
  // What a file that cannot be read would have is not missing.
  const scan = areToolsLost ? { ...found, complete: false } : found;
  return { toolsSource, pythonSource, simulated, scan };
}

const usesTools = ({ items }: Items<Task>) => items.some(({ value }) => value.actions.length > 0);

/** Notes that a domain whose tasks call tools has none, unless that is known. */
function noteToolsMissing({ diagnostics, file }: Reader): void {
  if (diagnostics.some(({ code }) => code.startsWith('tool/'))) return;
  diagnostics.push({
    ...startOf(file.file),
    code: 'tool/file-missing',
    severity: 'error',
    message: `The file ${file.value.tools} does not exist, and tasks call tools.`,
    hint: 'Create it, or name another file with `tools:` in domain.yaml.',
  });
}

/** The files that were read, by their paths; of two kinds of one file the last. */
function textsOf(files: readonly (readonly [TextKind, readonly (Source | null)[]])[]): ReadonlyMap<string, DomainText> {
  return new Map(
    files.flatMap(([kind, sources]) =>
      sources.flatMap((source) => (source ? [[source.file, { kind, source }] as const] : [])),
    ),
  );
}

/** Returns the names in files of tools that could not be read as a whole: what is wrong there is reported there. */
function namesInBroken({ sources, diagnostics }: Items<SimulatedTool>): readonly string[] {
  const broken = new Set(errorsOf(diagnostics).map(({ file }) => file));
  return sources
    .filter(({ file }) => broken.has(file))
    .flatMap(({ text }) => [...text.matchAll(/^[ \t]*(?:-[ \t]+)?name[ \t]*:[ \t]*["']?([\w-]+)/gm)])
    .map(([, name = '']) => name);
}

/** A file of nothing but drafts is not part of what the domain is. */
function isOfDrafts({ file }: Source, { items }: Items<Persona>): boolean {
  const own = items.filter((item) => item.file === file);
  return own.length > 0 && own.every(isDraft);
}

/** The value of a database file, or an empty database if the file is missing or broken. */
function databaseOf(source: Source | null): JsonObject {
  return (source && parseDatabase(source).value) ?? noRows;
}

const noRows: JsonObject = {};
const worlds = new WeakMap<JsonObject, WeakMap<JsonObject, LoadedDomain['world']>>();

/** Both sides; the same databases are the same world, so that what was worked out of it is not worked out again. */
function worldOf(agent: JsonObject, user: JsonObject): LoadedDomain['world'] {
  const sides = remembered(worlds, agent, () => new WeakMap<JsonObject, LoadedDomain['world']>());
  return remembered(sides, user, () => ({ agent, user }));
}

function loaded(
  folder: string,
  parts: Parts,
  hash: string,
  code: Pick<LoadedDomain, 'toolsFile' | 'pythonFile'>,
): LoadedDomain {
  const { file, policy, rules, personas, tasks } = parts;
  const domain: Domain = {
    name: file.value.name,
    file: file.value,
    policy: policy.policy,
    rules: rules.map(({ value }) => value),
    tools: [],
    sync: parts.sync !== null,
    personas: accepted(personas).map(({ value }) => value),
    tasks: accepted(tasks).map(({ value }) => value),
    lexicon: file.value.lexicon,
    phrases: parts.phrases,
    hash,
  };
  const world = worldOf(databaseOf(parts.databases.agent), databaseOf(parts.databases.user));
  return {
    folder,
    file: domain.file,
    tasks: domain.tasks,
    domain,
    world,
    locations: locationsOf(parts),
    diagnostics: parts.diagnostics,
    toolNames: [...parts.scan.tools.keys()],
    ...code,
    parts,
  };
}

/** Adds what the files of a domain say against each other, as far as it is known without running its code. */
export function checkFiles(loaded: LoadedDomain, options: LoadOptions = {}): LoadedDomain {
  return atOnce(checkFilesInSteps(loaded, options));
}

/** Does the same in steps. */
export function* checkFilesInSteps(loaded: LoadedDomain, { soundness = true }: LoadOptions = {}): Steps<LoadedDomain> {
  const { folder, parts, world, file } = loaded;
  const known = {
    names: new Set([...parts.scan.tools.keys(), ...parts.unreadTools]),
    complete: parts.scan.complete && !hasSources(file),
    tools: new Map(),
    declared: parts.scan.declared,
  };
  const found = [...parts.diagnostics, ...(yield* crossCheck(parts, world, known, folder))];
  const unsound = soundness ? yield* checkSoundness(parts, world, known, found) : [];
  return {
    ...loaded,
    diagnostics: withoutFixesOfImports(sortDiagnostics(withDraftsNamed([...found, ...unsound], parts)), parts),
  };
}

function policyOf(source: Source | null, file: string, diagnostics: Diagnostic[]): ParsedPolicy {
  const policy = source ? remembered(policies, source, () => parsePolicy(source.text)) : parsePolicy('');
  for (const problem of policy.problems) {
    const fix = source ? markFix(problem, source) : undefined;
    diagnostics.push({ ...problem, file, severity: severityOf(problem.code), ...(fix ? { fix } : {}) });
  }
  return policy;
}

const rulesKind = { kind: 'rule', schema: 'rules', item: ruleSchema, wrapper: 'rules' } as const;
const phrasesKind = { kind: 'phrase', schema: 'phrases', item: phrasesSchema, isMap: true } as const;
const emptyScan: Scan = { tools: new Map(), declared: new Map(), unexported: new Map(), complete: true, sources: [] };

function scanSimulated({ items, sources }: Items<SimulatedTool>): Scan {
  return {
    ...emptyScan,
    tools: new Map(items.map((item) => [item.value.name, placeOf(item, 'name')])),
    declared: new Map(
      items.map((item) => {
        const { name, effect, owner } = item.value;
        const effectAt = placeOf(item, 'effect');
        return [name, { effect, effectAt, owner, generic: false, handsOff: false }];
      }),
    ),
    sources,
  };
}

/** Environments name their tools only when they run, but their files are part of what the domain is. */
function scanEnvironments(folder: string, { environments }: DomainFile, overlay?: Overlay): Scan {
  const sources = Object.values(environments).flatMap(({ file }) => {
    const path = file === undefined ? null : inside(folder, file);
    const found = path === null ? null : readSource(path, 'tool', overlay, undefined, folder);
    return found && 'source' in found ? scanPython(folder, found.source, overlay).sources : [];
  });
  return { ...emptyScan, sources };
}

function merged(scans: readonly Scan[]): Scan {
  return {
    tools: new Map(scans.flatMap(({ tools }) => [...tools])),
    declared: new Map(scans.flatMap(({ declared }) => [...declared])),
    unexported: new Map(scans.flatMap(({ unexported }) => [...unexported])),
    complete: scans.every(({ complete }) => complete),
    sources: scans.flatMap(({ sources }) => sources),
  };
}

function databaseProblems({ agent, user }: Parts['databases']): readonly Diagnostic[] {
  return [agent, user].flatMap((source) => (source ? parseDatabase(source).problems : []));
}

const severityOf = (code: string) =>
  code === 'policy/misplaced-mark' || code === 'policy/unclosed-mark' ? 'warning' : 'error';

/** Identity of everything that a rollout depends on beside its task: contents and not places of the files. */
function hashOf(folder: string, sources: readonly Source[], file: DomainFile): string {
  const files = [...new Map(sources.map((source) => [source.file, source])).values()].map((source) => [
    relative(folder, source.file).split(sep).join('/'),
    remembered(digests, source, () => createHash('sha256').update(source.text).digest('hex')),
  ]);
  return contentHash([file as unknown as JsonObject, files.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))]);
}
