import { readdir } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import * as z from 'zod';
import { trainingKinds } from '../../engine/core/domain/trainingKind.ts';
import { fileLimits, readBoundedTextAsync } from '../../engine/shell/files/boundedFile.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { valueOfLine } from '../../engine/shell/records/trainingRun.ts';
import { trainerOf } from '../../training/trainerProcess.ts';
import type { Run } from '../../webview/messages/protocol.ts';

const configSchema = z.looseObject({
  kind: z.enum(trainingKinds).nullable().catch(null),
  model: z.string().nullable().catch(null),
  domain: z
    .union([
      z.string().transform((folder) => [folder]),
      z.array(z.looseObject({ folder: z.string() }).transform(({ folder }) => folder)),
    ])
    .nullable()
    .catch(null),
  steps: z.int().positive().nullable().catch(null),
});

/**
 * Returns what `config.json` says about a run; a run that is still being prepared has none yet, and every field is
 * null.
 */
export async function readRun(folder: string): Promise<Run> {
  const id = basename(folder);
  const parsed = configSchema.safeParse(await readJson(join(folder, runFiles.config)));
  if (!parsed.success) return { id, kind: null, model: null, domain: null, plannedSteps: null };
  const { kind, model, domain, steps } = parsed.data;
  return {
    id,
    kind,
    model: model && modelName(model),
    domain: domain?.map((folder) => basename(folder)).join(', ') ?? null,
    plannedSteps: steps,
  };
}

/** The runs of a training folder, newest first; their names begin with their time. Empty for a folder without runs. */
export async function listRuns(root: string): Promise<readonly Run[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(names.sort((a, b) => b.localeCompare(a)).map((name) => readRun(join(root, name))));
}

/** Returns a short name of a model; that of a checkpoint includes its run. */
function modelName(model: string): string {
  const parts = model.split(/[\\/]/);
  const at = parts.lastIndexOf(runFiles.checkpoints);
  return at > 0 ? parts.slice(at - 1).join('/') : isAbsolute(model) ? basename(model) : model;
}

/** Whether a run's trainer is at work, here or started by another window. */
export function isRunning(folder: string): boolean {
  return trainerOf(folder)?.isRunning ?? false;
}

async function readJson(path: string): Promise<unknown> {
  return valueOfLine(await readBoundedTextAsync(path, fileLimits.text).catch(() => ''));
}
