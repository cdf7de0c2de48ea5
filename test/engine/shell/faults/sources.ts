import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import {
  type Affected,
  domain,
  type FaultRow,
  fresh,
  gated,
  go,
  play,
  refused,
  scored,
  source,
  unscored,
  untouched,
  withoutDatabase,
} from './scene.ts';

const fixture = source('test/engine/shell/fixtures/mcpServer.mjs');
const stdio = (mode: string, command = process.execPath, timeoutMs = 120_000) => `name: chairs
turnCap: 8
mcpServers:
  shop:
    command: ${JSON.stringify(command)}
    args: [${JSON.stringify(fixture)}, ${mode}]
    timeoutMs: ${timeoutMs}
`;

const mcp = (fault: string, injected: string, tool: string, sees: RegExp, yaml: () => string): FaultRow => ({
  fault: `an MCP server that ${fault}`,
  injected,
  sees,
  kept: String(sees).includes('ended') ? unscored : scored,
  inject: () => play(domain([tool], { 'domain.yaml': yaml() })),
});

/** A server that is broken only in the process of the affected rollout. */
const secondProcess = (fault: string, injected: string, mode: 'changed' | 'flaky'): FaultRow => ({
  fault,
  injected,
  sees: /^ended: /,
  kept: unscored,
  inject: () =>
    play(domain(['state'], { 'domain.yaml': stdio(`${mode}, ${JSON.stringify(fresh())}`) }), {
      order: 'affected first',
    }),
});

const start = (fault: string, injected: string, changes: () => Readonly<Record<string, string | null>>): FaultRow => ({
  fault,
  injected,
  sees: /^rehearsal eval: /,
  kept: untouched,
  inject: () => refused(domain([], changes())),
});

/** Runs an HTTP server for one rollout in a separate process. */
async function http(
  mode: 'good' | 'json',
  act: (url: string, server: ChildProcess) => Promise<Affected>,
): Promise<Affected> {
  const program = source('test/engine/shell/fixtures/httpMcpServer.mjs');
  const server = spawn(process.execPath, [program, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await new Promise<string>((resolve) => {
      if (server.stdout)
        createInterface({ input: server.stdout }).once('line', (line) =>
          resolve((JSON.parse(line) as { url: string }).url),
        );
    });
    return await act(url, server);
  } finally {
    server.kill('SIGKILL');
  }
}

type OverHttp = {
  readonly mode?: 'good' | 'json';
  /** The declaration of the server's state. */
  readonly state?: string;
  readonly sees?: RegExp;
  readonly onEvent?: (type: string, server: ChildProcess, folder: string) => void;
};
const overHttp = (
  fault: string,
  injected: string,
  calls: readonly string[],
  { mode = 'good', state = 'state: replay', sees = /^ended: /, onEvent = () => undefined }: OverHttp = {},
): FaultRow => ({
  fault: `an MCP server over HTTP that ${fault}`,
  injected,
  sees,
  kept: String(sees).includes('ended') ? unscored : scored,
  inject: () =>
    http(mode, (url, server) => {
      const yaml = `name: chairs\nmcpServers:\n  shop:\n    type: http\n    url: ${url}\n    timeoutMs: 120000\n    ${state}\n`;
      const folder = domain(calls, { 'domain.yaml': yaml, 'tools.ts': gated });
      return play(folder, { order: 'spared first', onEvent: (type) => onEvent(type, server, folder) });
    }),
});

export const servers: readonly FaultRow[] = [
  mcp('dies in a call', 'the tool ends its process', 'die', /^ended: /, () => stdio('good')),
  mcp(
    'hangs',
    'the tool never answers, and its time-out is 0.5 s',
    'sleep',
    /^ended: /,
    () => `${stdio('good')}    tools: { sleep: { timeoutMs: 500 } }\n`,
  ),
  mcp('prints rubbish in a call', 'the tool prints a line beside its answer', 'chatter', /^result +found/, () =>
    stdio('good'),
  ),
  secondProcess(
    'an MCP server that changed its schema',
    'the process of the one rollout lists another schema than the one that was asked first',
    'changed',
  ),
  start('an MCP server that prints rubbish at its start', 'a program that is not an MCP server', () => ({
    'domain.yaml': stdio('rubbish', undefined, 3000),
  })),
  start('an MCP server that never starts to answer', 'a program that says nothing; the time-out is 0.5 s', () => ({
    'domain.yaml': stdio('mute', undefined, 500),
  })),
  start('an MCP server that does not exist', 'a command that is not there', () => ({
    'domain.yaml': stdio('good', 'no-such-program'),
  })),
  secondProcess(
    'an MCP server that starts for one rollout and not for another',
    'the process of the one rollout ends at its start with exit code 9',
    'flaky',
  ),
  overHttp('forgets the session', 'the server answers 404 after it forgot all sessions', ['forget', 'state'], {
    state: 'writes: [forget]',
  }),
  overHttp('forgets a session that can be made again', 'the same, with `state: replay`', ['forget', 'state'], {
    sees: /^result +\{"count":0\}/,
  }),
  overHttp('cuts its event stream', 'the server breaks the connection in the answer', ['cut']),
  overHttp('dies in a call', 'the tool ends the process of the server', ['die'], { mode: 'json' }),
  overHttp('is gone between two calls', 'SIGKILL in a call', ['wait', 'state'], {
    mode: 'json',
    onEvent: (type, server, folder) => {
      if (type === 'toolReturned' && server.kill('SIGKILL')) server.once('exit', () => go(folder));
    },
  }),
];

const simulated = `name: ship
description: Ship a chair.
effect: write
parameters: { type: object, properties: {}, additionalProperties: false }
result: { type: object, properties: { tracking: { type: string } }, required: [tracking], additionalProperties: false }
behaviour: It is shipped.
reads: [chairs]
writes: ["chairs.A1.colour"]
`;

/** A simulated tool whose model always gives this answer. */
const simulator = (fault: string, injected: string, answer: string): FaultRow => ({
  fault: `a simulated tool ${fault}`,
  injected,
  sees: /^ended: /,
  kept: unscored,
  inject: async () => {
    const message = { role: 'assistant', content: answer };
    const body = { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices: [{ index: 0, message }] };
    const server = createServer((request, response) => {
      request
        .resume()
        .on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    try {
      const yaml = `name: chairs\nturnCap: 8\nsimulator: openai:m@${url}\n`;
      const files = { 'domain.yaml': yaml, 'tools/ship.tool.yaml': simulated };
      return await play(domain(['ship'], files, withoutDatabase));
    } finally {
      server.close();
    }
  },
});

export const simulatedTools: readonly FaultRow[] = [
  simulator(
    'that answers outside its schema',
    'its model answers with another field, always',
    '{"result": {"number": 7}}',
  ),
  simulator(
    'that writes what it may not',
    'its model answers with a patch of another row, always',
    '{"result": {"tracking": "T1"}, "writes": [{"op": "add", "path": "/chairs/B2", "value": {}}]}',
  ),
  simulator('whose model answers in prose', 'its model answers with a sentence, always', 'Sure! It is shipped.'),
];

/** A tool in Python with this body. */
const python = (fault: string, injected: string, body: string, sees: RegExp): FaultRow => ({
  fault: `a tool in Python that ${fault}`,
  injected,
  sees,
  kept: String(sees).includes('ended') ? unscored : scored,
  inject: () =>
    play(
      domain(['broken'], {
        'tools.py': `import os, sys, time\nfrom rehearsal import tool\n\n@tool(effect="read", timeout_ms=500)\ndef broken() -> str:\n    """Breaks."""\n    ${body}\n    return "ok"\n`,
      }),
    ),
});

export const pythonTools: readonly FaultRow[] = [
  start('a missing Python', 'an interpreter that is not there', () => ({
    'domain.yaml': 'name: chairs\npython: /nowhere/python3\n',
    'tools.py': '# No tools.\n',
  })),
  start('a syntax error in tools.py', 'a file with half a definition', () => ({
    'tools.py': 'from rehearsal import tool\ndef broken(:\n',
  })),
  python('raises', 'an exception in the tool', 'raise ValueError("it broke")', /^error /),
  python('calls sys.exit', 'sys.exit(3) in the tool', 'sys.exit(3)', /^error /),
  python('ends its process', 'os._exit(7) in the tool', 'os._exit(7)', /^ended: /),
  python('prints rubbish', 'a print in the tool', 'print("{}")', /^result +ok/),
  python(
    'writes into the channel',
    'the tool writes to every open file',
    'for n in range(3, 9):\n        try: os.write(n, b"rubbish\\n")\n        except OSError: pass',
    /^ended: /,
  ),
  python('hangs', 'the tool sleeps, and its time-out is 0.5 s', 'time.sleep(60)', /^ended: /),
];
