import { withoutInspector } from '../../engine/shell/processes/runtimeFlags.ts';

/** Returns how the trainer starts the engine. */
export function engineCommand(node: string, bundle: string): readonly string[] {
  return [node, bundle, 'serve', '--stdio'];
}

export function ownEngine(): readonly string[] {
  const [node = '', ...rest] = engineCommand(process.execPath, process.argv[1] ?? '');
  return [node, ...withoutInspector(), ...rest];
}
