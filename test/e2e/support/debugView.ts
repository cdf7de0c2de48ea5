import type { Locator, Page } from 'playwright-core';
import { limit, until } from './until.ts';

/** The members of a workbench that the debugger's view uses. */
type Workbench = {
  readonly page: Page;
  readonly press: (...keys: string[]) => Promise<void>;
  readonly goToLine: (line: number) => Promise<void>;
  readonly chooseInMenu: (target: () => Promise<Locator>, command: string) => Promise<void>;
  readonly waitForText: (selector: string, text: string | RegExp, timeout?: number) => Promise<void>;
};

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

/** A visible row of VARIABLES. `place` counts from the top of the list; `depth` is 1 for a scope. */
export type VariableRow = { place: number; depth: number; name: string; value: string; expanded: boolean | undefined };

const variableRows = '.debug-variables .monaco-list-row';

/** The debugger of a workbench: breakpoints, toolbar, variables, call stack and console. */
export class DebugView {
  readonly #workbench: Workbench;
  /** Whether VARIABLES shows the current stop. */
  #isDrawn = true;
  /** Whether VARIABLES did not exist yet when the debugger last moved. */
  #isFirst = true;

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
    await this.#expectRedraw();
    await this.#workbench.press('F5');
    await this.#page.locator('.debug-toolbar').waitFor();
  }

  #button(button: DebugButton): Locator {
    return this.#page
      .locator(`.debug-toolbar .action-item:not(.disabled) .codicon-debug-${button}:not(.disabled)`)
      .first();
  }

  /** Presses a button of the toolbar as soon as it can be pressed. */
  async press(button: DebugButton): Promise<void> {
    await this.#expectRedraw();
    await this.#button(button).click();
  }

  /** Waits until the run is paused: the toolbar offers to continue. */
  async paused(timeout = limit): Promise<void> {
    await this.#button('continue').waitFor({ timeout });
  }

  /** Waits until all debug sessions have ended. */
  async ended(timeout = limit): Promise<void> {
    await this.#page.locator('.debug-toolbar').waitFor({ state: 'hidden', timeout });
  }

  /** The line (from 1) that the debugger is stopped at in the active editor, or undefined. */
  async currentLine(): Promise<number | undefined> {
    const mark = this.#page.locator('.editor-group-container.active .codicon-debug-stackframe').first();
    if ((await mark.count()) === 0) return undefined;
    return mark.evaluate((element) => {
      const top = (each: Element) => each.getBoundingClientRect().top;
      const numbers = [...document.querySelectorAll('.editor-group-container.active .line-numbers')];
      // Of a line that wraps, only the first part has a number.
      const above = numbers.filter((number) => number.textContent && top(number) < top(element) + 4);
      const same = above.toSorted((one, other) => top(one) - top(other)).at(-1);
      return same ? Number(same.textContent) : undefined;
    });
  }

  /** Waits until the debugger is stopped at a line (from 1) of the active editor. */
  async stoppedAt(line: number, timeout = limit): Promise<void> {
    await until(
      `the debugger on line ${line}`,
      async () => {
        const current = await this.currentLine();
        if (current !== line) throw new Error(`it is on line ${current}`);
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

  /** The rows of VARIABLES that are on the screen, from top to bottom: VS Code reuses their elements in any order. */
  async variables(): Promise<VariableRow[]> {
    const rows = await this.#page.locator(variableRows).evaluateAll((elements) =>
      elements.map((row) => {
        const expanded = row.getAttribute('aria-expanded');
        const name = row.querySelector('.name, .scope')?.textContent ?? row.textContent ?? '';
        return {
          place: Number(row.getAttribute('data-index')),
          depth: Number(row.getAttribute('aria-level')),
          name: name.replace(/\s*[:=]\s*$/, '').trim(),
          value: row.querySelector('.value')?.textContent ?? '',
          expanded: expanded === null ? undefined : expanded === 'true',
        };
      }),
    );
    return rows.toSorted((a, b) => a.place - b.place);
  }

  /**
   * Marks the rows of VARIABLES before the debugger moves on. VS Code redraws them 400 ms after it has stopped again,
   * and until then they belong to the stop before. It writes the parity of each row that it draws, so the mark goes.
   */
  async #expectRedraw(): Promise<void> {
    await this.#page.locator(variableRows).evaluateAll((rows) => {
      for (const row of rows) row.setAttribute('data-parity', 'before');
    });
    this.#isDrawn = false;
    this.#isFirst = (await this.#page.locator('.debug-variables').count()) === 0;
  }

  /**
   * Waits until VARIABLES shows the current stop. VS Code ends a redraw by opening the first scope; when it creates the
   * view, it leaves all of them closed.
   */
  async #drawn(): Promise<void> {
    if (this.#isDrawn) return;
    await until('VARIABLES of this stop', async () => {
      const old = await this.#page.locator(`${variableRows}[data-parity="before"]`).count();
      const [first, second] = await this.variables();
      const isOpen = first?.expanded === true && second?.depth === 2;
      if (old > 0 || !first || !(isOpen || this.#isFirst)) throw new Error(`${old} old rows, then ${first?.name}`);
    });
    this.#isDrawn = true;
  }

  /**
   * Waits for the row at a path of names (scope first) and returns its place. Opens its ancestors, and closes a scope
   * above it that pushes it off the screen.
   */
  async #row(path: readonly string[]): Promise<VariableRow> {
    await this.#drawn();
    return until(`${path.join(' > ')} in VARIABLES`, async () => {
      const rows = await this.variables();
      const row = rowAt(rows, path);
      if (row) return row;
      const closed = path.map((_, depth) => rowAt(rows, path.slice(0, depth))).find((each) => each?.expanded === false);
      const isOnScreen = rowAt(rows, path.slice(0, 1)) !== undefined;
      const above = isOnScreen ? undefined : rows.find(({ depth, expanded }) => depth === 1 && expanded === true);
      if (closed ?? above) await this.#toggle((closed ?? above) as VariableRow);
      throw new Error(`the rows are ${rows.map(({ depth, name }) => `${' '.repeat(depth)}${name}`).join(', ')}`);
    });
  }

  /** Opens or closes the row at a place; the row shows its state at once. */
  async #toggle(row: VariableRow): Promise<void> {
    await this.#element(row).locator('.monaco-tl-twistie').click();
  }

  #element({ place }: VariableRow): Locator {
    return this.#page.locator(`${variableRows}[data-index="${place}"]`);
  }

  /** Opens the row at a path of names, scope first: `expand('Database', 'orders')`. */
  async expand(...path: string[]): Promise<void> {
    await until(`${path.join(' > ')} to open`, async () => {
      const row = await this.#row(path);
      if (row.expanded !== false) return;
      await this.#toggle(row);
      throw new Error('it was closed');
    });
  }

  /** Collapses the row at a path of names, scope first, so that the rows below it come into view. */
  async collapse(...path: string[]): Promise<void> {
    await until(`${path.join(' > ')} to close`, async () => {
      const row = await this.#row(path);
      if (row.expanded === false) return;
      await this.#toggle(row);
      throw new Error('it was open');
    });
  }

  /** The value shown at a path of names, scope first. */
  async value(...path: string[]): Promise<string> {
    return (await this.#row(path)).value;
  }

  /** Waits until the value at a path shows a text. */
  async waitForValue(path: readonly string[], text: string | RegExp): Promise<void> {
    await until(`${path.join(' > ')} shows ${text}`, async () => {
      const value = await this.value(...path);
      if (typeof text === 'string' ? !value.includes(text) : !text.test(value)) throw new Error(`it shows ${value}`);
    });
  }

  /** Sets a new text for the value at a path, in the edit box of its menu. The rollout stops again after that. */
  async setValue(path: readonly string[], text: string): Promise<void> {
    // A click or a double click would also open or close the row, and a row that is redrawn loses its edit box.
    const input = await until(`the edit box of ${path.join(' > ')}`, async () => {
      await this.chooseIn(path, 'Set Value');
      const box = this.#element(await this.#row(path)).locator('.monaco-inputbox input');
      await box.waitFor({ timeout: 5000 }).catch(async (error: unknown) => {
        await this.#workbench.press('Escape');
        throw error;
      });
      return box;
    });
    await input.fill(text);
    await this.#expectRedraw();
    await input.press('Enter');
    await input.waitFor({ state: 'hidden' });
  }

  /** Chooses a command in the menu of the row at a path, scope first. */
  async chooseIn(path: readonly string[], command: string): Promise<void> {
    await this.#workbench.chooseInMenu(async () => this.#element(await this.#row(path)), command);
  }

  /** The rows of the call stack that are on the screen, newest first: VS Code reuses their elements in any order. */
  async callStack(): Promise<string[]> {
    const rows = await this.#page.locator('.debug-call-stack .monaco-list-row').evaluateAll((elements) =>
      elements.map((row) => ({
        place: Number(row.getAttribute('data-index')),
        text: (row.textContent ?? '').replace(/\s+/g, ' ').trim(),
      })),
    );
    return rows.toSorted((a, b) => a.place - b.place).map(({ text }) => text);
  }

  /**
   * Waits until the session is paused with a text in the top row of the call stack. If the previous stop has the same
   * text, a text in the row below tells them apart.
   */
  async standsAt(place: string, below = ''): Promise<void> {
    await until(`the debugger at "${place}"`, async () => {
      await this.paused();
      const [top = '', next = ''] = await this.callStack();
      if (!top.includes(place) || !next.includes(below)) throw new Error(`it is at "${top}" above "${next}"`);
    });
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

/** The row at a path of names, if it is among these. A name matches when it is equal. */
function rowAt(rows: readonly VariableRow[], path: readonly string[]): VariableRow | undefined {
  let depth = 0;
  for (const row of rows) {
    if (row.depth <= depth) depth = row.depth - 1;
    if (row.depth === depth + 1 && row.name === path[depth]) {
      depth += 1;
      if (depth === path.length) return row;
    }
  }
  return undefined;
}
