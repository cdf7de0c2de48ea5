/**
 * A plugin of the TypeScript server: types for the TypeScript of a domain, which has no node_modules. In a domain
 * `rehearsal` and `zod` mean the shipped copies, as they do for the engine, and a domain without a tsconfig.json is
 * checked with the options under which the engine runs it. Nothing is written into anybody's folder.
 */
import { dirname, join } from 'node:path';
import { type RenameRequest, renameCommand } from './renameRequest.ts';
import type {
  CompilerOptions,
  LanguageServiceHost,
  PluginCreateInfo,
  ProjectService,
  ResolvedModule,
  Session,
  TypeScript,
} from './server.ts';

/** `dist/types` of the extension, seen from `node_modules/rehearsal-typescript-plugin`. */
const shippedTypes = join(__dirname, '..', '..', 'dist', 'types');

const shippedModules: ReadonlyMap<string, string> = new Map([
  ['rehearsal', join(shippedTypes, 'rehearsal', 'authoring.d.ts')],
  ['zod', join(shippedTypes, 'zod', 'index.d.ts')],
]);

/** The options that say what the engine's own stripping of types understands. */
function domainOptions(options: CompilerOptions): CompilerOptions {
  const [esNext, bundler] = [99, 100];
  return {
    ...options,
    target: esNext,
    module: esNext,
    moduleResolution: bundler,
    moduleDetection: 3,
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    skipLibCheck: true,
  };
}

/** Sessions that answer renames already: the server calls the plugin once for each project. */
const answering = new WeakSet<Session>();

/** Returns what the TypeScript server calls to get the plugin. */
export function init({ typescript }: { readonly typescript: TypeScript }) {
  const isOfDomain = domainTest(typescript.sys.fileExists);
  return {
    create: ({ project, languageService, languageServiceHost, session }: PluginCreateInfo): unknown => {
      if (session) answerRenames(session, project.projectService);
      decorateResolution(languageServiceHost, isOfDomain);
      if (project.projectKind === typescript.server.ProjectKind.Inferred) {
        decorateOptions(languageServiceHost, isOfDomain);
      }
      return languageService;
    },
  };
}

/**
 * The editor sends its own `rename` to a server that follows no imports until a file of code has been shown. A command
 * whose name begins with `_` always comes to the server that knows the types.
 */
function answerRenames(session: Session, service: ProjectService): void {
  if (answering.has(session)) return;
  answering.add(session);
  session.addProtocolHandler(renameCommand, (request) => {
    const { file, line, offset, name } = request.arguments as RenameRequest;
    const script = service.getScriptInfo(file);
    const project = service.getDefaultProjectForFile(file, true);
    if (!script || !project) return { response: [], responseRequired: true };
    const position = script.lineOffsetToPosition(line, offset);
    const preferences = { providePrefixAndSuffixTextForRename: true };
    const found = project.getLanguageService().findRenameLocations(file, position, false, false, preferences) ?? [];
    const edits = found.flatMap(({ fileName, textSpan, prefixText = '', suffixText = '' }) => {
      const info = service.getScriptInfo(fileName);
      if (!info) return [];
      const [start, end] = [textSpan.start, textSpan.start + textSpan.length].map((at) =>
        info.positionToLineOffset(at),
      );
      return [{ file: fileName, start, end, text: `${prefixText}${name}${suffixText}` }];
    });
    return { response: edits, responseRequired: true };
  });
}

function decorateResolution(host: LanguageServiceHost, isOfDomain: (file: string) => boolean): void {
  const resolve = host.resolveModuleNameLiterals?.bind(host);
  if (!resolve) return;
  host.resolveModuleNameLiterals = (literals, containingFile, ...rest) => {
    const resolved = resolve(literals, containingFile, ...rest);
    const isOurs = literals.some(({ text }) => shippedModules.has(text)) && isOfDomain(containingFile);
    return isOurs ? literals.map(({ text }, index) => shipped(text) ?? (resolved[index] as ResolvedModule)) : resolved;
  };
}

function shipped(name: string): ResolvedModule | undefined {
  const file = shippedModules.get(name);
  if (file === undefined) return undefined;
  return {
    resolvedModule: {
      resolvedFileName: file.replaceAll('\\', '/'),
      extension: '.d.ts',
      isExternalLibraryImport: true,
      resolvedUsingTsExtension: false,
    },
  };
}

function decorateOptions(host: LanguageServiceHost, isOfDomain: (file: string) => boolean): void {
  const settings = host.getCompilationSettings.bind(host);
  let last: { readonly from: CompilerOptions; readonly to: CompilerOptions } | undefined;
  host.getCompilationSettings = () => {
    const from = settings();
    if (last?.from !== from) last = { from, to: domainOptions(from) };
    return host.getScriptFileNames().some(isOfDomain) ? last.to : from;
  };
}

/** Whether a file lies in a domain, or among the shipped types themselves. A folder's answer holds for a while. */
function domainTest(fileExists: (path: string) => boolean): (file: string) => boolean {
  const rememberedMs = 3000;
  const known = new Map<string, { readonly answer: boolean; readonly until: number }>();
  const isInDomain = (folder: string): boolean => {
    const earlier = known.get(folder);
    if (earlier && earlier.until > Date.now()) return earlier.answer;
    const parent = dirname(folder);
    const answer = fileExists(join(folder, 'domain.yaml')) || (parent !== folder && isInDomain(parent));
    known.set(folder, { answer, until: Date.now() + rememberedMs });
    return answer;
  };
  const own = shippedTypes.replaceAll('\\', '/');
  return (file) => file.startsWith(own) || (!file.includes('/node_modules/') && isInDomain(dirname(file)));
}
