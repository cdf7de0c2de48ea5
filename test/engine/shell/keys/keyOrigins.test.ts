import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { boundFetch } from '../../../../src/engine/shell/keys/boundFetch.ts';
import { allowKeys, keyDecision, rememberKey } from '../../../../src/engine/shell/keys/keyOrigins.ts';
import { parseSeat } from '../../../../src/engine/shell/models/parseSeat.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal, rehearsalWith } from '../../../support/terminal.ts';

// Law: a key is sent only to the origin that it belongs to, or that a person allowed.

const key = 'sk-planted-0b7e5d44';
const home = () => temporaryFolder('rehearsal-keys');
const elsewhere = 'http://elsewhere.test:8000/v1';
const decided = (environment: NodeJS.ProcessEnv, url = elsewhere, name = 'OPENAI_API_KEY') =>
  keyDecision({ name, url, namedBy: 'launch.json' }, { REHEARSAL_HOME: home(), ...environment });

type Heard = { readonly url: string | undefined; readonly headers: IncomingHttpHeaders };

/** Starts a server that keeps the requests it receives and answers with one status and these headers. */
async function listening(status: number, headers: (path: string | undefined) => Record<string, string> = () => ({})) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    heard.push({ url: request.url, headers: request.headers });
    const more = headers(request.url);
    request.resume().on('end', () => response.writeHead(more['location'] ? status : 200, more).end('{}'));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

test('a key goes to its provider, and to the address that its own environment names', () => {
  const set = { OPENAI_API_KEY: key };
  expect(decided(set, 'https://api.openai.com/v1').type).toBe('send');
  expect(decided({ ...set, OPENAI_BASE_URL: elsewhere }).type).toBe('send');
  expect(decided({}).type).toBe('send');
  expect(decided({ ANTHROPIC_API_KEY: key }, 'https://api.anthropic.com', 'ANTHROPIC_API_KEY').type).toBe('send');
});

test('any other address is asked for, and both origins are named', () => {
  const question = { type: 'ask', name: 'OPENAI_API_KEY', origin: 'http://elsewhere.test:8000' };
  expect(decided({ OPENAI_API_KEY: key })).toEqual({ ...question, home: 'https://api.openai.com' });
  // A base URL from a workspace has no effect if the editor passes the allowed origins.
  const workspace = { OPENAI_API_KEY: key, OPENAI_BASE_URL: elsewhere, REHEARSAL_KEY_ORIGINS: '' };
  expect(decided(workspace)).toMatchObject({ type: 'ask' });
  expect(decided({ OPENAI_API_KEY: key }, 'https://api.openai.com.elsewhere.test/v1').type).toBe('ask');
  expect(decided({ OPENAI_API_KEY: key }, 'http://api.openai.com/v1').type).toBe('ask');
  expect(decided({ SHOP_TOKEN: key }, elsewhere, 'SHOP_TOKEN')).toMatchObject({ type: 'ask', home: null });
});

test('a token of the product, and an address without http, are refused', () => {
  expect(decided({ REHEARSAL_EDITOR_TOKEN: key }, elsewhere, 'REHEARSAL_EDITOR_TOKEN').type).toBe('refuse');
  expect(decided({ OPENAI_API_KEY: key }, 'file:///etc/passwd').type).toBe('refuse');
});

test('a consent holds for one name and one origin', () => {
  const environment: NodeJS.ProcessEnv = { OPENAI_API_KEY: key, SHOP_TOKEN: key, REHEARSAL_HOME: home() };
  const now = (url: string, name = 'OPENAI_API_KEY') =>
    keyDecision({ name, url, namedBy: '--agent' }, environment).type;
  rememberKey('OPENAI_API_KEY', 'http://elsewhere.test:8000', environment);
  expect([now(elsewhere), now('http://elsewhere.test:8001'), now(elsewhere, 'SHOP_TOKEN')]).toEqual([
    'send',
    'ask',
    'ask',
  ]);
  allowKeys(['SHOP_TOKEN=http://elsewhere.test:8000/any/path'], environment);
  expect(now(elsewhere, 'SHOP_TOKEN')).toBe('send');
  expect(() => allowKeys(['SHOP_TOKEN'], environment)).toThrow('--allow-key is NAME=ORIGIN');
  const based: NodeJS.ProcessEnv = { OPENAI_API_KEY: key, OPENAI_BASE_URL: elsewhere, REHEARSAL_HOME: home() };
  allowKeys(['OPENAI_API_KEY=http://other.test'], based);
  expect(keyDecision({ name: 'OPENAI_API_KEY', url: elsewhere, namedBy: 'x' }, based).type).toBe('send');
});

test('a seat that would send the key elsewhere is refused by name, whether a person or a domain sets it', () => {
  const environment = { OPENAI_API_KEY: key, REHEARSAL_HOME: home() };
  const told = 'Allow that with --allow-key OPENAI_API_KEY=http://elsewhere.test:8000, or unset OPENAI_API_KEY';
  expect(() => parseSeat(`openai:m@${elsewhere}`, 'agent', 'person', environment)).toThrow(told);
  // A domain's address never gets the key, and so needs no consent.
  expect(parseSeat(`openai:m@${elsewhere}`, 'agent', 'domain', environment)).toMatchObject({ keyName: null });
  const workspace = { ...environment, OPENAI_BASE_URL: elsewhere, REHEARSAL_KEY_ORIGINS: '' };
  expect(() => parseSeat('openai:m', 'user', 'domain', workspace)).toThrow(told);
});

test('without a terminal the command line exits with 2, names the flag and sends nothing; with the flag it sends', async () => {
  const { origin, heard } = await listening(200);
  const environment = { OPENAI_API_KEY: key };
  const argv = ['run', 'domains/parcel-desk', 'reschedule-P68', '--agent', `openai:m@${origin}/v1`, '--json'];
  const out = ['--out', join(home(), 'run')];
  const refused = await rehearsalWith(environment, ...argv, ...out);
  expect(refused.code).toBe(2);
  expect(JSON.parse(refused.out)).toMatchObject({
    error: { code: 'key/origin', key: { name: 'OPENAI_API_KEY', origin, home: 'https://api.openai.com' } },
  });
  expect(refused.out).toContain(`--allow-key OPENAI_API_KEY=${origin}`);
  expect(heard).toEqual([]);
  await rehearsalWith({ ...environment }, ...argv, ...out, '--allow-key', `OPENAI_API_KEY=${origin}`);
  expect(heard[0]?.headers.authorization).toBe(`Bearer ${key}`);
});

test.each([301, 302, 303, 307, 308])('a redirect to another origin (%i) is not followed', async (status) => {
  const other = await listening(200);
  const { origin } = await listening(status, () => ({ location: `${other.origin}/stolen` }));
  for (const method of ['GET', 'POST']) {
    const body = method === 'POST' ? { body: '{}' } : {};
    const answer = await boundFetch(`${origin}/mcp`, { method, headers: { 'x-api-key': key }, ...body });
    expect(answer.status).toBe(status);
  }
  expect(other.heard).toEqual([]);
});

test('a redirect within an origin is followed with its method and body, and not without end', async () => {
  const { origin, heard } = await listening(
    307,
    (path): Record<string, string> =>
      path === '/mcp' ? { location: '/mcp/' } : path === '/loop' ? { location: '/loop' } : {},
  );
  const answer = await boundFetch(`${origin}/mcp`, { method: 'POST', headers: { 'x-api-key': key }, body: '{}' });
  expect(answer.status).toBe(200);
  expect(heard.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
    ['/mcp', key],
    ['/mcp/', key],
  ]);
  expect((await boundFetch(`${origin}/loop`)).status).toBe(307);
});

test('a key in the query of an address is neither shown nor recorded', async () => {
  const run = join(temporaryFolder('query'), 'run');
  const agent = 'openai:m@http://127.0.0.1:9/v1?key=planted-in-query&api-version=2024-10-21';
  const { out, err } = await rehearsal('run', 'domains/parcel-desk', 'reschedule-P46', '--agent', agent, '--out', run);
  const recording = readFileSync(join(run, 'reschedule-P46.0.traj.jsonl'), 'utf8');
  expect(`${out}${err}${recording}`).not.toContain('planted-in-query');
  expect(recording).toContain('?key=[key of the address]&api-version=2024-10-21');
});
