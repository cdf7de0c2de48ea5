import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { fileLimits, readBoundedText } from '../../../engine/shell/files/boundedFile.ts';
import { replaceFile, sizeOf } from '../../../engine/shell/files/disk.ts';
import type { Fault } from '../../../engine/shell/files/fault.ts';
import { runFiles } from '../../../engine/shell/records/runFiles.ts';
import { type Io, UsageError } from '../../terminal/io.ts';
import { shellWord } from '../../terminal/shellWord.ts';
import { digestOf, inside } from '../mirror.ts';
import { readJson } from '../runFolder.ts';
import { environmentFault, noCheckpoint } from '../targetFaults.ts';
import { askCluster } from './askCluster.ts';
import { pieceIn, writePiece } from './follow.ts';
import type { RayJobs } from './jobs.ts';

/** The most bytes to read from a job's log, which Ray returns in one answer. */
export const mostInLog = 100e6;

const foundSchema = z.union([
  z.object({ known: z.array(z.string()) }),
  z.object({ name: z.string(), error: z.string() }),
  z.object({
    name: z.string().regex(/^checkpoint-\d+$/),
    folder: z.string(),
    files: z.record(z.string(), z.tuple([z.int(), z.string()])),
    adapter: z.boolean(),
  }),
]);
type Found = Extract<z.infer<typeof foundSchema>, { readonly files: unknown }>;

/**
 * Brings a checkpoint from the storage of a cluster: a job there makes it a model folder, whose files come through the
 * job's log where they are small, and else out of the storage where this machine sees it, too.
 */
export async function fetchFromRay(
  run: string,
  asked: string | undefined,
  jobs: RayJobs,
  io: Pick<Io, 'err' | 'signal'>,
): Promise<string> {
  const { run: folder } = readJson(join(run, runFiles.config));
  if (typeof folder !== 'string') throw new UsageError(`${run} has not begun to train on ${jobs.name}`);
  const step = asked === undefined ? '0' : /^checkpoint-(\d+)$/.exec(asked)?.[1];
  if (step === undefined)
    throw new UsageError(`--checkpoint ${asked}: on a Ray cluster a checkpoint is called checkpoint-STEP`);
  io.err(`${jobs.name} makes a model folder of the checkpoint\n`);
  const words = `${shellWord(folder)} ${Number(step)} ${mostInLog}`;
  const unanswered = (why: string) => failed(`${jobs.name} did not list its checkpoints: ${why}`);
  const question = { script: 'checkpoint.py', words, mark: '@checkpoint', unanswered } as const;
  const { answer, lines } = await askCluster(jobs, question, io.signal);
  const found = foundSchema.parse(answer);
  if ('known' in found) throw noCheckpoint(run, asked, found.known, jobs.name);
  if ('error' in found) throw failed(`verl can't make a model of ${found.name} on ${jobs.name}: ${found.error}`);
  return brought(run, found, lines, jobs.name);
}

async function brought(run: string, found: Found, lines: readonly string[], cluster: string): Promise<string> {
  const coming = join(run, runFiles.checkpoints, `.${found.name}`);
  const place = join(run, runFiles.checkpoints, found.name);
  rmSync(coming, { recursive: true, force: true });
  const sizes = Object.entries(found.files);
  const bytes = sizes.reduce((sum, [, [size]]) => sum + size, 0);
  if (bytes <= mostInLog)
    for (const line of lines) {
      const piece = pieceIn(line);
      if (piece?.path.startsWith(`${runFiles.checkpoints}/.${found.name}/`)) writePiece(run, piece);
    }
  else if (sizes.every(([path, [size]]) => isFileOf(join(found.folder, path), size)))
    for (const [path] of sizes) {
      const target = inside(coming, path);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(found.folder, path), target);
    }
  else
    throw new UsageError(
      `${found.name} has ${(bytes / 1e6).toFixed(0)} MB, but the log of a Ray job can carry only ${mostInLog / 1e6} MB: copy ${found.folder} from the cluster to ${place}, or make it visible here at the same path and fetch again`,
    );
  for (const [path, [, digest]] of sizes) {
    const file = join(coming, path);
    if (!existsSync(file) || (await digestOf(file)) !== digest)
      throw failed(`${path} of ${found.name} was damaged on the way from ${cluster}: fetch again`);
  }
  if (found.adapter) nameBase(run, coming);
  rmSync(place, { recursive: true, force: true });
  renameSync(coming, place);
  return place;
}

/** A device or a pipe has no size, and its copy no end. */
function isFileOf(path: string, size: number): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false) && sizeOf(path) === size;
}

/** verl's adapter does not say what it adapts; here that is what the run was started with. */
function nameBase(run: string, adapter: string): void {
  const file = join(adapter, 'adapter_config.json');
  const { model: base } = readJson(join(run, runFiles.launch));
  const config = {
    ...JSON.parse(readBoundedText(file, fileLimits.text)),
    ...(base ? { base_model_name_or_path: base } : {}),
  };
  replaceFile(file, `${JSON.stringify(config, null, 2)}\n`);
}

function failed(message: string): Fault {
  return environmentFault('ray/checkpoint', message);
}
