import type { Offered } from '../../engine/core/domain/tool.ts';
import { argumentsOf } from '../../engine/shell/source/note.ts';

/** Returns what help says about the tools that a seat can call; empty without one. */
export function toolsText(tools: readonly Offered[]): string {
  const lines = tools.map((tool) =>
    `  ${tool.name}(${argumentsOf(tool).join(', ')})  ${firstLine(tool.description)}`.trimEnd(),
  );
  return lines.length === 0 ? '' : `tools that you can call:\n${lines.join('\n')}`;
}

const firstLine = (text: string) => text.trim().split('\n', 1)[0] ?? '';
