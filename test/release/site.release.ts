import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { sharedBrowser } from '../e2e/support/shared.ts';
import { screenshotFolder } from '../e2e/support/workbench.ts';
import { emptyFolder } from './parts.ts';

/** The documentation site of two versions, served below a path as on GitHub. */
const base = '/rehearsal/';
const checkout = emptyFolder();
const site = join(checkout, 'site');
let server: Server;
let origin: string;

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: checkout });
const build = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/docs.ts', '--out', site, ...args], { cwd: checkout, encoding: 'utf8' });
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
};

beforeAll(async () => {
  const parts = ['docs', 'scripts', 'src', 'package.json'];
  for (const name of parts) cpSync(inRoot(name), join(checkout, name), { recursive: true });
  symlinkSync(inRoot('node_modules'), join(checkout, 'node_modules'));
  git('init', '--quiet');
  git('add', ...parts);
  git('commit', '--quiet', '--message', 'One');
  git('tag', 'v0.0.1');
  git('commit', '--quiet', '--allow-empty', '--message', 'Two');
  const { status, stdout, stderr } = build('--base', base, '--versions');
  expect(status, stdout + stderr).toBe(0);
  server = createServer(({ url = '' }, response) => {
    const path = join(site, decodeURIComponent(new URL(url, 'http://x').pathname.slice(base.length)));
    const file = [path, `${path}.html`, join(path, 'index.html')].find(
      (each) => existsSync(each) && statSync(each).isFile(),
    );
    response.writeHead(url.startsWith(base) && file ? 200 : 404, { 'content-type': types[extname(file ?? '')] ?? '' });
    response.end(file && readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server?.closeAllConnections();
  server?.close();
  rmSync(checkout, { recursive: true, force: true, maxRetries: 5 });
});

/** Opens a page of the site. Collects what could not be loaded. */
async function opened(page: string, colorScheme: 'light' | 'dark' = 'light') {
  const context = await (await sharedBrowser()).newContext({ colorScheme, viewport: { width: 1400, height: 900 } });
  const tab = await context.newPage();
  const missing: string[] = [];
  tab.on('response', (response) => void (response.status() >= 400 && missing.push(response.url())));
  await tab.goto(`${origin}${base}${page}`, { waitUntil: 'networkidle' });
  return { tab, missing, close: () => context.close() };
}

test.each([
  ['light', 'rgb(255, 255, 255)'],
  ['dark', 'rgb(27, 27, 31)'],
] as const)('a page in %s has its pictures', async (colorScheme, background) => {
  const { tab, missing, close } = await opened('tutorial', colorScheme);
  const sizes = await tab.evaluate<readonly number[]>(`Promise.all(
    [...document.querySelectorAll('main img')].map(async (image) => {
      image.loading = 'eager';
      await image.decode();
      return image.naturalWidth;
    }),
  )`);
  expect(sizes.length).toBeGreaterThan(5);
  expect(Math.min(...sizes)).toBeGreaterThan(500);
  expect(await tab.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background);
  const [shown, hidden] = colorScheme === 'light' ? ['.light-only', '.dark-only'] : ['.dark-only', '.light-only'];
  expect(await tab.locator(`main img${shown}`).count()).toBeGreaterThan(0);
  expect(await tab.locator(`main img${hidden}`).filter({ visible: true }).count()).toBe(0);
  mkdirSync(screenshotFolder(), { recursive: true });
  await tab.screenshot({ path: join(screenshotFolder(), `docs-site-${colorScheme}.png`) });
  expect(missing).toEqual([]);
  await close();
});

test('a flag is never in two pieces at a hyphen', async () => {
  const { tab, close } = await opened('evaluation');
  await tab.setViewportSize({ width: 420, height: 900 });
  const flags = tab.locator('main p code, main li code').filter({ hasText: /^--\w+-[\w-]+/ });
  const pieces = await flags.locator('.whole').evaluateAll((all) => all.map((each) => each.getClientRects().length));
  expect(pieces.length).toBeGreaterThan(2);
  expect(new Set(pieces)).toEqual(new Set([1]));
  await tab.screenshot({ path: join(screenshotFolder(), 'docs-site-flags.png'), fullPage: true });
  await close();
});

test('the search finds a page', async () => {
  const { tab, close } = await opened('overview');
  await tab.locator('#local-search button').click();
  await tab.locator('#localsearch-input').fill('approved.txt');
  await tab.locator('#localsearch-list a[href*="security"]').first().click();
  await tab.locator('h1', { hasText: 'Security' }).waitFor();
  await close();
});

test('each version links to the earlier ones', async () => {
  const { tab, missing, close } = await opened('overview');
  await tab.getByRole('button', { name: /^Version \d/ }).hover();
  await tab.getByRole('link', { name: '0.0.1' }).click();
  await tab.waitForURL(`${origin}${base}v0.0.1/overview.html`);
  await tab.locator('h1').waitFor();
  expect(missing).toEqual([]);
  await close();
});

test('a link to a page that does not exist fails the build', () => {
  appendFileSync(join(checkout, 'docs', 'overview.md'), '\n[A page](nothing.md)\n');
  const { status, stdout, stderr } = build();
  expect(status).toBe(1);
  expect(stdout + stderr).toMatch(/dead link/i);
});
