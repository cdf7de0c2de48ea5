import type { ListedTool } from '../../engine/shell/mcp/toolList.ts';
import { soundsReading } from './soundsReading.ts';

/** A tool that the server is asked about: whether it changes anything, by the server's word, else by its name. */
export type Judged = ListedTool & { readonly isWrite: boolean; readonly isSure: boolean };

/**
 * Returns which of the tools change something.
 * @param writes names that a person gave; nothing is left open then
 */
export function judged(listed: readonly ListedTool[], writes?: readonly string[]): readonly Judged[] {
  return listed.map((each) => {
    if (writes) return { ...each, isWrite: writes.includes(each.tool.name), isSure: true };
    const { isReadOnly } = each;
    if (isReadOnly !== undefined) return { ...each, isWrite: !isReadOnly, isSure: true };
    return { ...each, isWrite: !soundsReading(each.tool.name), isSure: false };
  });
}

/** Returns the tools that get a draft task: those that change something, or the first where nothing does. */
export function rehearsedTools(tools: readonly Judged[]): readonly Judged[] {
  const writes = tools.filter(({ isWrite }) => isWrite);
  return writes.length > 0 ? writes : tools.slice(0, 1);
}
