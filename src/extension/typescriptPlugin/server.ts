/**
 * The parts of the TypeScript server that the plugin touches. The server hands itself over at run time, and its
 * declarations differ from version to version, so the plugin names what it needs.
 */
export type CompilerOptions = Readonly<Record<string, unknown>>;

export type ResolvedModule = {
  readonly resolvedModule:
    | {
        readonly resolvedFileName: string;
        readonly extension: string;
        readonly isExternalLibraryImport: boolean;
        readonly resolvedUsingTsExtension: boolean;
      }
    | undefined;
};

export type ModuleResolver = (
  literals: readonly { readonly text: string }[],
  containingFile: string,
  ...rest: readonly unknown[]
) => readonly ResolvedModule[];

export type LanguageServiceHost = {
  resolveModuleNameLiterals?: ModuleResolver;
  getCompilationSettings: () => CompilerOptions;
  getScriptFileNames: () => readonly string[];
};

export type TypeScript = {
  readonly server: { readonly ProjectKind: { readonly Inferred: number } };
  readonly sys: { readonly fileExists: (path: string) => boolean };
};

/** A place in a text; line and offset count from 1. */
export type LineOffset = { readonly line: number; readonly offset: number };

type ScriptInfo = {
  readonly lineOffsetToPosition: (line: number, offset: number) => number;
  readonly positionToLineOffset: (position: number) => LineOffset;
};

type RenameLocation = {
  readonly fileName: string;
  readonly textSpan: { readonly start: number; readonly length: number };
  readonly prefixText?: string;
  readonly suffixText?: string;
};

type LanguageService = {
  readonly findRenameLocations: (
    file: string,
    position: number,
    findInStrings: boolean,
    findInComments: boolean,
    preferences: { readonly providePrefixAndSuffixTextForRename: boolean },
  ) => readonly RenameLocation[] | undefined;
};

export type ProjectService = {
  readonly getScriptInfo: (file: string) => ScriptInfo | undefined;
  readonly getDefaultProjectForFile: (
    file: string,
    ensureProject: boolean,
  ) => { readonly getLanguageService: () => LanguageService } | undefined;
};

export type Session = {
  readonly addProtocolHandler: (
    command: string,
    handler: (request: { readonly arguments: unknown }) => {
      readonly response: unknown;
      readonly responseRequired: boolean;
    },
  ) => void;
};

export type PluginCreateInfo = {
  readonly project: { readonly projectKind: number; readonly projectService: ProjectService };
  readonly languageService: unknown;
  readonly languageServiceHost: LanguageServiceHost;
  readonly session?: Session;
};
