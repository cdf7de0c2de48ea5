import type { Locator, Page } from 'playwright-core';
import { until } from './until.ts';
import type { Workbench } from './workbench.ts';

/** The buttons of the debug toolbar, by the name of their icon. */
export type DebugButton =
  | 'continue'
  | 'pause'
  | 'step-over'
  | 'step-into'
  | 'step-out'
  | 'step-back'
  | 'reverse-continue'
  | 'restart'
  | 'stop';

/** One row of VARIABLES as it is shown. `depth` is 1 for a scope. */
export type VariableRow = { depth: number; name: string; value: string; expanded: boolean | undefined };

/** The debugger's part of a workbench: breakpoints, toolbar, variables, call stack and console. */
export class DebugView {
  readonly #workbench: Workbench;

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
  }

  get #page(): Page {
    return this.#workbench.page;
  }

  /** Sets a breakpoint on a line (from 1) of the active editor and waits for its mark. */
  async setBreakpoint(line: number): Promise<void> {
    const marks = this.#page.locator('.editor-group-container.active [class*="codicon-debug-breakpoint"]');
    await this.#workbench.goToLine(line);
    const before = await marks.count();
    await this.#workbench.press('F9');
    await until(`a breakpoint on line ${line}`, async () => {
      if ((await marks.count()) <= before) throw new Error('no mark in the margin');
    });
  }

  /** Starts debugging what the active editor shows, with F5, and waits for the toolbar. */
  async start(): Promise<void> {
    await this.#workbench.press('F5');
    await this.#page.locator('.debug-toolbar').waitFor({ timeout: 30_000 });
  }

  #button(button: DebugButton): Locator {
    return this.#page
      .locator(`.debug-toolbar .action-item:not(.disabled) .codicon-debug-${button}:not(.disabled)`)
      .first();
  }

  /** Presses a button of the toolbar as soon as it can be pressed. */
  async press(button: DebugButton): Promise<void> {
    await until(`a press of ${button}`, async () => {
      try {
        await this.#button(button).click({ timeout: 5000 });
      } catch (error) {
        // A menu or a hover that opened late lies over the toolbar until it is sent away.
        await this.#workbench.press('Escape');
        throw error;
      }
    });
  }

  /** Waits until the run is paused: the toolbar offers to continue. */
  async paused(timeout = 30_000): Promise<void> {
    await this.#button('continue').waitFor({ timeout });
  }

  /** Waits until no debug session is left. */
  async ended(timeout = 60_000): Promise<void> {
    await this.#page.locator('.debug-toolbar').waitFor({ state: 'hidden', timeout });
  }

  /** The line (from 1) that the debugger stands on in the active editor, or undefined. */
  async currentLine(): Promise<number | undefined> {
    const mark = this.#page.locator('.editor-group-container.active .codicon-debug-stackframe').first();
    if ((await mark.count()) === 0) return undefined;
    return mark.evaluate((element) => {
      const top = element.getBoundingClientRect().top;
      const numbers = [...document.querySelectorAll('.editor-group-container.active .line-numbers')];
      const same = numbers.find((number) => Math.abs(number.getBoundingClientRect().top - top) < 4);
      return same ? Number(same.textContent) : undefined;
    });
  }

  /** Waits until the debugger stands on a line (from 1) of the active editor. */
  async stoppedAt(line: number, timeout = 20_000): Promise<void> {
    await until(
      `the debugger on line ${line}`,
      async () => {
        const current = await this.currentLine();
        if (current !== line) throw new Error(`it stands on ${current}`);
      },
      timeout,
    );
  }

  /** Shows the Run and Debug view. */
  async show(): Promise<void> {
    if (await this.#page.locator('.debug-variables').isVisible()) return;
    await this.#workbench.press('Control+Shift+D');
    await this.#page.locator('.debug-variables').waitFor();
  }

  /** The rows of VARIABLES that are on the screen. */
  async variables(): Promise<VariableRow[]> {
    return this.#page.locator('.debug-variables .monaco-list-row').evaluateAll((rows) =>
      rows.map((row) => {
        const expanded = row.getAttribute('aria-expanded');
        const name = row.querySelector('.name, .scope')?.textContent ?? row.textContent ?? '';
        return {
          depth: Number(row.getAttribute('aria-level')),
          name: name.replace(/\s*[:=]\s*$/, '').trim(),
          value: row.querySelector('.value')?.textContent ?? '',
          expanded: expanded === null ? undefined : expanded === 'true',
        };
      }),
    );
  }

  /**
   * Waits for the row at a path of names (scope first) and returns its place. Opens its ancestors, and closes a scope
   * above it that pushes it off the screen: VS Code opens the first one again when a stop draws the tree anew.
   */
  async #row(path: readonly string[]): Promise<{ index: number; row: Locator; shown: VariableRow }> {
    return until(`${path.join(' > ')} in VARIABLES`, async () => {
      const rows = await this.variables();
      const index = rowIndex(rows, path);
      const shown = rows[index];
      if (shown) return { index, row: this.#page.locator('.debug-variables .monaco-list-row').nth(index), shown };
      const ancestor = path.slice(0, -1).map((_, depth) => rowIndex(rows, path.slice(0, depth + 1)));
      const closed = ancestor.find((place) => rows[place]?.expanded === false);
      if (closed !== undefined) await this.#open(closed);
      if (rowIndex(rows, path.slice(0, 1)) === -1) {
        const above = rows.findIndex(({ depth, expanded }) => depth === 1 && expanded === true);
        if (above !== -1) await this.#twistie(above).click({ timeout: 2000 });
      }
      throw new Error(`the rows are ${rows.map(({ depth, name }) => `${' '.repeat(depth)}${name}`).join(', ')}`);
    });
  }

  #twistie(index: number): Locator {
    return this.#page.locator('.debug-variables .monaco-list-row').nth(index).locator('.monaco-tl-twistie');
  }

  /** Opens the row at a place and gives it two seconds: a stop draws the tree anew and can swallow the press. */
  async #open(index: number): Promise<void> {
    await this.#twistie(index).click();
    const isOpen = async () => {
      if ((await this.variables())[index]?.expanded !== true) throw new Error('it is closed');
    };
    await until(`row ${index} to open`, isOpen, 2000);
  }

  /** Opens the row at a path of names, scope first: `expand('Database', 'orders')`. */
  async expand(...path: string[]): Promise<void> {
    await until(`${path.join(' > ')} to open`, async () => {
      const { index, shown } = await this.#row(path);
      if (shown.expanded === false) await this.#open(index);
    });
  }

  /** Closes the row at a path of names, scope first, so that what stands below it comes into view. */
  async collapse(...path: string[]): Promise<void> {
    await until(`${path.join(' > ')} to close`, async () => {
      const { row, shown } = await this.#row(path);
      if (shown.expanded === false) return;
      await row.locator('.monaco-tl-twistie').click({ timeout: 2000 });
      throw new Error('it is open');
    });
  }

  /** The value shown at a path of names, scope first. */
  async value(...path: string[]): Promise<string> {
    return (await this.#row(path)).shown.value;
  }

  /** Waits until the value at a path shows a text. */
  async waitForValue(path: readonly string[], text: string | RegExp): Promise<void> {
    await until(`${path.join(' > ')} shows ${text}`, async () => {
      const value = await this.value(...path);
      if (typeof text === 'string' ? !value.includes(text) : !text.test(value)) throw new Error(`it shows ${value}`);
    });
  }

  /** Gives the value at a path a new text, in the edit box that a double click opens. */
  async setValue(path: readonly string[], text: string): Promise<void> {
    const input = this.#page.locator('.debug-variables .monaco-inputbox input:visible');
    // VS Code draws VARIABLES anew 400 ms after a stop; what is edited before that is a value of the stop before.
    await this.#page.waitForTimeout(600);
    await until(`the edit box of ${path.join(' > ')}`, async () => {
      const { row } = await this.#row(path);
      // A refresh of the tree closes the box again, so a whole attempt is short and repeated.
      await row.locator('.value').dblclick({ timeout: 2000 });
      await input.fill(text, { timeout: 2000 });
      await input.press('Enter', { timeout: 2000 });
    });
    await input.waitFor({ state: 'hidden' });
  }

  /** Chooses a command in the menu of the row at a path, scope first. */
  async chooseIn(path: readonly string[], command: string): Promise<void> {
    await this.#workbench.chooseInMenu(async () => (await this.#row(path)).row, command);
  }

  /** The rows of the call stack that are on the screen, newest first. */
  async callStack(): Promise<string[]> {
    const rows = await this.#page.locator('.debug-call-stack .monaco-list-row').allInnerTexts();
    return rows.map((row) => row.replace(/\s+/g, ' ').trim());
  }

  /** Waits until it is paused with a text in the top row of the call stack. */
  async standsAt(place: string): Promise<void> {
    await until(`the debugger at "${place}"`, async () => {
      await this.paused();
      const [top = ''] = await this.callStack();
      if (!top.includes(place)) throw new Error(`it stands at "${top}"`);
    });
  }

  /** Continues over every stop until the top row of the call stack begins with a text. */
  async continueTo(place: string): Promise<void> {
    for (;;) {
      await this.paused();
      const before = await this.callStack();
      if (before[0]?.startsWith(place)) return;
      await this.press('continue');
      await until('the next stop', async () => {
        const now = await this.callStack();
        if (now.length === 0 || now.join() === before.join()) throw new Error(`still at ${now[0]}`);
      });
    }
  }

  /** Shows the Debug Console. */
  async showConsole(): Promise<void> {
    if (await this.#page.locator('.repl').isVisible()) return;
    await this.#workbench.press('Control+Shift+Y');
    await this.#page.locator('.repl').waitFor();
  }

  /** The text of the Debug Console that is on the screen. */
  async consoleText(): Promise<string> {
    await this.showConsole();
    const rows = await this.#page.locator('.repl .monaco-list-row').allInnerTexts();
    return rows.map((row) => row.replaceAll('\u00a0', ' ').trim()).join('\n');
  }

  /** Waits until the Debug Console shows a text. */
  async waitForConsole(text: string | RegExp, timeout?: number): Promise<void> {
    await this.showConsole();
    await this.#workbench.waitForText('.repl .monaco-list-rows', text, timeout);
  }

  /** Types an expression into the Debug Console and sends it. */
  async evaluate(expression: string): Promise<void> {
    await this.showConsole();
    await this.#page.locator('.repl .repl-input-wrapper .monaco-editor .view-lines').click();
    await this.#page.keyboard.insertText(expression);
    await this.#workbench.press('Enter');
  }
}

/** The index of the row at a path of names, or -1. A name matches when it is equal. */
function rowIndex(rows: readonly VariableRow[], path: readonly string[]): number {
  let depth = 0;
  for (const [index, row] of rows.entries()) {
    if (row.depth <= depth) depth = row.depth - 1;
    if (row.depth === depth + 1 && row.name === path[depth]) {
      depth += 1;
      if (depth === path.length) return index;
    }
  }
  return -1;
}
