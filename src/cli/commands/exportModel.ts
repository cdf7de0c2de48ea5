import { resolve } from 'node:path';
import { Fault } from '../../engine/shell/files/fault.ts';
import { modelNamed } from '../checkpoints/servedModel.ts';
import { type Command, text } from '../options/command.ts';
import { askTrainer } from '../python/askTrainer.ts';
import { interpreterOf, preparePython } from '../python/pythonEnvironment.ts';
import { UsageError } from '../terminal/io.ts';

export const exportModel: Command = {
  name: 'export-model',
  takes: 1,
  summary: 'write a checkpoint as a whole model, any adapter merged in',
  help: `rehearsal export-model CHECKPOINT --out FOLDER [options]

Writes weights in safetensors and the tokenizer, as other tools load them. A checkpoint of LoRA is an adapter that names
its base; what is written here needs no base.

  --out FOLDER       a new or an empty folder
  --dtype NAME       float32 or bfloat16 (default: float32)
  --python PATH      an existing Python to use as it is, without downloads (see \`npx rehearsal help train\`)
  --json             machine-readable output
`,
  options: { out: { type: 'string' }, dtype: { type: 'string' }, python: { type: 'string' } },
  run: async (given, io) => {
    const [named] = given.positionals;
    const out = text(given, 'out');
    if (named === undefined) throw new UsageError('name the checkpoint: the folder <run>/checkpoints/<name>');
    if (out === undefined) throw new UsageError('say where the model is written: --out FOLDER');
    const dtype = text(given, 'dtype') ?? 'float32';
    if (dtype !== 'float32' && dtype !== 'bfloat16')
      throw new UsageError(`--dtype is float32 or bfloat16, not "${dtype}"`);
    const model = modelNamed(named, named, io);
    const { python } = await preparePython(io, interpreterOf(text(given, 'python'), io.cwd));
    const folder = resolve(io.cwd, out);
    const args = ['export', '--model', model, '--out', folder, '--dtype', dtype];
    const said = await askTrainer(io, python, args, {
      refused: (message) => new Fault({ who: 'environment', code: 'model/not-exported', message }),
    });
    const { bytes } = JSON.parse(said) as { readonly bytes: number };
    if (given.values['json'] === true) io.out(`${JSON.stringify({ model: folder, bytes })}\n`);
    else io.out(`${folder}: ${(bytes / 1e6).toFixed(1)} MB of weights\n`);
    return 0;
  },
};
