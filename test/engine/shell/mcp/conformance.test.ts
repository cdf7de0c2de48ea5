import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { answerMcp, type ShownTools } from '../../../../src/engine/shell/mcpServer.ts';
import { sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const run = promisify(execFile);
const program = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const client = fileURLToPath(new URL('../fixtures/conformanceClient.ts', import.meta.url));

/** Runs a scenario of the official conformance tests. Rejects with what they print if one of their checks fails. */
async function conforms(...args: readonly string[]): Promise<void> {
  const cwd = temporaryFolder('conformance');
  const { stdout, stderr } = await run(process.execPath, [program, ...args], { cwd });
  expect(`${stdout}${stderr}`).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
}

// The scenarios that need OAuth or elicitation are about what is not supported.
test.each(sampled(['tools_call', 'initialize', 'sse-retry'], 3))('the client passes %s', async (scenario) => {
  await conforms('client', '--command', `${process.execPath} ${client}`, '--scenario', scenario);
});

const texts: Readonly<Record<string, string>> = {
  test_simple_text: 'This is a simple text response for testing.',
  test_error_handling: 'This tool intentionally returns an error for testing',
};
const shown: ShownTools = {
  tools: Object.keys(texts).map((name) => ({ name, description: 'Answers.', parameters: { type: 'object' } })),
  instructions: '',
  call: async (name) => ({ content: texts[name] ?? '', isError: name === 'test_error_handling' }),
};

// The others are about resources, prompts and logging, which no domain serves, and about media, which media.test.ts covers.
test.each(sampled(['tools-call-simple-text', 'server-initialize', 'ping', 'tools-list', 'tools-call-error'], 5))(
  'the server passes %s',
  async (scenario) => {
    const http = createServer(async (request, response) => {
      const body = (await request.toArray()).join('');
      await answerMcp(request, response, body === '' ? undefined : JSON.parse(body), shown);
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void http.close());
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    await conforms('server', '--url', url, '--scenario', scenario);
  },
);
