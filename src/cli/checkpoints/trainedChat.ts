import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { dialects } from '../../engine/core/domain/dialect.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { readJson } from '../targets/runFolder.ts';

const chatSchema = z.object({
  dialect: z.enum(dialects).optional().catch(undefined),
  /** Whether the model thinks before it answers. */
  thinking: z.boolean().optional().catch(undefined),
});

/** The settings of the chat that a model was trained with. A key that is not recorded is absent. */
export type TrainedChat = z.infer<typeof chatSchema>;

/** The file in an exported model, which is not in the folder of its run. */
const exportedFile = 'rehearsal-chat.json';

/**
 * Returns the settings of the chat that a model was trained with. Those of a checkpoint are in the configuration of its
 * run, and those of an exported model in `exportedFile`.
 * @param model as `modelNamed` gives it
 */
export function trainedChat(model: string): TrainedChat {
  const checkpoints = dirname(model);
  const isCheckpoint = basename(checkpoints) === runFiles.checkpoints;
  return chatSchema.parse(
    readJson(isCheckpoint ? join(dirname(checkpoints), runFiles.config) : join(model, exportedFile)),
  );
}

/** Writes the settings of the chat that a model was trained with into the folder of the exported model, if they are known. */
export function writeTrainedChat(folder: string, model: string): TrainedChat {
  const chat = trainedChat(model);
  const text = JSON.stringify(chat);
  if (text !== '{}') writeFileSync(join(folder, exportedFile), `${text}\n`);
  return chat;
}
