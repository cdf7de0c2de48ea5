import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { inRoot } from '../../../scripts/repository.ts';
import { launchBrowser } from '../../../scripts/vscode/browser.ts';
import { type Server, startServer } from '../../../scripts/vscode/server.ts';
import { testSettings } from '../../../scripts/vscode/testSettings.ts';
import { DebugView } from './debugView.ts';
import { sharedBrowser, sharedServer } from './shared.ts';
import { limit, until } from './until.ts';

/** Options to open a workbench with. */
export type WorkbenchOptions = {
  /** User settings besides those of all tests. */
  settings?: Record<string, unknown>;
  /** Path of the extension's package; by default the one that REHEARSAL_VSIX names. */
  vsix?: string;
  /** Environment of the server and so of the extension, besides this process's own. */
  env?: Record<string, string>;
  viewport?: { width: number; height: number };
  /** Asks whether the folder is to be trusted, as VS Code does; otherwise every folder is. */
  workspaceTrust?: boolean;
  /** The folder of an extension that is installed beside the packaged one. */
  beside?: string;
};

/**
 * Lets clicks pass through the notifications, which cover the lower right of the window. Their buttons are pressed with
 * the keyboard.
 */
const notificationStyle = '.notifications-toasts, .notifications-toasts * { pointer-events: none !important; }';

const quickInput = '.quick-input-widget:not([style*="display: none"])';
const quickRow = `${quickInput} .quick-input-list .monaco-list-row`;

/**
 * A real VS Code in a headless browser with the packaged extension installed, driven like a person would: keys,
 * clicks and visible text. Each one has its own browser context; the workbenches of a process share the browser and,
 * unless their options differ in what a server fixes at its start, the server.
 */
export class Workbench {
  readonly page: Page;
  readonly debug: DebugView;
  readonly #server: Server | null;
  /** Server and browser end with this workbench. */
  readonly #isOwner: boolean;
  readonly #extensionHosts: readonly number[];

  private constructor(page: Page, server: Server | null, isOwner: boolean) {
    this.page = page;
    this.#server = server;
    this.#isOwner = isOwner;
    this.#extensionHosts = server?.extensionHosts() ?? [];
    this.debug = new DebugView(this);
  }

  /** Opens VS Code on a folder, or on a file of a workspace, and resolves when the workbench is shown. */
  static async open(folder: string, options: WorkbenchOptions = {}): Promise<Workbench> {
    const { env, viewport, workspaceTrust, beside, vsix } = options;
    const settings = { ...testSettings, ...options.settings };
    const isOwner = Boolean(env ?? workspaceTrust ?? beside ?? vsix);
    const packaged = vsix ?? process.env.REHEARSAL_VSIX;
    if (packaged === undefined) throw new Error('There is no package: neither `vsix` nor REHEARSAL_VSIX is set.');
    const server = await (isOwner
      ? startServer({
          vsix: packaged,
          settings,
          env: env ?? {},
          workspaceTrust: workspaceTrust ?? false,
          extensions: beside ? [beside] : [],
        })
      : sharedServer(packaged));
    if (!isOwner) {
      await until('the extension host of the workbench before', async () => {
        if (server.extensionHosts().length > 0) throw new Error('it runs');
      });
      server.resetUser(settings);
    }
    const page = await newPage(isOwner ? await launchBrowser() : await sharedBrowser(), viewport);
    const workbench = new Workbench(page, server, isOwner);
    return workbench.#loaded(server.address({ [folder.endsWith('.code-workspace') ? 'workspace' : 'folder']: folder }));
  }

  /** Opens the address of a running VS Code; `close` leaves it running. */
  static async visit(address: string): Promise<Workbench> {
    return new Workbench(await newPage(await sharedBrowser()), null, false).#loaded(address);
  }

  async #loaded(address: string): Promise<Workbench> {
    try {
      await this.page.goto(address);
      await this.page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
      return this;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Closes the page, waits until its extension host has ended, and stops the server that this workbench started. */
  async close(): Promise<void> {
    // Leaving the page tells the server to end its extension host; closing the context alone would not.
    await this.page.goto('about:blank');
    await this.#closePage();
    if (this.#isOwner) await this.#server?.stop();
    else
      await until('the end of the extension host', async () => {
        const left = this.#server?.extensionHosts().filter((pid) => !this.#extensionHosts.includes(pid)) ?? [];
        if (left.length > 0) throw new Error(`${left} runs`);
      });
  }

  /** Ends VS Code as a crash or a power cut does: its processes cannot send or save anything. */
  async kill(): Promise<void> {
    if (!this.#isOwner) throw new Error('The server is shared.');
    await this.#server?.kill();
    await this.#closePage();
  }

  async #closePage(): Promise<void> {
    const context = this.page.context();
    await context.close();
    if (this.#isOwner) await context.browser()?.close();
  }

  /** Presses keys, in VS Code's own order: `Control+Shift+P`. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Opens a file of the folder by its path, with the quick-open box, and waits until its text has the focus. */
  async openFile(path: string): Promise<void> {
    const tab = this.page.locator('.tab.active .monaco-icon-label', { hasText: basename(path) });
    const text = this.page.locator('.editor-group-container.active .monaco-editor.focused .view-line');
    // A debug session that ends can take the focus from the editor.
    await this.#reopenUntil('Control+P', path, async () => {
      await this.#focusedFile(path).waitFor({ timeout: 5000 });
      await this.page.locator(`${quickInput} input.input`).press('Enter', { timeout: 5000 });
      await this.page.locator(quickInput).waitFor({ state: 'hidden', timeout: 5000 });
      await tab.first().waitFor({ timeout: 5000 });
      await text.first().waitFor({ timeout: 5000 });
    });
  }

  /** Finds a file of the folder in the quick-open box; Enter opens it. */
  async chooseFile(path: string): Promise<void> {
    await this.#reopenUntil('Control+P', path, () => this.#focusedFile(path).waitFor({ timeout: 5000 }));
  }

  /** The row of a file that Enter opens: files that were open before show at once, without the focus. */
  #focusedFile(path: string): Locator {
    const folder = dirname(path) === '.' ? '' : dirname(path);
    const focused = this.page.locator(`${quickRow}.focused`, { hasText: basename(path) });
    return focused.filter({ hasText: folder }).first();
  }

  /** Runs a command by its title. The palette computes its list once, so it is reopened until it has the command. */
  async runCommand(title: string): Promise<void> {
    const label = this.page.locator(quickRow).filter({ has: this.page.getByText(title, { exact: true }) });
    await this.#reopenUntil('F1', `>${title}`, () => label.first().click({ timeout: 5000 }));
  }

  /** Opens the box of a key, types a text and acts. Retries if the box closes first. */
  async #reopenUntil(key: string, text: string, act: () => Promise<void>): Promise<void> {
    const input = this.page.locator(`${quickInput} input.input`);
    await until(`"${text}" in the list that ${key} opens`, async () => {
      await this.press('Escape', key);
      await input.waitFor({ timeout: 5000 });
      // A webview that loads can take the focus, which closes the box.
      await input.fill(text, { timeout: 5000 });
      await act();
    });
  }

  /** Chooses an item in the context menu of an element, by a part of its label. */
  async chooseInMenu(of: Locator | (() => Promise<Locator>), item: string): Promise<void> {
    const items = this.page.locator('.monaco-menu .action-item');
    const wanted = items.filter({ hasText: item }).first();
    const focused = this.page.locator('.monaco-menu .action-item.focused', { hasText: item });
    await until(`"${item}" in the menu`, async () => {
      await this.closeMenu();
      const target = typeof of === 'function' ? await of() : of;
      await target.click({ button: 'right', timeout: 5000 });
      // A menu ignores clicks when it has just opened; it takes keys at once. VS Code closes it if the view is redrawn.
      await wanted.hover({ timeout: 5000 });
      await focused.waitFor({ timeout: 5000 });
    });
    await this.press('Enter');
    await items.first().waitFor({ state: 'hidden' });
  }

  /** Closes a menu that stayed open and would take every click. */
  async closeMenu(): Promise<void> {
    const menu = this.page.locator('.monaco-menu').first();
    if (!(await menu.isVisible())) return;
    await this.press('Escape');
    await menu.waitFor({ state: 'hidden' });
  }

  /** Chooses an item of the open list, by a part of its label. The next question appears in the same place. */
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
  }

  /** The labels of the list that is open now. */
  async picks(): Promise<string[]> {
    await this.page.locator(quickRow).first().waitFor();
    return this.page.locator(quickRow).allInnerTexts();
  }

  /** Answers the open input box; the next one replaces it once the answer was read. */
  async answer(text: string): Promise<void> {
    const input = this.page.locator(`${quickInput} input.input`);
    await input.fill(text);
    await this.press('Enter');
    await until('the answer to be read', async () => {
      if ((await input.isVisible()) && (await input.inputValue({ timeout: 1000 })) === text)
        throw new Error('the box still holds it');
    });
  }

  /** Waits for a modal dialog with this text and presses one of its buttons. */
  async confirm(text: string | RegExp, button: string): Promise<void> {
    const dialog = this.page.locator('.monaco-dialog-box', { hasText: text });
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  /** Answers VS Code's own dialog for a file or a folder. If there are several, a part of the title selects one. */
  async answerPath(path: string, title = ''): Promise<void> {
    const dialog = this.page.locator(quickInput, { hasText: title });
    const input = dialog.locator('input.input');
    // The dialog writes its own proposal into the box once it has listed the folder.
    await dialog.locator('.quick-input-list .monaco-list-row').first().waitFor();
    const row = dialog.locator('.quick-input-list .monaco-list-row.focused', { hasText: basename(path) });
    await until(`${path} in the dialog`, async () => {
      if (!(await dialog.isVisible())) return;
      // The dialog ignores a text that was typed while it read the disk, so the path is typed again.
      if ((await input.inputValue({ timeout: 1000 })) === path) await input.fill('', { timeout: 5000 });
      await input.fill(path, { timeout: 5000 });
      // Enter is for the row in focus, which follows the text when the folder is listed. A folder has no such row.
      await row.waitFor({ timeout: 2000 }).catch(() => undefined);
      // The first answer may only list another folder.
      await this.press('Enter');
      await dialog.waitFor({ state: 'hidden', timeout: 2000 });
    });
  }

  /** Puts the cursor on a line (from 1) of the active editor. */
  async goToLine(line: number): Promise<void> {
    const input = this.page.locator(`${quickInput} input.input`);
    // The box closes when an editor that is still opening takes the focus: it is opened again then.
    await until(`line ${line}`, async () => {
      await this.press('Escape', 'Control+G');
      await input.waitFor({ timeout: 5000 });
      await input.fill(`:${line}`, { timeout: 5000 });
    });
    await this.press('Enter');
    await input.waitFor({ state: 'hidden' });
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

  /** Waits until an element shows this text; the failure message has the text that it showed instead. */
  async waitForText(selector: string, text: string | RegExp, timeout = limit): Promise<void> {
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

  /** Waits for a notification and presses a button of it, if one is named. Returns the message. */
  async notification(text: string | RegExp, button?: string): Promise<string> {
    const toast = this.page.locator('.notification-toast', { hasText: text }).first();
    const message = await until(`the notification ${text}`, async () => {
      if (!(await toast.isVisible()))
        throw new Error(`the notifications are: ${(await this.notifications()).join(' | ')}`);
      return toast.locator('.notification-list-item-message').textContent({ timeout: 1000 });
    });
    if (button) await toast.getByRole('button', { name: button }).press('Enter');
    return message ?? '';
  }

  /** Removes all notifications. */
  async clearNotifications(): Promise<void> {
    await this.runCommand('Notifications: Clear All Notifications');
    await this.page.locator('.notification-toast').first().waitFor({ state: 'hidden' });
  }

  /** The document inside the webview that is on the screen; of several, the one that was opened last. */
  webviewFrame(): FrameLocator {
    const webviews = this.page.locator('iframe.webview.ready').filter({ visible: true });
    return webviews.last().contentFrame().frameLocator('iframe#active-frame');
  }

  /** Switches the colour theme, in the theme picker, and waits until the page has it. */
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

  /** Saves a screenshot of the page in the folder that REHEARSAL_SCREENSHOTS names (dist/test/screenshots). */
  async screenshot(name: string): Promise<string> {
    const path = join(screenshotFolder(), `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }
}

async function newPage(browser: Browser, viewport = { width: 1440, height: 900 }): Promise<Page> {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce' });
  context.setDefaultTimeout(limit);
  await context.addInitScript((style) => {
    document.addEventListener('DOMContentLoaded', () => {
      document.head.append(Object.assign(document.createElement('style'), { textContent: style }));
    });
  }, notificationStyle);
  return context.newPage();
}

/** Creates the folder for a test's screenshots and returns it. */
export function screenshotFolder(): string {
  const folder = process.env.REHEARSAL_SCREENSHOTS ?? inRoot('dist', 'test', 'screenshots');
  mkdirSync(folder, { recursive: true });
  return folder;
}

export type DomainCopy = {
  readonly folder: string;
  /** The first line (from 1) of a file that contains a text. */
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
