/**
 * The files of a domain with a task for each case. A rollout with reward 1 has been through every kind of seat and tool:
 * tools in code, a simulated tool, an MCP server with state, a judge, and models as agent and user.
 */
export function faultDesk(
  models: string,
  mcp: string,
  cases: readonly string[],
  limitMs: number,
): Readonly<Record<string, string>> {
  return {
    'domain.yaml': `name: faults
simulator: openai:tool@${models}/tool/v1
turnCap: 12
mcpServers:
  log:
    type: http
    url: ${mcp}
    writes: [visit]
    reader: { tool: visits }
    timeoutMs: ${limitMs}
    maxResultLength: 2000
`,
    'policy.md': '# Cases\n\n- Settle the case that the user names. {#settle}\n',
    'database.json': '{"cases": {}}',
    'tools.ts': `import { defineTools } from 'rehearsal';
import * as z from 'zod';
type Db = { cases: Record<string, { note: string }> };
const { tool } = defineTools<{ agent: Db }>();
export const look = tool({
  description: 'Looks a case up.',
  effect: 'read',
  input: z.object({ case: z.string() }),
  run: ({ case: name }, { db }) => db.cases[name] ?? { note: 'new' },
});
export const settle = tool({
  description: 'Settles a case.',
  effect: 'write',
  input: z.object({ case: z.string(), note: z.string() }),
  run: ({ case: name, note }, { db }) => {
    db.cases[name] = { note };
    return { note };
  },
});
`,
    'tools/weather.tool.yaml': `name: weather
description: The weather at the place of a case.
effect: read
timeoutMs: ${limitMs}
parameters: { type: object, properties: { case: { type: string } }, required: [case] }
result: { type: object, properties: { sky: { type: string } }, required: [sky], additionalProperties: false }
behaviour: The sky is always clear.
`,
    'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\n',
    'tasks/cases.task.yaml': cases.map(task).join(''),
  };
}

const task = (name: string) => `- id: ${name}
  persona: plain
  split: test
  user: { goal: You want ${name} settled. }
  actions: [{ tool: settle, arguments: { case: ${name}, note: done } }]
  assertions:
    - { path: cases.${name}.note, equals: done }
    - { in: log, that: 'any(state, it == "${name}")' }
  judge: [The agent says which case is settled.]
  evaluate: [assertions, judge]
  train: [assertions]
`;
