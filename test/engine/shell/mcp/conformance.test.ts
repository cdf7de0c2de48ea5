import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type Media, mediaText } from '../../../../src/engine/core/media.ts';
import { answerMcp, type ShownResult, type ShownTools } from '../../../../src/engine/shell/mcpServer.ts';
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

const png = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const wav = { mimeType: 'audio/wav', data: 'UklGRg==' };
const json = { mimeType: 'application/json', data: 'e30=' };

/** The result of a tool with one text, or with media in place of it. */
const result = (content: string, media: readonly Media[] = []) => ({
  content: [content, ...media.map(mediaText)].join('\n'),
  isError: false,
  media,
});
const results: Readonly<Record<string, ShownResult>> = {
  test_simple_text: result('This is a simple text response for testing.'),
  test_error_handling: { ...result('This tool intentionally returns an error for testing'), isError: true },
  test_image_content: result('A picture:', [png]),
  test_audio_content: result('A sound:', [wav]),
  test_embedded_resource: result('A file:', [json]),
  test_multiple_content_types: result('Multiple content types test:', [png, json]),
};
const shown: ShownTools = {
  tools: Object.keys(results).map((name) => ({ name, description: 'Answers.', parameters: { type: 'object' } })),
  instructions: '',
  call: async (name) => results[name] ?? { content: `There is no tool ${name}.`, isError: true },
};

const ofTools = ['tools-list', 'tools-call-simple-text', 'tools-call-error', 'tools-call-mixed-content'];
const ofMedia = ['tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource'];

// The others are about resources, prompts, logging, sampling and elicitation, which no domain serves.
test.each([...ofTools, ...sampled(['server-initialize', 'ping', ...ofMedia], 5)])(
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
