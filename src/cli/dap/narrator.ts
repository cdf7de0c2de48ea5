import { basename } from 'node:path';
import { OutputEvent } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Step } from '../../engine/shell/driver.ts';
import type { ClientLines } from './breakpointRequests.ts';
import { consoleLines } from './console.ts';
import type { Debuggee } from './debuggee.ts';
import { explanationOf } from './explanation.ts';
import { placeOf } from './frames.ts';
import type { References } from './references.ts';

/** Tells the conversation in the Debug Console; a step that is visited again is not told again. */
export class Narrator {
  /** Whether the client shows colours. */
  hasColours = false;
  readonly #send: (event: DebugProtocol.OutputEvent) => void;
  readonly #references: References;
  readonly #lines: ClientLines;
  #told = 0;

  constructor(send: (event: DebugProtocol.OutputEvent) => void, references: References, lines: ClientLines) {
    this.#send = send;
    this.#references = references;
    this.#lines = lines;
  }

  print(text: string, category: 'console' | 'stderr' = 'console'): void {
    this.#send(new OutputEvent(`${text}\n`, category));
  }

  /** Tells what has not been told, up to the cursor. */
  tell(debuggee: Debuggee): void {
    for (; this.#told <= debuggee.cursor; this.#told += 1) {
      const step = debuggee.steps[this.#told];
      if (step) this.#say(debuggee, step);
      if (step?.event.type === 'rewarded') this.print(`\n${explanationOf(debuggee.steps)}`);
    }
  }

  /** Tells of a fork and of its edit. What it shares with its parent was told. */
  tellFork(debuggee: Debuggee, words: string): void {
    const file = basename(debuggee.recording);
    this.print(`--- fork: ${words}. It is recorded in ${file}; the recording it leaves stays as it was ---`);
    this.#told = debuggee.cursor;
    this.tell(debuggee);
  }

  /** The lines of a step, with a link to what they are about and the whole event behind them. */
  #say(debuggee: Debuggee, step: Step): void {
    const { file, line } = placeOf(debuggee.domain, step, undefined);
    for (const { text, whole } of consoleLines(step.event, debuggee.guardNote(step.n) ?? {}, this.hasColours)) {
      const event: DebugProtocol.OutputEvent = new OutputEvent(`${text}\n`, 'stdout');
      Object.assign(event.body, {
        source: { name: basename(file), path: file },
        line: this.#lines.toClient(line),
      });
      if (whole) event.body.variablesReference = this.#references.keep(() => [whole]);
      this.#send(event);
    }
  }
}
