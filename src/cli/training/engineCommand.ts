/** How the trainer starts the engine. */
export function engineCommand(node: string, bundle: string): readonly string[] {
  return [node, bundle, 'serve', '--stdio'];
}

/** The engine of this process. */
export const ownEngine = () => engineCommand(process.execPath, process.argv[1] ?? '');
