import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Dialect, usualDialect } from '../../engine/core/domain/dialect.ts';
import { domainBeside } from '../../engine/shell/domain/domainBeside.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { recordingEnding } from '../../engine/shell/records/recordingName.ts';
import { modelNamed } from '../checkpoints/servedModel.ts';
import { trainedChat } from '../checkpoints/trainedChat.ts';
import { openDomainAt } from '../options/rolloutOptions.ts';
import { askTrainer } from '../python/askTrainer.ts';
import { interpreterOf, preparePython } from '../python/pythonEnvironment.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import type { SynthOptions } from './synthOptions.ts';

type Piece = { readonly text: string; readonly tokens: number; readonly trained: boolean };

/** `rehearsal synth preview RECORDING`: the trainer renders it, and nothing else does. */
export async function previewTraining(options: SynthOptions, [file]: readonly string[], io: Io): Promise<ExitCode> {
  if (file === undefined) throw new UsageError(`name a recording (a file that ends in ${recordingEnding})`);
  const recording = resolve(io.cwd, file);
  if (!existsSync(recording)) throw new UsageError(`${recording}: there is no such recording`);
  const named = options.model ?? 'smollm2';
  const model = modelNamed(named, `--model ${named}`, io);
  const { dialect: trained, thinking = false } = trainedChat(model);
  const dialect = options.dialect ?? trained ?? domainDialect(recording);
  const { python } = await preparePython(io, interpreterOf(options.python, io.cwd));
  const chat = ['--dialect', dialect, ...(thinking ? ['--thinking'] : [])];
  const args = ['preview', '--recording', recording, '--model', model, ...chat];
  const said = await askTrainer(io, python, args, { refused });
  const answer = JSON.parse(said) as { readonly pieces: readonly Piece[] };
  io.out(options.json ? `${JSON.stringify({ recording, ...answer })}\n` : previewText(answer.pieces));
  return 0;
}

function refused(words: string): Fault {
  const message = `the trainer can't render it: ${words}`;
  return new Fault({ who: 'environment', code: 'trainer/preview', message });
}

function domainDialect(recording: string): Dialect {
  const domain = domainBeside(recording);
  return domain === undefined ? usualDialect : openDomainAt(domain).file.dialect;
}

/** Returns the text with its trained parts in brackets that never occur in a model's text. */
function previewText(pieces: readonly Piece[]): string {
  const count = (of: readonly Piece[]) => of.reduce((total, { tokens }) => total + tokens, 0);
  const body = pieces.map(({ text: piece, trained }) => (trained ? `⟦${piece}⟧` : piece)).join('');
  const trained = pieces.filter((piece) => piece.trained);
  return `${body}\n\n${count(trained)} of ${count(pieces)} tokens train: those in ⟦ ⟧\n`;
}
