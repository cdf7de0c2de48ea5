import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { inRoot } from '../../../../scripts/repository.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { ScratchTools } from '../../../../src/engine/shell/scratchTools.ts';
import { answerMcp } from '../../../../src/engine/shell/tools/mcpServer.ts';
import { approveDomain } from '../../../support/approval.ts';
import { commandLine } from '../../../support/commandLine.ts';
import { bridgeMcp } from '../../../support/mcpBridge.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { inFullSuite, sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const run = promisify(execFile);
const program = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const client = fileURLToPath(new URL('../fixtures/conformanceClient.ts', import.meta.url));
const server = fileURLToPath(new URL('../fixtures/conformanceServer.mjs', import.meta.url));

/** Runs the official conformance tests. Rejects with what they print if they fail. */
async function conformance(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [program, ...args], { cwd: temporaryFolder('conformance') });
  return `${stdout}${stderr}`;
}

/** Runs one scenario. */
async function conforms(...args: readonly string[]): Promise<void> {
  expect(await conformance(...args)).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
}

/** The scenarios that the documentation lists with the reason why they are not for Rehearsal, and the others. */
async function scenarios(side: 'server' | 'client') {
  const listed = [...(await conformance('list', `--${side}`)).matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name ?? '');
  const [, section = ''] = readFileSync(inRoot('docs', 'tools.md'), 'utf8').split('\n### Conformance\n');
  const cells = section.split('\n## ')[0]?.matchAll(/^\| (.*?) *\| *(.*?) *\|/gm) ?? [];
  const patterns = [...cells].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\S+)`/g)].map(([, name]) => name ?? ''),
  );
  const isLeftOut = (name: string) =>
    patterns.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each));
  return { passed: listed.filter((name) => !isLeftOut(name)), leftOut: listed.filter(isLeftOut) };
}

const calls: Readonly<Record<string, string>> = {
  initialize: '',
  tools_call: '[{ tool: add_numbers, arguments: { a: 5, b: 3 } }], ',
  'sse-retry': '[{ tool: test_reconnection }], ',
};

test.each(sampled(['tools_call', 'initialize', 'sse-retry'], 3))('a rollout passes %s', async (scenario) => {
  const task = `user: { goal: You want it done., known: { by: 1 } }
script: [${calls[scenario]}Done.]
communicate: [Done]
evaluate: [communicate]
train: [communicate]
`;
  const domain = mcpDomain('conformance', '  conformance: { type: http, url: "http://127.0.0.1:9" }', task);
  const command = `${process.execPath} ${client} ${domain}`;
  await conforms('client', '--command', command, '--scenario', scenario);
});

inFullSuite('each scenario for clients passes or is documented', async () => {
  expect((await scenarios('client')).passed.toSorted()).toEqual(Object.keys(calls).toSorted());
});

/** A domain with the tools that the scenarios call: some are code of the domain, the others those of an MCP server. */
const servedDomain = () =>
  approveDomain(
    mcpDomain(
      'conformance',
      `  media: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(server)}] }`,
      'user: { goal: You want to see it. }\n',
      {
        'tools.ts': `import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: object }>();
export const test_simple_text = tool({
  description: 'Answers with a text.',
  effect: 'read',
  input: z.object({}),
  run: () => 'This is a simple text response for testing.',
});
export const test_error_handling = tool({
  description: 'Fails.',
  effect: 'read',
  input: z.object({}),
  run: () => {
    throw new ToolError('This tool intentionally returns an error for testing');
  },
});
`,
      },
    ),
  );

/** Serves a domain as `rehearsal mcp` does, and returns the address of a bridge to it. */
const served = (domain: string) => bridgeMcp(process.execPath, [commandLine, 'mcp', domain]);

test.each(
  sampled(
    ['tools-call-mixed-content', 'tools-list', 'tools-call-simple-text', 'tools-call-error', 'json-schema-2020-12'],
    4,
  ),
)('rehearsal mcp passes %s', async (scenario) => {
  await conforms('server', '--url', await served(servedDomain()), '--scenario', scenario);
});

inFullSuite('rehearsal mcp passes all scenarios for servers but those that are documented', async () => {
  const { passed, leftOut } = await scenarios('server');
  expect(passed.length).toBeGreaterThan(10);
  const expected = join(temporaryFolder('expected'), 'failures.yaml');
  writeFileSync(expected, JSON.stringify({ server: leftOut }));
  await conformance('server', '--url', await served(servedDomain()), '--suite', 'all', '--expected-failures', expected);
});

inFullSuite.each(['parcel-desk', 'help-line', 'library-desk', 'order-desk'])(
  'rehearsal mcp passes what is about every server with the tools of %s',
  async (name) => {
    const url = await served(inRoot('domains', name));
    for (const scenario of sampled(['tools-list', 'server-initialize', 'ping'], 2))
      await conforms('server', '--url', url, '--scenario', scenario);
  },
);

test.each(sampled(['tools-call-mixed-content', 'tools-list', 'tools-call-simple-text', 'tools-call-error'], 4))(
  'answerMcp passes %s',
  async (scenario) => {
    const tools = await ScratchTools.open(loadDomain(servedDomain()), { readKey: () => undefined });
    onTestFinished(() => tools.close());
    const http = createServer(async (request, response) => {
      const body = (await request.toArray()).join('');
      await answerMcp(request, response, body === '' ? undefined : JSON.parse(body), tools.shown);
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void http.close());
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    await conforms('server', '--url', url, '--scenario', scenario);
  },
);
