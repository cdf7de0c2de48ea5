import type { YamlKind } from '../symbols/roles.ts';

/** A piece of a file with places to fill in, as an editor's snippet. */
export type Snippet = { readonly label: string; readonly detail: string; readonly body: string };

const persona = `id: \${1:curious}
description: \${2:Who this person is, in a sentence or two.}
style: \${3|plain,brief,chatty,formal|}
patience: \${4:5}
behaviours:
  omits: \${5|false,true|}`;

const task = `id: \${1:task-id}
description: \${2:What this task is about and what it tries.}
split: \${3|train,test|}
persona: \${4:plain}
user:
  goal: >-
    \${5:You are ... You want to ...}
  known:
    \${6:order_id}: \${7:W1}
actions:
  - { tool: \${8:tool}, arguments: { \${6:order_id}: \${7:W1} } }`;

const tool = `name: \${1:find_weather}
description: \${2:What the tool does, for the model that calls it.}
effect: \${3|read,write|}
parameters:
  type: object
  properties:
    \${4:day}: { type: string, description: \${5:Such as 2026-03-02.} }
  required: [\${4:day}]
  additionalProperties: false
result:
  type: object
behaviour: >-
  \${6:Instructions for the model that simulates the tool.}`;

const check = (name: string, body: string): Snippet => ({
  label: `check: ${name}`,
  detail: 'A machine check of a rule',
  body: `rule: \${1:rule-id}\ncheck: ${name}\n${body}`,
});

const checks: readonly Snippet[] = [
  check('before', 'tools: [${2:tool}]\nrequire: [${3:earlier_tool}]'),
  check('confirmed', 'tools: ${2:writes}\nnames: [${3:order_id}]\ngate: ${4|true,false|}'),
  check('oneCall', 'silent: ${2|true,false|}'),
  check('onlyIf', 'tools: [${2:tool}]\ncondition: ${3:db.orders[args.order_id].status == "pending"}'),
  check('never', 'when: >-\n  ${2:says(message, "I promise")}'),
  check('mustSay', 'after: [${2:tool}]\nsays: ${3:5 ... 7 ... days}'),
  check('handOff', 'onlyWhen: ${2:any(expected, it.tool == "transfer_to_human")}'),
  check('judge', 'question: ${2:Was the agent polite?}'),
];

const fault = (type: string, body: string, detail: string): Snippet => ({
  label: `fault: ${type}`,
  detail,
  body: `type: ${type}\ntool: \${1:tool}\n${body}`,
});

const faults: readonly Snippet[] = [
  fault('outage', 'calls: [${2:1}]\nmessage: ${3:the system is temporarily unavailable, try again}', 'The call fails'),
  fault('latency', 'ms: ${2:30000}', 'The answer comes later'),
  fault('permissionDenied', 'calls: [${2:1}]', 'The call is refused'),
  fault('changedSchema', 'result: { ${2:old_key}: ${3:new_key} }', 'Arguments or keys of the result have other names'),
  fault('undocumentedResult', 'result: { ${2:key}: ${3:value} }', 'The call returns something else'),
];

const servers: readonly Snippet[] = [
  {
    label: 'MCP server (stdio)',
    detail: 'Tools of a program that this machine starts',
    body: '${1:server}:\n  command: ${2:npx}\n  args: [${3:-y, some-mcp-server}]\n  state: ${4|none,replay,snapshot|}\n  writes: [${5}]',
  },
  {
    label: 'MCP server (HTTP)',
    detail: 'Tools of a server that runs already',
    body: '${1:server}:\n  type: http\n  url: ${2:http://127.0.0.1:8000/mcp}\n  state: ${3|none,replay,snapshot|}\n  writes: [${4}]',
  },
];

/** Returns what can be begun at a place: whole items where a file may have one, and entries of lists and maps. */
export function snippetsAt(kind: YamlKind, place: 'item' | string): readonly Snippet[] {
  if (place === 'item') return items[kind];
  if (kind === 'task' && place === 'faults') return faults;
  return kind === 'domain' && place === 'mcpServers' ? servers : [];
}

const items: Readonly<Record<YamlKind, readonly Snippet[]>> = {
  domain: [],
  persona: [{ label: 'persona', detail: 'A simulated user', body: persona }],
  task: [{ label: 'task', detail: 'A problem with its gold actions', body: task }],
  tool: [{ label: 'simulated tool', detail: 'A tool that a model answers for', body: tool }],
  rules: checks,
  phrases: [],
};
