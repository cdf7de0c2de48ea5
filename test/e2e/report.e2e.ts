import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';
import { sharedBrowser } from './support/shared.ts';

let browser: Browser;
let html: string;

beforeAll(async () => {
  browser = await sharedBrowser();
  const run = join(temporaryFolder('rehearsal-report'), 'run');
  // Some tasks need more turns than the cap allows, so that the report has failures to show.
  const options = ['--agent', 'gold', '--trials', '3', '--turn-cap', '7', '--out', run];
  await rehearsal('eval', 'domains/order-desk', ...options);
  await rehearsal('report', run, '--html', `${run}.html`);
  html = readFileSync(`${run}.html`, 'utf8');
});

test.each(
  sampled(
    [
      ['light', 1000],
      ['dark', 1000],
      ['light', 380],
    ] as const,
    3,
  ),
)('the page of a run is accessible, asks for nothing and fits: %s, %d wide', async (colorScheme, width) => {
  const page = await browser.newPage({ viewport: { width, height: 1400 }, colorScheme });
  const asked: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.setContent(html);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
  expect(violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`)).toEqual([]);
  expect(await page.locator('figure svg').count()).toBe(5);
  expect(await page.locator('figure figcaption').count()).toBe(5);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll<SVGTextElement>('figure svg text')]
      .filter((text) => {
        const [own, whole] = [text, text.ownerSVGElement ?? text].map((each) => each.getBoundingClientRect());
        return own && whole && (own.left < whole.left || own.right > whole.right);
      })
      .map((text) => text.textContent),
  );
  expect(cut).toEqual([]);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  expect([asked, errors]).toEqual([[], []]);
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(background).toBe(colorScheme === 'dark' ? 'rgb(27, 31, 36)' : 'rgb(255, 255, 255)');
  const picture = process.env['REHEARSAL_PICTURES'];
  if (picture) await page.screenshot({ path: join(picture, `report-${colorScheme}-${width}.png`), fullPage: true });
  await page.close();
});
