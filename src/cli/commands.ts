import type { Command } from './options/command.ts';

/**
 * Loads each command by its name, in the order of the help: those of a first day, then the others in the order in which
 * people use them. A process loads only the one it runs.
 */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  new: async () => (await import('./commands/new.ts')).newCommand,
  check: async () => (await import('./commands/check.ts')).check,
  run: async () => (await import('./commands/run.ts')).runCommand,
  debug: async () => (await import('./commands/debug.ts')).debug,
  eval: async () => (await import('./commands/eval.ts')).evaluate,
  explain: async () => (await import('./commands/explain.ts')).explain,
  draft: async () => (await import('./commands/draft.ts')).draft,
  call: async () => (await import('./commands/call.ts')).call,
  tools: async () => (await import('./commands/tools.ts')).tools,
  personas: async () => (await import('./commands/personas.ts')).personas,
  preview: async () => (await import('./commands/preview.ts')).preview,
  report: async () => (await import('./commands/report.ts')).report,
  compare: async () => (await import('./commands/compare.ts')).compare,
  regrade: async () => (await import('./commands/regrade.ts')).regrade,
  shadow: async () => (await import('./commands/shadow.ts')).shadowCommand,
  coverage: async () => (await import('./commands/coverage.ts')).coverage,
  replay: async () => (await import('./commands/replay.ts')).replayCommand,
  verify: async () => (await import('./commands/verify.ts')).verify,
  lsp: async () => (await import('./commands/lsp.ts')).lsp,
  dap: async () => (await import('./commands/dap.ts')).dap,
  mcp: async () => (await import('./commands/mcp.ts')).mcp,
  serve: async () => (await import('./commands/serve.ts')).serve,
  synth: async () => (await import('./commands/synth.ts')).synth,
  train: async () => (await import('./commands/train.ts')).train,
  experiment: async () => (await import('./commands/experiment.ts')).experiment,
  'serve-model': async () => (await import('./commands/serveModel.ts')).serveModelCommand,
  'export-model': async () => (await import('./commands/exportModel.ts')).exportModel,
  import: async () => (await import('./commands/import.ts')).importCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  completion: async () => (await import('./commands/completion.ts')).completionCommand(loadCommands),
};

export const commandNames: readonly string[] = Object.keys(loaders);

export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(loaders, name) ? loaders[name]?.() : undefined;
}

/** Loads all commands, for what lists them. */
export function loadCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(loaders).map((load) => load()));
}
