import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Dialect, usualDialect } from '../../engine/core/dialect.ts';
import { domainBeside } from '../../engine/shell/domainBeside.ts';
import { Fault } from '../../engine/shell/fault.ts';
import { recordingEnding } from '../../engine/shell/recordingName.ts';
import { type Given, text } from '../command.ts';
import { dialectIn, trainedDialect } from '../dialect.ts';
import { type ExitCode, type Io, UsageError } from '../io.ts';
import { preparePython, trainerEnvironment } from '../pythonEnvironment.ts';
import { openDomainAt } from '../rolloutOptions.ts';
import { modelNamed } from '../servedModel.ts';
import { lastLineOf } from '../targets/runFolder.ts';

type Piece = { readonly text: string; readonly tokens: number; readonly trained: boolean };

/** `rehearsal synth preview RECORDING`: the trainer renders it, and nothing else does. */
export async function previewTraining(given: Given, io: Io): Promise<ExitCode> {
  const [named] = given.positionals;
  if (named === undefined) throw new UsageError(`name a recording (a file that ends in ${recordingEnding})`);
  const recording = resolve(io.cwd, named);
  if (!existsSync(recording)) throw new UsageError(`${recording}: there is no such recording`);
  const said = text(given, 'model') ?? 'smollm2';
  const model = modelNamed(said, `--model ${said}`, io);
  const dialect = dialectIn(given) ?? trainedDialect(model) ?? domainDialect(recording);
  const python = await preparePython(io, text(given, 'python'));
  const options = ['--recording', recording, '--model', model, '--dialect', dialect];
  const { status, stdout, stderr, error } = spawnSync(python, ['-m', 'rehearsal_trainer', 'preview', ...options], {
    ...{ env: trainerEnvironment(), encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
  });
  if (status !== 0)
    throw new Fault({
      who: 'environment',
      code: 'trainer/preview',
      message: `the trainer can't render it: ${error?.message ?? lastLineOf(stderr)}`,
    });
  const answer = JSON.parse(stdout) as { readonly pieces: readonly Piece[] };
  io.out(given.values['json'] === true ? `${JSON.stringify({ recording, ...answer })}\n` : previewText(answer.pieces));
  return 0;
}

function domainDialect(recording: string): Dialect {
  const domain = domainBeside(recording);
  return domain === undefined ? usualDialect : openDomainAt(domain).file.dialect;
}

/** What trains stands between brackets that no text of a model has. */
function previewText(pieces: readonly Piece[]): string {
  const count = (of: readonly Piece[]) => of.reduce((total, { tokens }) => total + tokens, 0);
  const body = pieces.map(({ text: piece, trained }) => (trained ? `⟦${piece}⟧` : piece)).join('');
  const trained = pieces.filter((piece) => piece.trained);
  return `${body}\n\n${count(trained)} of ${count(pieces)} tokens train: those in ⟦ ⟧\n`;
}
