import { basename } from 'node:path';
import { OutputEvent } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { terminalText } from '../../engine/core/text/terminalText.ts';
import { eventInWords } from '../../engine/shell/domain/reasonInWords.ts';
import type { Step } from '../../engine/shell/rollout/ports.ts';
import { readingOrder } from '../terminal/transcript.ts';
import type { ClientLines } from './breakpoints/breakpointRequests.ts';
import { consoleLines } from './console.ts';
import type { EditedFile } from './rollout/changedFiles.ts';
import type { Debuggee } from './rollout/debuggee.ts';
import { stepLocation } from './rollout/frames.ts';
import { explanationOf } from './variables/explanation.ts';
import type { References } from './variables/references.ts';
import type { ChainLine } from './variables/why.ts';

/** The longest time that rows are held while the rollout runs and after it stops, in milliseconds. */
const heldMs = { running: 100, stopped: 500 } as const;

/** Prints the conversation in the Debug Console, each step only once. */
export class Narrator {
  /** Whether the client shows colours. */
  hasColours = false;
  /**
   * Whether the client asks for what is behind a row as soon as it gets the row. The rows of a movement would keep it
   * from showing where that stopped, so they are held: until it has shown that, or for a moment.
   */
  asksAtOnce = false;
  #held: DebugProtocol.OutputEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #sendNow: (event: DebugProtocol.OutputEvent) => void;
  readonly #references: References;
  readonly #lines: ClientLines;
  #told = 0;
  #inOrder = readingOrder();

  constructor(send: (event: DebugProtocol.OutputEvent) => void, references: References, lines: ClientLines) {
    this.#sendNow = send;
    this.#references = references;
    this.#lines = lines;
  }

  /** The category `console` would make each line a warning in VS Code, in a colour that is hard to read in some themes. */
  print(text: string, category: 'stdout' | 'stderr' = 'stdout'): void {
    this.#send(new OutputEvent(`${text}\n`, category));
  }

  /** Delays held rows after a stop, until the client has shown the stop. */
  stopped(): void {
    if (this.#held.length > 0) this.#releaseIn(heldMs.stopped);
  }

  /** Sends the held rows. */
  release(): void {
    clearTimeout(this.#timer);
    const held = this.#held;
    this.#held = [];
    for (const event of held) this.#sendNow(event);
  }

  /** Rows keep their order: behind one that is held every other one is held, too. */
  #send(event: DebugProtocol.OutputEvent): void {
    event.body.output = terminalText(event.body.output, true);
    const isAsked = this.asksAtOnce && event.body.variablesReference !== undefined;
    if (!isAsked && this.#held.length === 0) {
      this.#sendNow(event);
      return;
    }
    this.#held.push(event);
    if (this.#held.length === 1) this.#releaseIn(heldMs.running);
  }

  #releaseIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.release(), milliseconds);
  }

  /** Reports what is still unreported, up to the cursor. */
  tell(debuggee: Debuggee): void {
    for (; this.#told <= debuggee.cursor; this.#told += 1) {
      const step = debuggee.steps[this.#told];
      if (step) this.#say(debuggee, step);
      if (step?.event.type === 'rewarded') this.print(`\n${explanationOf(debuggee.steps, debuggee.domain)}`);
    }
  }

  /** Reports a fork and its edit. What it shares with its parent was reported. */
  tellFork(debuggee: Debuggee, words: string): void {
    const file = basename(debuggee.recording);
    this.print(`--- fork: ${words}. It is recorded in ${file}. The original recording is unchanged ---`);
    if (debuggee.forkAgent === 'gold')
      this.print(
        'from here the gold seat plays the agent: without a model, it makes the gold actions for what the user has asked for',
      );
    const started = debuggee.steps[0]?.event;
    const shared = started?.type === 'rolloutStarted' ? started.parent?.event : undefined;
    this.#told = (shared ?? 0) + 1;
    this.#inOrder = readingOrder();
    for (const { event } of debuggee.steps.slice(0, this.#told)) this.#inOrder(event);
    this.tell(debuggee);
  }

  /** Says which files were edited without an effect on the rollout, each with a link to the first line that differs. */
  tellChanged(files: readonly EditedFile[]): void {
    for (const { file, line, since } of files) {
      const text = `${basename(file)} changed since step ${since}; the rollout continues with the files that it started with. /swap forks with the change`;
      this.#send(this.#linked(text, file, line));
    }
  }

  /** Prints a chain of evidence, each line with a link to its subject. */
  tellChain(chain: readonly ChainLine[]): void {
    for (const { text, at } of chain) {
      if (at) this.#send(this.#linked(text, at.file, at.line));
      else this.#send(new OutputEvent(`${text}\n`, 'stdout'));
    }
  }

  #linked(text: string, file: string, line: number): DebugProtocol.OutputEvent {
    const event: DebugProtocol.OutputEvent = new OutputEvent(`${text}\n`, 'stdout');
    Object.assign(event.body, { source: { name: basename(file), path: file }, line: this.#lines.toClient(line) });
    return event;
  }

  /** The lines of a step, with a link to what they are about and the whole event behind them. */
  #say(debuggee: Debuggee, step: Step): void {
    const guard = debuggee.guardNote(step.n) ?? {};
    for (const event of this.#inOrder(eventInWords(debuggee.domain, step.event)))
      for (const { text, whole, rule } of consoleLines(event, guard, this.hasColours)) {
        const { file, line } = stepLocation(debuggee.domain, { ...step, event }, rule);
        const output = this.#linked(text, file, line);
        if (whole) output.body.variablesReference = this.#references.keep(() => [whole]);
        this.#send(output);
      }
  }
}
