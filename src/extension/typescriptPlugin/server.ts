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

export type PluginCreateInfo = {
  readonly project: { readonly projectKind: number };
  readonly languageService: unknown;
  readonly languageServiceHost: LanguageServiceHost;
};
