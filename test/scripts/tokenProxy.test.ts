import { rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTokenProxy, type TokenProxy } from '../../scripts/vscode/tokenProxy.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('token-proxy');
const socketPath = join(folder, 'behind.sock');
let behind: Server;
let proxy: TokenProxy;

beforeAll(async () => {
  behind = createServer((asked, answer) => {
    answer.writeHead(201, { 'X-Behind': 'yes' });
    answer.write(`${asked.method} ${asked.url} `);
    asked.pipe(answer);
  });
  behind.on('upgrade', (_asked, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
    socket.pipe(socket);
  });
  await new Promise<void>((done) => behind.listen(socketPath, done));
  proxy = await startTokenProxy(socketPath);
});

afterAll(async () => {
  await proxy.close();
  behind.close();
  rmSync(folder, { recursive: true, force: true });
});

const origin = () => `http://127.0.0.1:${proxy.port}`;
const visit = (path: string, cookie = '', body?: string) =>
  fetch(`${origin()}${path}`, {
    headers: { cookie },
    redirect: 'manual',
    ...(body === undefined ? {} : { method: 'POST', body }),
  });

/** Returns the cookie that the printed address sets. */
async function cookie(): Promise<string> {
  const { headers } = await fetch(proxy.address({ folder: '/some where' }), { redirect: 'manual' });
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

test.each([
  ['nothing', '/', ''],
  ['a guess', '/?tkn=guess', ''],
  ['the cookie of another port', '/', 'rehearsal-tkn-1=x'],
  ['a cookie that was guessed', '/static/secret.js', 'guess'],
])('a request with %s is refused', async (_name, path, given) => {
  const guess = given === 'guess' ? `rehearsal-tkn-${proxy.port}=guess` : given;
  const answer = await visit(path, guess);
  expect([answer.status, answer.headers.get('x-behind')]).toEqual([403, null]);
});

test('the address with the token gives a cookie and leads to the page without it', async () => {
  const answer = await fetch(proxy.address({ folder: '/some where' }), { redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/?folder=%2Fsome+where']);
  expect(answer.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
  expect(await answer.text()).not.toContain(proxy.token);
});

test('with the cookie requests are passed on with their body, and answers with their status', async () => {
  const answer = await visit('/a?b=1', await cookie(), 'hello');
  expect([answer.status, answer.headers.get('x-behind'), await answer.text()]).toEqual([
    201,
    'yes',
    'POST /a?b=1 hello',
  ]);
});

test('a web socket needs the cookie, too', async () => {
  const upgrade = (given: string) =>
    new Promise<string>((done, failed) => {
      const headers = { Connection: 'Upgrade', Upgrade: 'echo', cookie: given };
      const asked = request(`${origin()}/socket`, { headers });
      asked.on('response', ({ statusCode }) => done(`refused ${statusCode}`));
      asked.on('upgrade', (_answer, socket) => {
        socket.once('data', (data: Buffer) => {
          done(`echo ${data}`);
          socket.destroy();
        });
        socket.write('hello');
      });
      asked.on('error', failed);
      asked.end();
    });
  expect(await upgrade('')).toBe('refused 403');
  expect(await upgrade(await cookie())).toBe('echo hello');
});

test('a port that is taken is an error', async () => {
  await expect(startTokenProxy(socketPath, proxy.port)).rejects.toThrow(
    `Port ${proxy.port} could not be opened: listen EADDRINUSE`,
  );
});
