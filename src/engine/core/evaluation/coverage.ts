import type { RolloutEvent } from '../events/event.ts';

/** The number of checks of a rule by result. */
export type RuleCoverage = { readonly held: number; readonly violated: number; readonly unknown: number };
/** Calls of a tool by either seat, and how many of them came back as an error. */
export type ToolCoverage = { readonly calls: number; readonly errors: number };

/** The rules and tools of a domain that rollouts exercised, by id and name. Those not listed were never exercised. */
export type Coverage = {
  readonly rules: Readonly<Record<string, RuleCoverage>>;
  readonly tools: Readonly<Record<string, ToolCoverage>>;
};

const noChecks: RuleCoverage = { held: 0, violated: 0, unknown: 0 };
const noCalls: ToolCoverage = { calls: 0, errors: 0 };

/** Returns what one rollout exercised. A check that is unknown is counted apart: it exercised nothing. */
export function coverageOf(events: readonly RolloutEvent[]): Coverage {
  const rules = new Map<string, RuleCoverage>();
  const tools = new Map<string, ToolCoverage>();
  const names = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'rulesChecked')
      for (const { rule, verdict } of event.verdicts) addChecks(rules, rule, { ...noChecks, [verdict]: 1 });
    else if (event.type === 'toolCalled') {
      names.set(event.call.id, event.call.name);
      addCalls(tools, event.call.name, { calls: 1, errors: 0 });
    } else if (event.type === 'toolReturned' && event.isError) {
      const name = names.get(event.callId);
      if (name !== undefined) addCalls(tools, name, { calls: 0, errors: 1 });
    }
  }
  return { rules: Object.fromEntries(rules), tools: Object.fromEntries(tools) };
}

/** Returns what several rollouts exercised together. */
export function joinedCoverage(parts: readonly Coverage[]): Coverage {
  const rules = new Map<string, RuleCoverage>();
  const tools = new Map<string, ToolCoverage>();
  for (const part of parts) {
    for (const [rule, checks] of Object.entries(part.rules)) addChecks(rules, rule, checks);
    for (const [tool, calls] of Object.entries(part.tools)) addCalls(tools, tool, calls);
  }
  return { rules: Object.fromEntries(rules), tools: Object.fromEntries(tools) };
}

function addChecks(to: Map<string, RuleCoverage>, rule: string, { held, violated, unknown }: RuleCoverage): void {
  const before = to.get(rule) ?? noChecks;
  to.set(rule, { held: before.held + held, violated: before.violated + violated, unknown: before.unknown + unknown });
}

function addCalls(to: Map<string, ToolCoverage>, tool: string, { calls, errors }: ToolCoverage): void {
  const before = to.get(tool) ?? noCalls;
  to.set(tool, { calls: before.calls + calls, errors: before.errors + errors });
}
