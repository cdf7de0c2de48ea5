import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { lendAddress } from '../../../../src/engine/shell/models/lentAddress.ts';
import { isLocalRequest, isSameToken } from '../../../../src/engine/shell/processes/loopback.ts';

test('tokens of any length are compared', () => {
  expect([
    isSameToken('abc', 'abc'),
    isSameToken('abc', 'abd'),
    isSameToken('', 'abc'),
    isSameToken('abcd', 'abc'),
  ]).toEqual([true, false, false, false]);
});

test('a page in a browser does not count as a program of this machine', () => {
  const local = ['127.0.0.1:8000', 'localhost', 'LOCALHOST:1', '[::1]:80'];
  expect(local.filter((host) => !isLocalRequest({ host }))).toEqual([]);
  const foreign = ['', 'evil.test', '127.0.0.1.evil.test:80', 'evil.test#127.0.0.1', '10.0.0.1', 'localhost.evil.test'];
  expect(foreign.filter((host) => isLocalRequest({ host }))).toEqual([]);
  expect(isLocalRequest({ host: '127.0.0.1:8000', origin: 'http://127.0.0.1:8000' })).toBe(false);
});

test('the address that is lent to an agent answers no page, whatever key it sends', async () => {
  const lent = await lendAddress({ modelName: 'm', complete: null, tools: [] } as unknown as Parameters<
    typeof lendAddress
  >[0]);
  onTestFinished(lent.close);
  const { base_url, api_key } = lent.loan;
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = { headers: { authorization: `Bearer ${api_key}`, ...headers } };
      request(`${base_url}/models`, asked, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  expect(await status({})).toBe(200);
  expect(await status({ host: 'rebound.test' })).toBe(403);
  expect(await status({ origin: 'http://evil.test' })).toBe(403);
  expect(await status({ authorization: 'Bearer wrong' })).toBe(401);
});
