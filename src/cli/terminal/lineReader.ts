import { type AsyncCompleter, createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { terminalText } from '../../engine/core/text/terminalText.ts';
import { Fault, personGone } from '../../engine/shell/files/fault.ts';
import type { Completer, Io } from './io.ts';

type Question = {
  readonly answer: (line: string) => void;
  readonly fail: (error: Error) => void;
  readonly complete: Completer | undefined;
};

/**
 * Reads lines of an input, one for each question in the order they are asked. Lines that arrive together, as from a pipe
 * or a paste, answer the questions that follow. Rejects with a `Fault` after the last line, and when the signal aborts.
 */
export function lineReader(input: ReadStream, output: WriteStream): Io['readLine'] {
  const early: string[] = [];
  let lines: Interface | null = null;
  let hasEnded = false;
  let asked: Question | null = null;
  let previous: Promise<unknown> = Promise.resolve();

  const complete: AsyncCompleter = (typed, done) => {
    const none: [string[], string] = [[], typed];
    const found = asked?.complete?.(typed).then(([words, end]): [string[], string] => [[...words], end]);
    void Promise.resolve(found ?? none).then(
      (result) => done(null, result),
      () => done(null, none),
    );
  };
  const open = (): Interface => {
    // Readline shows what is typed or pasted. Between questions it would be in the middle of other output.
    const write = (chunk: unknown, _: unknown, done: () => void) => {
      if (asked) output.write(String(chunk));
      done();
    };
    const echo = Object.assign(new Writable({ write }), { columns: output.columns });
    output.on('resize', () => {
      echo.columns = output.columns;
      echo.emit('resize');
    });
    const terminal = input.isTTY === true && output.isTTY === true;
    const opened = createInterface({ input, output: echo, terminal, completer: complete });
    opened.on('line', (line) => (asked ? asked.answer(line) : early.push(line)));
    opened.on('close', () => {
      hasEnded = true;
      asked?.fail(inputEnded());
    });
    // Readline receives Ctrl+C as a key.
    opened.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    return opened;
  };
  /** A paused input keeps no process alive, and its terminal sends Ctrl+C as a signal. */
  const listen = (isListening: boolean): void => {
    if (hasEnded || !lines) return;
    if (lines.terminal) input.setRawMode(isListening);
    if (isListening) lines.resume();
    else lines.pause();
  };
  const ask: Io['readLine'] = (prompt, signal, completer) =>
    new Promise<string>((resolve, reject) => {
      signal.throwIfAborted();
      lines ??= open();
      // A program at the other end of a pipe reads no prompt.
      const shown = lines.terminal ? terminalText(prompt, true) : '';
      const line = early.shift();
      if (line !== undefined) {
        if (lines.terminal) output.write(`${shown}${terminalText(line)}\n`);
        return resolve(line);
      }
      if (hasEnded) return reject(inputEnded());
      const settle = (act: () => void): void => {
        asked = null;
        signal.removeEventListener('abort', abort);
        listen(false);
        act();
      };
      const fail = (error: unknown) =>
        settle(() => {
          if (lines?.terminal) output.write('\n');
          reject(error);
        });
      const abort = () => fail(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      asked = {
        complete: completer,
        answer: (answer) => settle(() => resolve(answer)),
        fail,
      };
      lines.setPrompt(shown);
      listen(true);
      lines.prompt(true);
    });
  return (prompt, signal, completer) => {
    const answer = previous.then(() => ask(prompt, signal, completer));
    previous = answer.catch(() => undefined);
    return answer;
  };
}

function inputEnded(): Fault {
  const message =
    'the input ended before the turn was typed, so the rollout is unfinished. Run it again, and give every turn a line';
  return new Fault({ who: 'infrastructure', code: personGone, message });
}
