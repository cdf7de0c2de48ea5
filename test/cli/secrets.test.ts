import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { keptSecret, redacted, redactedValue, without } from '../../src/engine/shell/keys/secrets.ts';
import { signingKey, signingKeyPath } from '../../src/engine/shell/records/ledger.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalWith } from '../support/terminal.ts';

const key = 'sk-planted-0b7e"\\5d';

/** An endpoint that echoes every request header: first in its answers, then in an error. */
async function indiscreet(): Promise<string> {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const said = `You sent ${request.headers.authorization}.`;
      const tool = {
        id: said,
        type: 'function',
        function: { name: 'find_parcel', arguments: JSON.stringify({ parcel: said }) },
      };
      const message = { role: 'assistant', content: said, ...(requests % 2 === 0 ? { tool_calls: [tool] } : {}) };
      const answer = requests++ < 3 ? { id: 'c', choices: [{ index: 0, message }] } : { error: { message: said } };
      response.writeHead(requests <= 3 ? 200 : 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const spellings = [key, JSON.stringify(key).slice(1, -1), JSON.stringify(JSON.stringify(key)).slice(3, -3)];
const leaks = (texts: readonly string[]) =>
  texts.filter((text) => [...spellings, 'planted'].some((spelling) => text.includes(spelling)));

it('a key is in nothing that is written or printed: recordings, sidecars, ledger, reports, errors', async () => {
  const scratch = temporaryFolder('rehearsal');
  const run = join(scratch, 'run');
  const url = await indiscreet();
  const seat = `openai:m@${url}`;
  const environment = { OPENAI_API_KEY: key, OPENAI_BASE_URL: url };
  const call = (...argv: readonly string[]) => rehearsalWith({ ...environment }, ...argv);
  const tasks = ['--tasks', 'reschedule-P68,reschedule-P19', '--concurrency', '1'];
  const played = await call('eval', 'domains/parcel-desk', ...tasks, '--agent', seat, '--judge', seat, '--out', run);
  const page = join(scratch, 'page.html');
  const printed = [
    played,
    await call('report', run, '--html', page),
    await call('report', run, '--json'),
    await call('report', run, '--junit', join(scratch, 'junit.xml')),
    await call('run', 'domains/parcel-desk', 'reschedule-P68', '--user', seat, '--out', join(scratch, 'one'), '--json'),
    await call('verify', run),
  ].flatMap(({ out, err }) => [out, err]);
  const files = readdirSync(scratch, { recursive: true, encoding: 'utf8' })
    .map((name) => join(scratch, name))
    .filter((path) => statSync(path).isFile());
  const kept = files.map((path) => readFileSync(path, 'utf8'));
  expect(files.length).toBeGreaterThan(6);
  expect(kept.filter((text) => text.includes('[OPENAI_API_KEY]')).length).toBeGreaterThan(2);
  expect(leaks([...kept, ...printed])).toEqual([]);
});

it('a value without secrets is given back itself, and one with them keeps its form', () => {
  const plain = { text: 'nothing', list: [1, null] };
  expect(redactedValue(plain)).toBe(plain);
  expect(redactedValue({ list: [{ [`about ${key}`]: key }], n: 1 })).toEqual({
    list: [{ 'about [OPENAI_API_KEY]': '[OPENAI_API_KEY]' }],
    n: 1,
  });
  expect(redacted(`before ${key} after`)).toBe('before [OPENAI_API_KEY] after');
});

it('a secret is recognised in JSON, in an address and in a header', () => {
  const told = keptSecret('TOKEN', 'p\u00e4ss+word/="\\9');
  const forms = [
    JSON.stringify({ told }),
    '{"told": "p\\u00e4ss+word/=\\"\\\\9"}',
    `https://host/?key=${encodeURIComponent(told)}&more`,
    `Basic ${Buffer.from(told).toString('base64')}`,
    ...['', 'u', 'us', 'use'].flatMap((before) =>
      (['base64', 'base64url'] as const).map((encoding) => Buffer.from(`${before}${told}:after`).toString(encoding)),
    ),
    Buffer.from(told).toString('hex'),
    Buffer.from(told).toString('hex').toUpperCase(),
  ];
  for (const form of forms) {
    expect(redacted(form)).toContain('[TOKEN]');
    expect(redactedValue({ list: [form] })).toEqual({ list: [redacted(form)] });
    expect(without([[told, 'TOKEN']])(form)).toBe(redacted(form));
  }
});

it('the signing key is made on first use, for its owner alone, and outside of every workspace', () => {
  const home = temporaryFolder('rehearsal-home');
  const path = signingKeyPath({ REHEARSAL_HOME: home });
  expect(existsSync(path)).toBe(false);
  const { publicKey } = signingKey(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(signingKey(path).publicKey).toBe(publicKey);
  expect(signingKeyPath({}).startsWith(inRoot('.'))).toBe(false);
});

it('no key lies in the repository', () => {
  const found = spawnSync('git', ['grep', '-lI', '-e', 'BEGIN .*PRIVATE KEY'], { cwd: inRoot('.'), encoding: 'utf8' });
  expect(found.stdout.split('\n').filter((file) => file !== '' && file !== 'test/cli/secrets.test.ts')).toEqual([]);
  const names = execFileSync('git', ['ls-files'], { cwd: inRoot('.'), encoding: 'utf8' });
  expect(names.split('\n').filter((name) => /\.pem$|(?:^|\/)\.rehearsal\//.test(name))).toEqual([]);
});
