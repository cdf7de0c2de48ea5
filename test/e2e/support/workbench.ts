import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { packageExtension } from '../../../scripts/package.ts';
import { inRoot } from '../../../scripts/repository.ts';
import { launchBrowser } from '../../../scripts/vscode/browser.ts';
import { type Server, startServer } from '../../../scripts/vscode/server.ts';
import { DebugView } from './debugView.ts';
import { until } from './until.ts';

/** How a workbench is opened. */
export type WorkbenchOptions = {
  /** User settings besides the quiet ones. */
  settings?: Record<string, unknown>;
  /** Path of the extension's package; by default the one that `npm run package` makes. */
  vsix?: string;
  /** Environment of the server and so of the extension, besides this process's own. */
  env?: Record<string, string>;
  viewport?: { width: number; height: number };
  /** Asks whether the folder is to be trusted, as VS Code does; otherwise every folder is. */
  workspaceTrust?: boolean;
  /** The folder of an extension that is installed beside the packaged one. */
  beside?: string;
};

const quickInput = '.quick-input-widget:not([style*="display: none"])';
const quickRow = `${quickInput} .quick-input-list .monaco-list-row`;

/**
 * A real VS Code in a headless browser with the packaged extension installed, driven like a person would: keys,
 * clicks and visible text. Each one has its own user-data folder, port and browser; `close` ends all of them.
 */
export class Workbench {
  readonly page: Page;
  readonly debug: DebugView;
  readonly #browser: Browser;
  /** Its own server; a workbench that somebody else serves has none. */
  readonly #server: Server | null;

  private constructor(page: Page, browser: Browser, server: Server | null) {
    this.page = page;
    this.#server = server;
    this.#browser = browser;
    this.debug = new DebugView(this);
  }

  /** Starts VS Code on a folder and resolves when the workbench stands. */
  static async open(folder: string, options: WorkbenchOptions = {}): Promise<Workbench> {
    const vsix = options.vsix ?? process.env.REHEARSAL_VSIX ?? (await packageExtension());
    const {
      settings = {},
      env = {},
      viewport = { width: 1440, height: 900 },
      workspaceTrust = false,
      beside,
    } = options;
    const server = await startServer({
      vsix,
      settings,
      env,
      workspaceTrust,
      ...(beside ? { extensions: [beside] } : {}),
    });
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ viewport });
      const workbench = new Workbench(page, browser, server);
      await workbench.#load(server.address({ folder }));
      return workbench;
    } catch (error) {
      await browser.close();
      await server.stop();
      throw error;
    }
  }

  /** Opens the address of a VS Code that runs already; `close` leaves it running. */
  static async visit(address: string): Promise<Workbench> {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      const workbench = new Workbench(page, browser, null);
      await workbench.#load(address);
      return workbench;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  async #load(address: string): Promise<void> {
    await this.page.goto(address);
    await this.page.locator('.explorer-folders-view .monaco-list-row').first().waitFor({ timeout: 60_000 });
  }

  /** Ends the browser and its own server. */
  async close(): Promise<void> {
    await this.#browser.close();
    await this.#server?.stop();
  }

  /** Ends VS Code as a crash or a power cut does: no process of it can say or save anything. */
  async kill(): Promise<void> {
    await this.#server?.kill();
    await this.#browser.close();
  }

  /** Loads the page again, as a person would; the extension host starts anew. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.page
      .locator('.explorer-folders-view, .monaco-workbench .part.editor')
      .first()
      .waitFor({ timeout: 60_000 });
  }

  /** Presses keys, in VS Code's own order: `Control+Shift+P`. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Opens a file of the folder by its path, with the quick-open box. */
  async openFile(path: string): Promise<void> {
    const name = basename(path);
    await this.chooseFile(path);
    await this.press('Enter');
    await this.page.locator('.tab.active .monaco-icon-label', { hasText: name }).first().waitFor();
    await this.page.locator('.editor-instance .view-line').first().waitFor();
  }

  /** Brings a file of the folder up in the quick-open box; Enter opens it. */
  async chooseFile(path: string): Promise<void> {
    // Files that were open before show at once, but Enter opens the row that has the focus.
    const folder = dirname(path) === '.' ? '' : dirname(path);
    const focused = this.page.locator(`${quickRow}.focused`, { hasText: basename(path) });
    await this.#reopenUntil('Control+P', path, focused.filter({ hasText: folder }).first());
  }

  /** Runs a command by its title from the palette. The list is computed once, so it is opened anew until it shows. */
  async runCommand(title: string): Promise<void> {
    const label = this.page.locator(quickRow).filter({ has: this.page.getByText(title, { exact: true }) });
    await this.#reopenUntil('F1', `>${title}`, label.first(), () => label.first().click({ timeout: 3000 }));
  }

  async #reopenUntil(key: string, text: string, row: Locator, choose = async () => {}): Promise<void> {
    const input = this.page.locator(`${quickInput} input.input`);
    await until(`"${text}" in the list that ${key} opens`, async () => {
      await this.press('Escape', key);
      await input.waitFor({ timeout: 5000 });
      // Whatever takes the focus closes the box again.
      await input.fill(text, { timeout: 3000 });
      await row.waitFor({ timeout: 2500 });
      await choose();
    });
  }

  /** Chooses an item in the context menu of what is found, by a part of its label. */
  async chooseInMenu(of: Locator | (() => Promise<Locator>), item: string): Promise<void> {
    const label = this.page.locator('.monaco-menu .action-label', { hasText: item }).first();
    await until(`"${item}" in the menu`, async () => {
      await this.closeMenu();
      const target = typeof of === 'function' ? await of() : of;
      await target.click({ button: 'right', timeout: 3000 });
      await label.waitFor({ timeout: 3000 });
      // A menu of VS Code takes no click in its first 100 ms.
      await this.page.waitForTimeout(200);
      await label.click({ timeout: 3000 });
      await label.waitFor({ state: 'hidden', timeout: 3000 });
    });
  }

  /** Closes a menu that stayed open and would take every click. */
  async closeMenu(): Promise<void> {
    if (await this.page.locator('.monaco-menu').first().isVisible()) await this.press('Escape');
  }

  /** Chooses an item of the list that is open now, by a part of its label; what it asks next comes in its place. */
  async pick(label: string): Promise<void> {
    const row = this.page.locator(quickRow, { hasText: label }).first();
    await row.click();
    await row.waitFor({ state: 'hidden' });
  }

  /** Shows Rehearsal's own views in the side bar. */
  async showViews(): Promise<void> {
    const domains = this.page.locator('.pane-header[aria-label^="Domains"]');
    // A click on the icon of views that are shown would hide them.
    if (!(await domains.isVisible())) {
      await this.page.locator('.activitybar .action-label[aria-label^="Rehearsal"]').click();
      await domains.waitFor();
    }
    // A mouse that stays would bring up the name of an icon, which covers the views.
    await this.page.mouse.move(900, 450);
  }

  /** The labels of the list that is open now. */
  async picks(): Promise<string[]> {
    await this.page.locator(quickRow).first().waitFor();
    return this.page.locator(quickRow).allInnerTexts();
  }

  /** Answers the input box that is open now; the next one comes in its place once the answer was read. */
  async answer(text: string): Promise<void> {
    const input = this.page.locator(`${quickInput} input.input`);
    const isHeld = async () => (await input.isVisible()) && (await input.inputValue({ timeout: 1000 })) === text;
    await input.waitFor();
    await until('the answer in the box', async () => {
      await input.fill(text);
      // A box that asks where to save writes its own proposal when it has looked at the folder.
      await this.page.waitForTimeout(500);
      if (!(await isHeld())) throw new Error('the box holds something else');
    });
    await until('the answer to be read', async () => {
      // A box that asks for a folder takes no answer while it looks for the folder.
      if (await isHeld()) await this.press('Enter');
      for (let waited = 0; waited < 3000 && (await isHeld()); waited += 100) await this.page.waitForTimeout(100);
      if (await isHeld()) throw new Error('the box still holds it');
    });
  }

  /** Puts the cursor on a line (from 1) of the active editor. */
  async goToLine(line: number): Promise<void> {
    const input = this.page.locator(`${quickInput} input.input`);
    // The box closes when an editor that is still opening takes the focus: it is opened again then.
    await until(`line ${line}`, async () => {
      await this.press('Control+G');
      await input.waitFor({ timeout: 5000 });
      await input.fill(`:${line}`, { timeout: 3000 });
      await this.press('Enter');
      await input.waitFor({ state: 'hidden', timeout: 5000 });
    });
    await this.waitForText('.part.statusbar', `Ln ${line},`);
  }

  /** Replaces a line (from 1) of the active editor, and saves the file unless told otherwise. */
  async replaceLine(line: number, text: string, { save = true } = {}): Promise<void> {
    await this.goToLine(line);
    await this.press('End', 'Shift+Home', 'Shift+Home');
    await this.page.keyboard.insertText(text);
    if (save) await this.save();
  }

  /** Saves the active editor. */
  async save(): Promise<void> {
    await this.press('Control+S');
    await this.page.locator('.tab.active.dirty').waitFor({ state: 'detached' });
  }

  /** The lines of the active editor that are on the screen, from top to bottom. */
  async editorLines(): Promise<string[]> {
    const lines = await this.page
      .locator('.editor-group-container.active .view-lines .view-line')
      .evaluateAll((all) =>
        all.map((line) => ({ top: Number.parseFloat((line as HTMLElement).style.top), text: line.textContent ?? '' })),
      );
    return lines.sort((a, b) => a.top - b.top).map(({ text }) => text.replaceAll('\u00a0', ' '));
  }

  /** Waits until an element shows this text; the message of a failure says what it showed instead. */
  async waitForText(selector: string, text: string | RegExp, timeout = 20_000): Promise<void> {
    const element = this.page.locator(selector);
    const matches = (shown: string) => (typeof text === 'string' ? shown.includes(text) : text.test(shown));
    let shown = '';
    await until(
      `${selector} shows ${text}`,
      async () => {
        shown = (await element.allInnerTexts()).join('\n').replaceAll('\u00a0', ' ');
        if (!matches(shown)) throw new Error(`it shows: ${shown.slice(0, 2000)}`);
      },
      timeout,
    );
  }

  /** The messages of the notifications on the screen. */
  async notifications(): Promise<string[]> {
    return this.page.locator('.notification-toast .notification-list-item-message').allInnerTexts();
  }

  /** Waits for a notification and, where a button is named, presses it. */
  async notification(text: string | RegExp, button?: string): Promise<void> {
    const toast = this.page.locator('.notification-toast', { hasText: text }).first();
    await toast.waitFor({ timeout: 30_000 });
    if (button) await toast.getByRole('button', { name: button }).click();
  }

  /** The document inside the webview that is on the screen; of several, the one that was opened last. */
  webviewFrame(): FrameLocator {
    const webviews = this.page.locator('iframe.webview.ready').filter({ visible: true });
    return webviews.last().contentFrame().frameLocator('iframe#active-frame');
  }

  /** Switches the colour theme, in the theme picker, and waits until the page wears it. */
  async setTheme(theme: 'dark' | 'light' | 'high contrast'): Promise<void> {
    const themes = {
      dark: { label: 'Dark 2026', mark: '.vs-dark' },
      light: { label: 'Light 2026', mark: '.vs' },
      'high contrast': { label: 'Dark High Contrast', mark: '.hc-black' },
    };
    const { label, mark } = themes[theme];
    await this.runCommand('Preferences: Color Theme');
    await this.answer(label);
    await this.page.locator(`.monaco-workbench${mark}`).waitFor();
    await this.page.locator(quickInput).waitFor({ state: 'hidden' });
  }

  /** Writes a picture of the page into the folder REHEARSAL_SCREENSHOTS names (dist/test/screenshots). */
  async screenshot(name: string): Promise<string> {
    const path = join(screenshotFolder(), `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }
}

/** The folder that pictures of a test go into; it is there afterwards. */
export function screenshotFolder(): string {
  const folder = process.env.REHEARSAL_SCREENSHOTS ?? inRoot('dist', 'test', 'screenshots');
  mkdirSync(folder, { recursive: true });
  return folder;
}

export type DomainCopy = {
  readonly folder: string;
  /** The first line (from 1) of a file on which a text stands. */
  lineOf(file: string, text: string): number;
  remove(): void;
};

/** A copy of a sample domain in a temporary folder, so that a test may change it; `remove` deletes it. */
export function copyDomain(name: string): DomainCopy {
  const parent = mkdtempSync(join(tmpdir(), 'rehearsal-domain-'));
  const folder = join(parent, name);
  cpSync(inRoot('domains', name), folder, { recursive: true, filter: (path) => !path.includes('.rehearsal') });
  return {
    folder,
    lineOf: (file, text) => {
      const lines = readFileSync(join(folder, file), 'utf8').split('\n');
      return lines.findIndex((line) => line.includes(text)) + 1;
    },
    remove: () => rmSync(parent, { recursive: true, force: true, maxRetries: 5 }),
  };
}
