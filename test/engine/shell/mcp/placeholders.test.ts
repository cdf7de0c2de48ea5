import { expect, onTestFinished, test, vi } from 'vitest';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { SharedTools } from '../../../../src/engine/shell/tools/sharedTools.ts';
import { approveDomain } from '../../../support/approval.ts';
import { freePort } from '../../../support/freePort.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { connectTo, rawMcpServer, resultBody, textResult } from '../../../support/rawMcpServer.ts';

const key = 'k3y+planted/0123';

/** A server that answers with the path of the request. */
const echo = () =>
  rawMcpServer({
    reply: ({ id, method, path = '' }) =>
      method === 'tools/call' ? { body: resultBody(id, textResult(path)) } : undefined,
  });
const allowed = (url: string) => ({ ORDERS_KEY: key, REHEARSAL_KEY_ORIGINS: `ORDERS_KEY=${new URL(url).origin}` });

test('a key in the url reaches the server, but results and faults do not show it', async () => {
  const { url } = await echo();
  const source = await connectTo(`${url}?key=\${env:ORDERS_KEY}`, {}, allowed(url));
  expect(await source.call('look', {})).toEqual({ content: '/mcp?key=[ORDERS_KEY]', isError: false });
});

test('a url sends no key to an address that was not allowed', async () => {
  const { url } = await echo();
  const environment = { ORDERS_KEY: key, REHEARSAL_HOME: '/nonexistent' };
  await expect(connectTo(`${url}?key=\${env:ORDERS_KEY}`, {}, environment)).rejects.toThrow(
    `the url of the MCP server "raw" would send ORDERS_KEY to ${new URL(url).origin}`,
  );
});

test.each([
  { name: 'url', more: (url: string) => ({ url: `${url}?key=\${input:key}` }) },
  { name: 'headers', more: () => ({ headers: { Authorization: '${input:key}' } }) },
])('an unknown placeholder in $name is refused before anything is sent', async ({ more }) => {
  const { url, sessions } = await echo();
  await expect(connectTo(url, more(url))).rejects.toMatchObject({
    failure: {
      code: 'mcp/placeholder',
      message: expect.stringMatching(
        /\$\{input:key\} is not a placeholder\. The placeholders are \$\{domainFolder\}, \$\{instanceFolder\}/,
      ),
    },
  });
  expect(sessions.size).toBe(0);
});

test.each([
  ['http://HOST/mcp?key=sk-literal', 'cannot be reached'],
  ['http://user:pass-word@HOST/mcp?key=sk-literal', 'its url has a user name or a password'],
])('a fault shows no key of the url %s', async (url, says) => {
  const host = `127.0.0.1:${await freePort()}`;
  const fault = await connectTo(url.replace('HOST', host)).catch(String);
  expect(fault).toContain(`http://${host}/mcp)`);
  expect(fault).toContain(says);
  expect(fault).not.toMatch(/sk-literal|pass-word/);
});

test('a fault names the placeholder in the path of a url', async () => {
  const url = `http://127.0.0.1:${await freePort()}/\${env:ORDERS_KEY}/mcp`;
  await expect(connectTo(url, {}, allowed(url))).rejects.toThrow(`(${url}): it cannot be reached`);
});

test.each([
  ['SHOP_TOKEN', 'hunter2', 'hunter2', true],
  ['SHOP_TOKEN', 'hunter22', '[SHOP_TOKEN]', false],
  ['SHOP_REGION', 'eu', 'eu', false],
])('%s with the value %s is shown as %s, and a short key is warned of (%s)', async (name, value, shown, isWarned) => {
  vi.stubEnv(name, value);
  const { url } = await echo();
  vi.stubEnv('REHEARSAL_KEY_ORIGINS', `${name}=${new URL(url).origin}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const declared = `${url}?key=\${env:${name}}`;
  const lines: string[] = [];
  const domain = loadDomain(approveDomain(mcpDomain('raw', `  raw: { url: "${declared}" }`, 'user: { goal: Go. }\n')));
  const shared = new SharedTools(domain, (line) => lines.push(line));
  onTestFinished(() => shared.close());
  await shared.describe();
  const source = await connectTo(declared, {}, process.env);
  expect((await source.call('look', {})).content).toBe(`/mcp?key=${shown}`);
  const warning = `MCP server "raw": the value of ${name} has fewer than 8 characters, so results and recordings may show it`;
  expect(lines).toEqual(isWarned ? [expect.stringContaining(warning)] : []);
});
