import { expect, it } from 'vitest';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import { completeDomain } from '../../../../src/engine/shell/domain/completeDomain.ts';
import { deskTools, type Files, load, shown } from '../load/domainFolder.ts';

const simulated = (more: string) => `name: guess
description: Guesses.
behaviour: It guesses.
${more}`;
const simulator = 'name: desk\nsimulator: openai:m@http://127.0.0.1:1/v1\n';

const cases: readonly { readonly name: string; readonly files: Files; readonly found: readonly string[] }[] = [
  {
    name: 'a server that says nothing of its snapshots',
    files: {
      'domain.yaml':
        'name: desk\nmcpServers:\n  box:\n    command: box\n    state: snapshot\n    snapshot: { tool: all }\n',
    },
    found: ['domain.yaml:5:12 error domain/no-snapshot'],
  },
  {
    name: 'a start state that is not there, and one outside',
    files: {
      'domain.yaml':
        'name: desk\nmcpServers:\n  box: { command: box, files: start }\n  other: { command: box, files: ../start }\n',
    },
    found: ['domain.yaml:3:31 error domain/file-missing', 'domain.yaml:4:33 error domain/path-outside'],
  },
  {
    name: 'assertions on a shared state that the task does not set up',
    files: {
      'domain.yaml':
        'name: desk\nmcpServers:\n  box: { command: box, sharedState: true, reader: { tool: all } }\n  set: { command: set, sharedState: true, reader: { tool: all } }\n',
      'tasks/first.task.yaml':
        'id: a\npersona: plain\nuser: { goal: Go. }\nevaluate: [assertions]\nsetUp: { set: { calls: [{ tool: reset }] } }\nassertions:\n  - { in: box, sameAs: gold }\n  - { in: box, path: x, exists: true }\n  - { in: set, sameAs: gold }\n',
    },
    found: [
      'tasks/first.task.yaml:7:11 error task/shared-start',
      'tasks/first.task.yaml:8:11 warning task/shared-start',
    ],
  },
  {
    name: 'placeholders that are not known',
    files: {
      'domain.yaml':
        'name: desk\nmcpServers:\n  box: { command: box, args: ["${now}", "${input:key}", "$${HOME}"], env: { A: "${env:A} ${b}" } }\n  web: { type: http, url: "http://h/${input:key}", headers: { B: "${workspaceFolder}" } }\n',
    },
    found: [
      'domain.yaml:3:41 error domain/unknown-placeholder',
      'domain.yaml:3:80 error domain/unknown-placeholder',
      'domain.yaml:4:27 error domain/unknown-placeholder',
      'domain.yaml:4:66 error domain/unknown-placeholder',
    ],
  },
  {
    name: 'an invalid url',
    files: { 'domain.yaml': 'name: desk\nmcpServers:\n  box: { type: http, url: "somewhere" }\n' },
    found: ['domain.yaml:3:27 error domain/wrong-value'],
  },
  {
    name: 'an environment whose file is not there, and one outside',
    files: { 'domain.yaml': 'name: desk\nenvironments:\n  shop: { file: shop.py }\n  other: { file: ../other.py }\n' },
    found: ['domain.yaml:3:17 error domain/file-missing', 'domain.yaml:4:18 error domain/path-outside'],
  },
  {
    name: 'a set-up of an environment that is not there',
    files: {
      'tasks/first.task.yaml':
        'id: a\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: cancel_order }]\nsetUp:\n  shop: {}\n',
    },
    found: ['tasks/first.task.yaml:6:3 error task/unknown-environment'],
  },
  {
    name: 'a set-up of an MCP server that does not fit, and one whose folder is not there',
    files: {
      'domain.yaml': 'name: desk\nmcpServers:\n  notes: { command: node }\n',
      'tasks/first.task.yaml':
        'id: a\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: cancel_order }]\nsetUp:\n  notes: { rows: {} }\n',
      'tasks/second.task.yaml':
        'id: b\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: cancel_order }]\nsetUp:\n  notes: { files: start }\n',
    },
    found: ['tasks/first.task.yaml:6:3 error task/set-up', 'tasks/second.task.yaml:6:3 error domain/file-missing'],
  },
  {
    name: 'an argument that no message contains, except one in the folder of the rollout',
    files: {
      'database.json': '{"things": {"T1": {"kind": "box"}}}',
      'tasks/first.task.yaml':
        'id: a\npersona: plain\nuser: { goal: Go. }\nactions:\n  - { tool: find_order, arguments: { order: elsewhere } }\n  - { tool: cancel_order, arguments: { order: "${instanceFolder}/W1" } }\n',
    },
    found: ['tasks/first.task.yaml:5:45 warning task/untold-argument'],
  },
  {
    name: 'a fault of a tool that is not there',
    files: {
      'tasks/first.task.yaml':
        'id: a\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: cancel_order }]\nfaults:\n  - { type: outage, tool: cancle_order }\n',
    },
    found: ['tasks/first.task.yaml:6:27 error task/unknown-tool'],
  },
  {
    name: 'a changed schema in which nothing changes',
    files: {
      'tasks/second.task.yaml':
        'id: b\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: cancel_order, arguments: { order: W2 } }]\nfaults:\n  - { type: changedSchema, tool: cancel_order }\n',
    },
    found: ['tasks/second.task.yaml:6:5 error task/wrong-value'],
  },
  {
    name: 'a time that no timer can wait for',
    files: { 'domain.yaml': 'name: desk\ntoolTimeoutMs: 3000000000\n' },
    found: ['domain.yaml:2:16 error domain/wrong-value'],
  },
  {
    name: 'a text to be said that has no words',
    files: {
      'tasks/first.task.yaml':
        'id: a\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: cancel_order, arguments: { order: W1 } }]\ncommunicate: [" "]\n',
    },
    found: ['tasks/first.task.yaml:5:15 error task/wrong-value'],
  },
  {
    name: 'numbers that a reader of JSON would change',
    files: {
      'database.json': '{"orders": {"W1": {"n": 1e400}, "W2": {"n": 12345678901234567890, "m": 1e22, "k": "1e999"}}}',
    },
    found: ['database.json:1:25 error database/unkept-number', 'database.json:1:45 warning database/unkept-number'],
  },
  {
    name: 'a verifiers.ts that can not be read',
    files: { 'verifiers.ts': new Uint8Array([0xff, 0xfe, 0x61, 0x00]) },
    found: ['verifiers.ts:1:1 error tool/unreadable'],
  },
  {
    name: 'a fault of no known type',
    files: {
      'tasks/first.task.yaml':
        'id: a\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: cancel_order }]\nfaults:\n  - { type: outrage, tool: cancel_order }\n',
    },
    found: ['tasks/first.task.yaml:6:13 error task/wrong-value'],
  },
  {
    name: 'a simulated tool without a model',
    files: { 'tools/guess.tool.yaml': simulated('') },
    found: ['tools/guess.tool.yaml:1:7 warning tool/no-simulator', 'tools/guess.tool.yaml:1:7 info tool/unused'],
  },
  {
    name: 'patterns of a simulated tool that do not run in linear time',
    files: {
      'domain.yaml': simulator,
      'tools/guess.tool.yaml': simulated(
        'parameters:\n  type: object\n  properties:\n    at: { type: string, pattern: "(?=a)b" }\n  required: [at]\nresult: { type: string, pattern: "(a)\\\\1" }\n',
      ),
    },
    found: [
      'tools/guess.tool.yaml:1:7 info tool/unused',
      'tools/guess.tool.yaml:7:34 warning tool/unsupported-pattern',
      'tools/guess.tool.yaml:9:34 warning tool/unsupported-pattern',
    ],
  },
  {
    name: 'a simulated tool with an unknown key, and a file that is not read',
    files: {
      'domain.yaml': simulator,
      'tools/guess.tool.yaml': simulated('efect: write\n'),
      'tools/other.yaml': 'name: x\n',
    },
    found: ['tools/guess.tool.yaml:4:1 error tool/unknown-key', 'tools/other.yaml:1:1 warning tool/ignored-file'],
  },
];

it.each(cases)('$name', ({ files, found }) => {
  expect(shown(load(files))).toEqual(found);
});

it('retries and a cache that cause harm', () => {
  const files = {
    'domain.yaml': simulator,
    'tools/guess.tool.yaml': simulated('effect: write\nretries: 2\ncache: true\n'),
    'tasks/first.task.yaml':
      'id: a\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: guess }]\nassertions: [{ path: orders.W1, exists: true }]\nevaluate: [assertions]\ntrain: [assertions]\n',
    'rules.yaml': null,
    'tools.ts': null,
  };
  expect(shown(load(files, [])).filter((each) => each.startsWith('tools/'))).toEqual([
    'tools/guess.tool.yaml:1:7 error tool/cached-write',
    'tools/guess.tool.yaml:1:7 error tool/unsafe-retry',
  ]);
});

it('the names of tools in Python and of simulated tools are known without running anything', () => {
  const python =
    '@tool(\n    effect="read",\n)\nasync def find_order(db, order: str):\n    ...\n\n\ndef helper():\n    ...\n';
  const loaded = load({
    'domain.yaml': simulator,
    'tools.ts': null,
    'tools.py': python,
    'tools/guess.tool.yaml': simulated(''),
  });
  expect(loaded.toolNames).toEqual(['find_order', 'guess']);
  expect(loaded.locations.tools.get('find_order')).toMatchObject({ line: 4, column: 11 });
  expect(shown(loaded)).toEqual(['tasks/first.task.yaml:8:13 error task/unknown-tool']);
});

it('a changed schema of an argument that the tool does not have', () => {
  const files = {
    'tasks/first.task.yaml':
      'id: a\npersona: plain\nuser: { goal: Go. }\nactions: [{ tool: cancel_order, arguments: { order: W1 } }]\nfaults:\n  - { type: changedSchema, tool: cancel_order, arguments: { oder: number, order: id } }\n',
  };
  const { diagnostics } = load(files, deskTools);
  expect(diagnostics.filter(({ code }) => code === 'task/unknown-argument')).toMatchObject([
    {
      line: 6,
      column: 61,
      message: "cancel_order has no argument oder, so the fault can't rename it.",
      hint: 'Did you mean "order"?',
    },
  ]);
});

/** Declarations of a server, and the place, message and hint of each finding. */
const declarations: readonly (readonly [server: string, ...found: string[]])[] = [
  ['{ url: "http://h/mcp" }'],
  ['{ type: streamable-http, url: "http://h/mcp" }'],
  ['{ type: http, url: "http://h/mcp", headers: { A: b } }'],
  ['{ command: box }'],
  [
    '{ type: sse, url: "http://h/sse?key=1" }',
    '3:16 mcpServers.box.type is "sse": this is the older transport HTTP+SSE, and Rehearsal speaks Streamable HTTP. Use the address of its Streamable HTTP endpoint, or declare a bridge in place of type: and url: command: npx, args: [-y, mcp-remote, http://h/sse, --transport, sse-only].',
  ],
  [
    '{ type: websocket, url: "http://h" }',
    '3:16 mcpServers.box.type is "websocket", but one of http, streamable-http is expected. A running server that speaks Streamable HTTP. Optional if there is a `url`.',
  ],
  ['{ url: "http://h/mcp", hedders: {} }', '3:31 The key hedders is not known here. Did you mean "headers"?'],
  [
    '{ url: "http://h/mcp", args: [x] }',
    '3:31 The key args is not known here. Known here: type, url, headers, state, snapshot, restore, reader, rename, prefix, writes, volatile, sharedState, idempotent, timeoutMs, resetTimeoutOnProgress, maxTotalTimeoutMs, maxResultLength, maxMessageSize, tools.',
  ],
  [
    '{ type: http, command: box }',
    '3:8 url is missing. Write url: address of the server, for example http://127.0.0.1:8000/mcp. `${env:NAME}` and the other placeholders are filled in after the host, percent-encoded.',
    '3:22 The key command is not known here. Known here: type, url, headers, state, snapshot, restore, reader, rename, prefix, writes, volatile, sharedState, idempotent, timeoutMs, resetTimeoutOnProgress, maxTotalTimeoutMs, maxResultLength, maxMessageSize, tools.',
  ],
  ['{ command: box, argss: [x] }', '3:24 The key argss is not known here. Did you mean "args"?'],
];

it.each(declarations)('the MCP server %s', (server, ...found) => {
  const loaded = load({ 'domain.yaml': `name: desk\nmcpServers:\n  box: ${server}\n` });
  const own = loaded.diagnostics.filter(({ file }) => file.endsWith('domain.yaml'));
  expect(own.map(({ line, column, message, hint }) => `${line}:${column} ${message} ${hint}`)).toEqual(found);
  if (found.length === 0 && server.includes('url')) expect(loaded.file.mcpServers['box']?.type).toBe('http');
});

it.each([
  ['reader', 'list_boxs', 'reader: { tool: list_boxs }'],
  ['snapshot', 'list_boxs', 'snapshot: { tool: list_boxs }'],
  ['restore', 'list_boxs', 'restore: { tool: list_boxs, argument: box }'],
])('a %s that its server does not have is found before a rollout', (_key, _tool, line) => {
  const domain = (text: string) =>
    load({ 'domain.yaml': `name: desk\nmcpServers:\n  box:\n    command: box\n    ${text}\n` });
  const listed: Tool = {
    ...(deskTools[1] as Tool),
    name: 'list_boxes',
    source: { type: 'mcp', server: 'box', tool: 'boxes' },
  };
  const found = (text: string) =>
    completeDomain(domain(text), deskTools, [listed]).diagnostics.filter(({ code }) => code === 'domain/unknown-tool');
  expect(found(line)).toMatchObject([{ line: 5, severity: 'error', hint: 'Did you mean "list_boxes"?' }]);
  for (const name of ['list_boxes', 'boxes']) expect(found(line.replace('list_boxs', name))).toEqual([]);
});
