import { resolve } from 'node:path';
import { Fault } from '../../engine/shell/files/fault.ts';
import { modelNamed, tellHub } from '../checkpoints/servedModel.ts';
import { writeTrainedChat } from '../checkpoints/trainedChat.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { json, oneOf, text } from '../options/option.ts';
import { askTrainer } from '../python/askTrainer.ts';
import { interpreterOf, preparePython } from '../python/pythonEnvironment.ts';
import { UsageError } from '../terminal/io.ts';

export const exportModel: Command = defineCommand({
  name: 'export-model',
  takes: 1,
  summary: 'write a checkpoint as a complete model, with its adapter merged in',
  usage: 'CHECKPOINT --out FOLDER [options]',
  about: `
Writes the weights as safetensors, and the tokenizer, in the layout that other tools load. A LoRA checkpoint is an adapter
that needs its base model; the exported model does not. The file rehearsal-chat.json has the dialect and the thinking of
the run, with which Rehearsal serves, evaluates and trains the exported model.
`,
  options: {
    out: text('FOLDER', 'a new or an empty folder'),
    dtype: oneOf('NAME', 'float32 or bfloat16 (default: float32)', ['float32', 'bfloat16']),
    python: text('PATH', 'an existing Python to use as it is, without downloads (see `npx rehearsal help train`)'),
    json,
  },
  run: async ({ out, dtype = 'float32', python: chosen, json }, [named], io) => {
    if (named === undefined) throw new UsageError('name the checkpoint: the folder <run>/checkpoints/<name>');
    if (out === undefined) throw new UsageError('name the folder for the model: --out FOLDER');
    const model = modelNamed(named, named, io);
    const { python } = await preparePython(io, interpreterOf(chosen, io.cwd));
    tellHub(model, io);
    const folder = resolve(io.cwd, out);
    const args = ['export', '--model', model, '--out', folder, '--dtype', dtype];
    const said = await askTrainer(io, python, args, {
      refused: (message) => new Fault({ who: 'environment', code: 'model/not-exported', message }),
    });
    const { thinking } = writeTrainedChat(folder, model);
    const { bytes } = JSON.parse(said) as { readonly bytes: number };
    if (json) io.out(`${JSON.stringify({ model: folder, bytes })}\n`);
    else {
      const trained = thinking === undefined ? '' : `, trained with thinking ${thinking ? 'on' : 'off'}`;
      io.out(`${folder}: ${(bytes / 1e6).toFixed(1)} MB of weights${trained}\n`);
    }
    return 0;
  },
});
