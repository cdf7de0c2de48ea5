import { counted, firstNames } from '../text/counted.ts';
import { nameOnServer, type Tool } from './tool.ts';

/** Tools of one server that are left out for the same reason, or a page of its list of tools. */
export type LeftOutTools = {
  readonly tools: readonly Tool[];
  /** A sentence without its full stop. */
  readonly text: string;
  readonly hint: string;
};

/** Returns the tools that are left out, together where the server, the reason and the advice are the same. */
export function leftOutTools(all: readonly Tool[]): readonly LeftOutTools[] {
  const groups = Map.groupBy(
    all.filter(({ leftOut }) => leftOut !== undefined),
    ({ source, leftOut }) => JSON.stringify([source, leftOut].map((each) => ({ ...each, tool: undefined }))),
  );
  return [...groups.values()].flatMap((tools) => {
    const { reason = '', hint = '', what } = tools[0]?.leftOut ?? {};
    return [{ tools, text: textOf([...new Set(tools.map(nameOnServer))], reason, what), hint }];
  });
}

function textOf(names: readonly string[], reason: string, what: string | undefined): string {
  const quoted = names.map((name) => JSON.stringify(name));
  return names.length > 1
    ? `${counted(names.length, 'tool')} (${firstNames(quoted)}) are left out, each for this reason: ${reason}`
    : `${what ?? `The tool ${quoted[0]}`} is left out: ${reason}`;
}
