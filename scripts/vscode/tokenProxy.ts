import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Failure } from '../terminal.ts';

/** A proxy on a loopback port that answers only requests with its token. */
export type TokenProxy = {
  port: number;
  token: string;
  /** Returns the address of a page with the token. Opening it gives the browser the cookie that later requests need. */
  address(query: Record<string, string>): string;
  close(): Promise<void>;
};

/**
 * Starts a proxy before a server that listens on a socket file. Every request and every web socket needs the token: as
 * `tkn` in the address of the first page, as a cookie afterwards. Throws a `Failure` if the port cannot be opened.
 * @param port 0 takes a free one
 */
export async function startTokenProxy(socketPath: string, port = 0): Promise<TokenProxy> {
  const token = randomBytes(24).toString('base64url');
  const open = new Set<Duplex>();
  let cookie = '';
  const isAuthorized = ({ headers }: IncomingMessage) =>
    (headers.cookie ?? '').split(/;\s*/).some((pair) => isSame(pair, `${cookie}=${token}`));
  const server = createServer((asked, answer) => {
    const url = new URL(asked.url ?? '/', 'http://127.0.0.1');
    if (isSame(url.searchParams.get('tkn') ?? '', token)) {
      url.searchParams.delete('tkn');
      const key = `${cookie}=${token}; Path=/; HttpOnly; SameSite=Lax`;
      answer.writeHead(302, { 'Set-Cookie': key, Location: `${url.pathname}${url.search}` }).end();
    } else if (isAuthorized(asked)) forward(socketPath, asked, answer);
    else answer.writeHead(403, { 'Content-Type': 'text/plain' }).end('Open the whole address that was printed.\n');
  });
  server.on('upgrade', (asked: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isAuthorized(asked)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
      return;
    }
    const behind = connect(socketPath);
    for (const each of [socket, behind]) {
      open.add(each);
      each.once('close', () => open.delete(each));
    }
    forwardSocket(asked, head, socket, behind);
  });
  await new Promise<void>((done, failed) => {
    server.once('error', ({ message }) => failed(new Failure(`Port ${port} could not be opened: ${message}`)));
    server.listen(port, '127.0.0.1', done);
  });
  const taken = (server.address() as AddressInfo).port;
  // Cookies are shared by all ports of one address.
  cookie = `rehearsal-tkn-${taken}`;
  return {
    port: taken,
    token,
    address: (query) => `http://127.0.0.1:${taken}/?${new URLSearchParams({ ...query, tkn: token })}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
        for (const each of open) each.destroy();
      }),
  };
}

function isSame(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function forward(socketPath: string, asked: IncomingMessage, answer: ServerResponse): void {
  const { method, url: path, headers } = asked;
  const behind = request({ socketPath, method, path, headers }, (given) => {
    answer.writeHead(given.statusCode ?? 502, given.headers);
    given.pipe(answer);
  });
  behind.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
  answer.on('close', () => behind.destroy());
  asked.pipe(behind);
}

/** Connects a web socket to the server, with the request as it came. */
function forwardSocket(asked: IncomingMessage, head: Buffer, socket: Duplex, behind: Socket): void {
  const lines = [`${asked.method} ${asked.url} HTTP/1.1`];
  for (let at = 0; at < asked.rawHeaders.length; at += 2) {
    lines.push(`${asked.rawHeaders[at]}: ${asked.rawHeaders[at + 1]}`);
  }
  behind.write(`${lines.join('\r\n')}\r\n\r\n`);
  behind.write(head);
  for (const [from, to] of [
    [socket, behind],
    [behind, socket],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
