import { execFile } from 'node:child_process';
import { Fault } from '../../engine/shell/files/fault.ts';
import type { Io } from '../terminal/io.ts';
import { lastLineOf } from './lastLine.ts';
import { hubKeys, type Interpreter, trainerEnvironment, trainerModule } from './pythonEnvironment.ts';

type Question = {
  /** The text for its standard input. */
  readonly input?: string;
  /** Returns the error to throw if it does not answer, from its last output. */
  readonly refused: (words: string) => Error;
};

/** Asks the trainer something that it answers and ends. Resolves with the last line that it prints. */
export function askTrainer(
  { signal }: Pick<Io, 'signal'>,
  [program, ...rest]: Interpreter,
  args: readonly string[],
  { input, refused }: Question,
): Promise<string> {
  const options = { env: trainerEnvironment(hubKeys), signal, maxBuffer: 256 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...rest, ...trainerModule, ...args], options, (error, said, words) => {
      if (!error) resolve(lastLineOf(said));
      else if (signal.aborted) reject(new Fault({ who: 'infrastructure', code: 'cancelled', message: 'cancelled' }));
      else reject(refused(lastLineOf(words) || error.message));
    });
    // A trainer that ends before it has read its input says why in its own words.
    child.stdin?.on('error', () => undefined).end(input);
  });
}
